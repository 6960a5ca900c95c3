import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { bytesOf, textOf } from '../project/read/text.ts';
import { withoutGitVariables } from './git.ts';
import { run } from './processes.ts';

/** A merged text and its conflicts. */
export interface Merged {
  readonly text: string;
  /** The lines of the opening markers, 1-based. Empty if there are no conflicts. */
  readonly conflicts: readonly number[];
}

/**
 * Three-way merge of texts (`textOf`) by `git merge-file`, in a directory of its own: git reads no repository, so none of its
 * attributes, drivers and filters. Conflicting changes are put between git's markers.
 *
 * @param label names `theirs` after the closing marker
 * @throws CommandError `GIT_FAILED`, also if git is not installed
 */
export async function mergeTexts(base: string, ours: string, theirs: string, label: string): Promise<Merged> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'market-mcp-merge-')));
  try {
    for (const [name, text] of Object.entries({ base, ours, theirs }))
      writeFileSync(join(place, name), bytesOf(text));
    const labels = ['yours', 'base', label].flatMap((name) => ['-L', name]);
    const files = ['ours', 'base', 'theirs'];
    const { exitCode, missing, lastLines } = await run(
      'git',
      ['-c', 'merge.conflictStyle=merge', 'merge-file', ...labels, ...files],
      {
        cwd: place,
        env: { ...withoutGitVariables(), GIT_CEILING_DIRECTORIES: dirname(place) },
      },
    );
    // The exit code is the number of conflicts; an error has a greater one.
    if (exitCode === undefined || exitCode >= 128) {
      const message = missing ? 'git is not installed' : 'git merge-file failed';
      throw new CommandError('GIT_FAILED', message, 'Nothing was changed.', lastLines);
    }
    const text = textOf(readFileSync(join(place, 'ours')));
    const lines = text.split('\n').entries();
    return { text, conflicts: exitCode === 0 ? [] : [...lines].flatMap(lineOfConflict) };
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Whether a text contains a marker of `mergeTexts`, with a label of this program. */
export function hasMarkers(text: string): boolean {
  return /^(?:<<<<<<< yours|>>>>>>> create-market-mcp-\S+)\r?$/m.test(text);
}

function lineOfConflict([at, line]: readonly [number, string]): readonly number[] {
  return line === '<<<<<<< yours' ? [at + 1] : [];
}
