import { minify } from 'rolldown/utils';
import { load } from '../load.js';

// What the bundles of the programs and that of the contract have in common.

// A module that one command loads on demand may be part of what another needs at once, and a busy machine builds slowly.
export const checks = { ineffectiveDynamicImport: false, bundlerTimings: false };

/** @type {import('rolldown').OutputOptions} */
export const small = {
  comments: false,
  minify: {
    compress: true,
    // A stack trace needs the names of functions and classes.
    mangle: { keepNames: { function: true, class: true } },
    // V8 stores ASCII-only source with one byte per character instead of two.
    codegen: { asciiOnly: true },
  },
};

const { explanations } = await load('packages/contract/src/rules/explanations.ts');

/** Replaces the module that reads the explanations of the rules. */
export function readExplanations() {
  return {
    name: 'explanations',
    load(id) {
      if (/[\\/]rules[\\/]explanations\.ts$/.test(id))
        return `export const explanations = ${JSON.stringify(explanations)};`;
    },
  };
}

/** Commander can start programs as subcommands. Ours are not programs, and loading the code that starts processes takes long. */
export function commanderWithoutProcesses() {
  const nothing = '\0nothing';
  return {
    name: 'commander without processes',
    resolveId(source, importer) {
      if (source === 'node:child_process' && /[\\/]commander[\\/]/.test(importer ?? '')) return nothing;
    },
    load(id) {
      if (id === nothing) return 'export default {};';
    },
  };
}

/** Shortens names inside third-party code, so that Node reads less. */
export function smallDependencies() {
  return {
    name: 'small dependencies',
    transform: {
      filter: { id: /[\\/]node_modules[\\/].*\.[cm]?js$/ },
      handler: async (code, id) => (await minify(id, code, { compress: false, mangle: true })).code,
    },
  };
}
