import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TemplateSet } from '../../plan/model.ts';

/** The file of the package with all templates, which is read at once. */
export const packFile = 'templates.pack';

/** All templates: from one file in the package, from a directory in a checkout. */
export function readTemplates(): TemplateSet {
  const packed = join(import.meta.dirname, packFile);
  return existsSync(packed)
    ? unpack(readFileSync(packed))
    : templatesBelow(join(import.meta.dirname, '../../../templates'));
}

/** All files below a directory. */
export function templatesBelow(directory: string): TemplateSet {
  return new Map(filesBelow(directory, '.').map((path) => [path, readFileSync(join(directory, path))]));
}

/** Packs all templates into one file: a line of JSON with their names and sizes, then their contents. */
export function pack(templates: TemplateSet): Uint8Array {
  const sizes = [...templates].map(([path, { byteLength }]) => [path, byteLength]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(sizes)}\n`), ...templates.values()]);
}

/** The inverse of `pack`. */
export function unpack(packed: Uint8Array): TemplateSet {
  const first = packed.indexOf('\n'.charCodeAt(0)) + 1;
  const sizes: readonly [string, number][] = JSON.parse(new TextDecoder().decode(packed.subarray(0, first)));
  let start = first;
  return new Map(
    sizes.map(([path, size]) => {
      const content = packed.subarray(start, start + size);
      start += size;
      return [path, content];
    }),
  );
}

/** The paths of all files below a place in a directory, sorted, relative to the directory. */
export function filesBelow(directory: string, place: string): readonly string[] {
  return readdirSync(join(directory, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll('\\', '/'))
    .sort();
}
