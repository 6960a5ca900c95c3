import type { Ownership } from '../../plan/model.ts';
import { toolsIndex } from '../../plan/tools-index.ts';
import { type Manifest, readJson, validManifest } from './manifest.ts';

/**
 * The manifest of a project of any version, also of one before 0.3.0, which contains the runtime. That of 0.1 is given in the
 * format of 0.2.
 *
 * @throws ProjectError `MANIFEST_DAMAGED`
 */
export function readAnyManifest(directory: string): Manifest {
  const value = readJson(directory) as Partial<Omit<Manifest, 'schema'>> & { readonly schema?: unknown };
  if (value?.schema !== 1 && value?.schema !== 2) return validManifest(value);
  const files = Object.entries(value.files ?? {}).map(([path, file]) => {
    return [path, value.schema === 1 ? { ...file, owner: firstOwnerOf(path, file?.owner) } : file];
  });
  return { ...validManifest({ ...value, schema: 3, files: Object.fromEntries(files) }), schema: 2 };
}

/** Version 0.1 had the owners `generated` and `shared`, and the runtime was `shared`. */
function firstOwnerOf(path: string, owner: string | undefined): Ownership {
  if (path === toolsIndex || owner === 'generated') return 'generated';
  return /^(contract|self-check|local|src)\/(?!tools\/)/.test(path) ? 'sealed' : 'yours';
}
