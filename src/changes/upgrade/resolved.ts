import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../project/read.ts';
import { hasMarkers } from './merge-lines.ts';
import type { Pending } from './pending.ts';
import { textOf } from './text.ts';

/** The conflicts that are not resolved yet. */
export function openConflicts(
  directory: string,
  { conflicts }: Pending,
): readonly { readonly path: string; readonly text: string }[] {
  return conflicts.flatMap((path) => {
    const place = join(directory, path);
    const text = existsSync(place) ? textOf(readRegular(place)) : '';
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
