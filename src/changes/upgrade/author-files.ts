import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../project/read.ts';
import { textOf } from './text.ts';

/** What an author writes code in. */
const sourceEnding = /\.[cm]?[jt]sx?$/;

/** What no author writes into. */
const notSources = /^(node_modules|dist|vendor|\..*)$/;

/** A file beyond this many bytes was not written by a person. */
const largest = 1_000_000;

/** The source files of a project that are none of ours: path → text. */
export function authorFiles(
  directory: string,
  isOurs: (path: string) => boolean,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const path of sourcesBelow(directory, '')) {
    if (!isOurs(path)) files.set(path, textOf(readRegular(join(directory, path))));
  }
  return files;
}

/** Links are not followed. */
function sourcesBelow(directory: string, prefix: string): readonly string[] {
  return readdirSync(join(directory, prefix), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) return notSources.test(entry.name) ? [] : sourcesBelow(directory, path);
      const isSource = entry.isFile() && sourceEnding.test(entry.name);
      return isSource && statSync(join(directory, path)).size <= largest ? [path] : [];
    });
}
