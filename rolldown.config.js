import { resolve } from 'node:path';
import { defineConfig } from 'rolldown';
import { checkoutFiles } from './scripts/build/checkout-files.js';
import { licences } from './scripts/build/licences.js';
import { conditionNames } from './scripts/load.js';

/** A stack trace needs the names of functions and classes. */
const minify = { compress: true, mangle: { keepNames: { function: true, class: true } } };

// Some commands load a module on demand that others import statically.
const checks = { ineffectiveDynamicImport: false };

/** The runtime keeps its lines and comments, so that a stack trace and a debugger need no source maps. */
export const runtime = defineConfig({
  input: Object.fromEntries(
    ['app', 'env', 'index', 'serve', 'serve-workerd', 'source', 'testing', 'workers'].map((name) => [
      name,
      `packages/runtime/src/${name}.ts`,
    ]),
  ),
  platform: 'node',
  // Projects whose tools call an API install the first three. The host of Workers provides the last one.
  external: ['ky', 'lru-cache', 'p-queue', 'cloudflare:node'],
  plugins: [licences()],
  output: { dir: 'packages/runtime/dist', cleanDir: true, chunkFileNames: '[name].js' },
});

/** The contract: a library and a program. */
export const contract = defineConfig({
  input: {
    index: 'packages/contract/src/index.ts',
    platforms: 'packages/contract/src/platforms/index.ts',
    program: 'packages/contract/src/program/main.ts',
  },
  platform: 'node',
  checks,
  plugins: [checkoutFiles(), licences()],
  output: { dir: 'packages/contract/dist', cleanDir: true, minify },
});

/**
 * Both programs, with the contract inside.
 *
 * @param {{ isPublished: boolean }} options whether the packages are in the registry
 */
export const programs = ({ isPublished }) =>
  defineConfig({
    input: 'src/cli/main.ts',
    platform: 'node',
    checks,
    resolve: {
      conditionNames,
      alias: { 'market-mcp-runtime/source': resolve('packages/runtime/src/source.ts') },
    },
    transform: { define: { 'process.env.MARKET_MCP_PUBLISHED': JSON.stringify(String(isPublished)) } },
    plugins: [checkoutFiles({ templates: true }), licences()],
    output: {
      dir: 'dist',
      cleanDir: true,
      // Node starts CommonJS faster than ES modules.
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      minify,
    },
  });
