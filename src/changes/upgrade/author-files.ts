import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeText } from '../../project/read/file-text.ts';
import { readIn } from '../../project/read/resolve-inside.ts';
import { moduleReferences } from '../../typescript/imports.ts';

/** Extensions of source files. */
const sourceEnding = /\.[cm]?[jt]sx?$/;

/** Directories without the author's sources. */
const notSources = /^(node_modules|dist|vendor|\..*)$/;

/** Bytes. A larger file is not hand-written. */
const largest = 1_000_000;

/** The author's source files in a project: path → text. */
export function authorFiles(
  directory: string,
  isOurs: (path: string) => boolean,
): ReadonlyMap<string, string> {
  const paths = sourcesBelow(directory, '').filter((path) => !isOurs(path));
  return new Map(paths.map((path) => [path, decodeText(readIn(directory, path))]));
}

/** The paths of the author's source files below a directory of a project, sorted; no link is followed. */
export function sourcesBelow(directory: string, prefix: string): readonly string[] {
  return readdirSync(join(directory, prefix), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) return notSources.test(entry.name) ? [] : sourcesBelow(directory, path);
      const isSource = entry.isFile() && sourceEnding.test(entry.name);
      if (isSource && statSync(join(directory, path)).size <= largest) return [path];
      return [];
    });
}

/** The packages that a file imports: `ajv`, `@scope/name`. */
export function importedPackages(text: string): readonly string[] {
  return moduleReferences(text).flatMap(
    ({ specifier }) => /^(?![./]|node:)(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? [],
  );
}
