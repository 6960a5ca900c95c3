import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TemplateSet } from '../plan/model.ts';

/**
 * Reads everything the package ships for rendering, keyed by path below `templates/`, `/` between parts. Symbolic links
 * are followed: in the checkout `project/contract` is one to `src/contract`.
 */
export function readTemplates(directory: string = templatesDirectory()): TemplateSet {
  return new Map(filesBelow(directory, '').map((path) => [path, readFileSync(join(directory, path))]));
}

/** Beside the bundle in the package, at the root in the checkout. */
function templatesDirectory(): string {
  const packaged = join(import.meta.dirname, 'templates');
  return existsSync(packaged) ? packaged : join(import.meta.dirname, '../../templates');
}

function filesBelow(directory: string, prefix: string): string[] {
  return readdirSync(join(directory, prefix))
    .sort()
    .flatMap((name) => {
      const path = prefix === '' ? name : `${prefix}/${name}`;
      return statSync(join(directory, path)).isDirectory() ? filesBelow(directory, path) : [path];
    });
}
