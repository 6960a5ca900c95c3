import { readIfThere } from '../../project/inside.ts';
import { hasMarkers } from './merge-lines.ts';
import type { Pending } from './pending.ts';
import { textOf } from './text.ts';

/** The conflicts that are not resolved yet. */
export function openConflicts(
  directory: string,
  { conflicts }: Pending,
): readonly { readonly path: string; readonly text: string }[] {
  return conflicts.flatMap((path) => {
    const text = textOf(readIfThere(directory, path) ?? Buffer.alloc(0));
    if (hasMarkers(text)) return [{ path, text: 'it still contains conflict markers' }];
    return path === 'package.json' ? jsonProblems(path, text) : [];
  });
}

function jsonProblems(path: string, text: string) {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return [];
  } catch (error) {
    return [{ path, text: (error as Error).message }];
  }
}
