import { rmSync } from 'node:fs';
import { CommandError } from 'market-mcp-contract/command';
import { manifestFile } from '../manifest/manifest.ts';
import { decodeText, inStyle } from '../read/file-text.ts';
import { readIfThere, resolveInside } from '../read/resolve-inside.ts';
import { withProjectLock } from './lock.ts';
import { makeChange, type ProjectChange } from './transaction.ts';

/** A planned change; null if there is nothing to do. */
export interface Plan {
  readonly change: ProjectChange | null;
}

/**
 * Plans a change while no other run can change the project, and applies it atomically, even if it is killed.
 *
 * @param plan reads the current project; if it throws, nothing is changed.
 * @throws CommandError `WRITE_FAILED` after everything was undone, and the errors of `withProjectLock`.
 */
export function changeProject<T extends Plan>(directory: string, plan: () => Promise<T>): Promise<T> {
  return withProjectLock(directory, async (staging) => {
    const planned = await plan();
    if (planned.change) writeChange(directory, staging, inStyleOfProject(directory, planned.change));
    return planned;
  });
}

/** The change with the byte order mark and line ends that the manifest of the project has, as git may have written them. */
function inStyleOfProject(directory: string, change: ProjectChange): ProjectChange {
  const manifest = change.files.get(manifestFile);
  const previous = manifest && readIfThere(directory, manifestFile);
  if (!previous) return change;
  const content = inStyle(decodeText(previous), decodeText(manifest.content));
  return { ...change, files: new Map([...change.files, [manifestFile, { ...manifest, content }]]) };
}

/** What the compiler writes for a file of a project. */
export function outputsOf(path: string): readonly string[] {
  const name = /^(.+)\.ts$/.exec(path)?.[1];
  if (name === undefined) return [];
  return [`dist/${name}.js`, `dist/${name}.js.map`];
}

function writeChange(directory: string, staging: string, change: ProjectChange): void {
  // The compiler does not delete old outputs, and the project's test script would run them.
  const compiled = change.removed.flatMap(outputsOf).map((path) => resolveInside(directory, path));
  try {
    makeChange(directory, staging, change);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code, dest, path, message: words } = error as NodeJS.ErrnoException & { readonly dest?: string };
    const message = `cannot change ${dest ?? path ?? directory} (${code ?? words})`;
    const hint = 'Nothing was changed. Fix the cause and run the command again.';
    throw new CommandError('WRITE_FAILED', message, hint, { cause: error });
  }
  for (const place of compiled) rmSync(place, { force: true });
}
