import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TemplateSet } from '../../plan/planned-file.ts';

/** All templates: the package has them compiled beside its code, a checkout at its root. */
export function readTemplates(): TemplateSet {
  const packed = join(import.meta.dirname, 'templates');
  return templatesBelow(existsSync(packed) ? packed : join(import.meta.dirname, '../../../templates'));
}

/** All files below a directory. */
export function templatesBelow(directory: string): TemplateSet {
  return new Map(filesBelow(directory, '.').map((path) => [path, readFileSync(join(directory, path))]));
}

/** The paths of all files below a place in a directory, sorted, relative to the directory. */
export function filesBelow(directory: string, place: string): readonly string[] {
  return readdirSync(join(directory, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll('\\', '/'))
    .sort();
}
