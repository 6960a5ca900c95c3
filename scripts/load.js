import { mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';

/** The conditions under which modules are resolved: the contract by its source. */
export const conditionNames = ['market-mcp-source', 'import', 'node', 'default'];

/**
 * Imports a TypeScript module: bundles it, imports the bundle and deletes it. Packages come from this checkout.
 *
 * @param {string} input path of the module
 * @returns {Promise<any>}
 */
export async function load(input) {
  const directory = mkdtempSync(join(import.meta.dirname, '../node_modules/.load-'));
  try {
    const file = join(directory, `${basename(input, '.ts')}.mjs`);
    await bundle(input, file);
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Bundles a TypeScript module and its imports from this checkout into one file.
 *
 * @param {string} input
 * @param {string} file
 */
export async function bundle(input, file) {
  const external = (/** @type {string} */ id) =>
    /^[@\w]/.test(id) && !isAbsolute(id) && !id.startsWith('market-mcp-contract');
  await build({
    input,
    platform: 'node',
    resolve: { conditionNames },
    external,
    plugins: [sourceDirectories],
    output: { file, codeSplitting: false },
  });
}

/** Modules read the files beside their source, not beside the bundle. */
const sourceDirectories = {
  name: 'source directories',
  transform: {
    filter: { code: 'import.meta.dirname' },
    /**
     * @param {string} code
     * @param {string} id
     */
    handler: (code, id) => code.replaceAll('import.meta.dirname', JSON.stringify(dirname(id))),
  },
};
