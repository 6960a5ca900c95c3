import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import { build } from 'rolldown';
import { minify } from 'rolldown/utils';
import { licences } from './licences.js';
import { writeTypes } from './types.js';
import { inFunctions } from './wrappers.js';

const place = 'packages/runtime';

/** What only projects with an API install, and a module of the host of Workers. */
const external = ['ky', 'lru-cache', 'p-queue', 'cloudflare:node'];

/**
 * Bundles the runtime: a file for each entry of its package.json, one of what they share, and two of the packages inside it, with types
 * and licences. Node takes longer to find and read a module than to run it. Names and comments stay, so that a debugger and a stack trace
 * need neither source maps, which Node would read at each start, nor the sources.
 *
 * @returns `types`: until they are written, too
 */
export async function buildRuntime() {
  const out = join(place, 'dist');
  rmSync(out, { recursive: true, force: true });
  const { exports } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const entries = Object.values(exports)
    .flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
    .filter((file) => file.endsWith('.js'))
    .map((file) => basename(file, '.js'));
  const types = writeTypes(
    place,
    out,
    entries.map((name) => `${name}.d.ts`),
  );
  const { output } = await build({
    input: Object.fromEntries(entries.map((name) => [name, join(place, 'src', `${name}.ts`)])),
    platform: 'node',
    checks: { bundlerTimings: false },
    external,
    output: {
      dir: out,
      comments: true,
      chunkFileNames: '[name].js',
      codeSplitting: {
        groups: [
          // Whoever has no pattern loads nothing of it.
          { name: 're2js', test: /[\\/]node_modules[\\/]re2js[\\/]/, priority: 4 },
          { name: 'packages', test: /[\\/]node_modules[\\/]|^\0/, priority: 3 },
          // Whoever only reads the tools of a project loads nothing else.
          { name: 'tool', test: /[\\/]define-tool\.ts$/, priority: 2 },
          // A start that is refused loads nothing else, either.
          { name: 'configuration', test: /[\\/]runtime[\\/]src[\\/](?:config|process)\.ts$/, priority: 2 },
          { name: 'server', test: (id) => isShared(id, entries), priority: 1 },
        ],
      },
    },
  });
  for (const name of ['packages', 're2js']) await minifyPackages(join(out, `${name}.js`));
  writeFileSync(
    join(out, 'LICENSES.txt'),
    licences(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))),
  );
  return { types };
}

/** Whether a module belongs to the server; the modules of sources and metrics are loaded with an API, or with METRICS_PORT. */
function isShared(id, entries) {
  const [, path] = id.split(normalize(`${place}/src/`));
  return (
    path !== undefined &&
    !/^source[\\/]|^(?:metrics|prometheus)\.ts$/.test(path) &&
    !entries.includes(basename(path, '.ts'))
  );
}

/** Nobody reads the code of packages in a debugger. */
async function minifyPackages(file) {
  const { code } = await minify(file, inFunctions(readFileSync(file, 'utf8')), {
    mangle: { keepNames: { function: true, class: true } },
    codegen: { asciiOnly: true },
  });
  writeFileSync(file, code);
}
