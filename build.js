import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

// Builds the package: one bundle for both bins, the help of each, the templates, the schema of a tool spec, and the
// licences of what was bundled.

const out = 'dist';
rmSync(out, { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: ['src/cli/create-market-mcp.ts', 'src/cli/market-mcp.ts'],
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  chunkNames: 'chunk-[hash]',
  // Small, and yet a stack trace names functions and short lines.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'none',
  metafile: true,
  // Handlebars' entry for Node looks for templates on disk through hooks that an ES module lacks.
  alias: { handlebars: 'handlebars/dist/cjs/handlebars.js' },
  plugins: [
    { name: 'drop unused', setup: dropUnused },
    { name: 'no source maps', setup: dropSourceMap },
  ],
  // CommonJS packages in the bundle ask for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

const templates = join(out, 'templates');
for (const part of ['project', 'tool']) {
  cpSync(join('templates', part), join(templates, part), { recursive: true, dereference: true });
}
rmSync(join(templates, 'project/contract/platforms'), { recursive: true });

for (const name of ['create-market-mcp', 'market-mcp']) {
  const help = execFileSync(process.execPath, [`bin/${name}.js`, '--help']);
  writeFileSync(join(out, `${name}.help.txt`), help);
}

await writeSpecSchema();
writeFileSync(join(out, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));

/** Lets a module of ours go when nothing is imported from it: a list of rules drags in no rule that is not run. */
function dropUnused({ onResolve }) {
  onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => ({
    path: join(resolveDir, path),
    sideEffects: false,
  }));
}

/** Handlebars has its own way of joining code for when it finds no `source-map`, and needs no other. */
function dropSourceMap({ onResolve, onLoad }) {
  onResolve({ filter: /^source-map$/ }, () => ({ path: 'source-map', namespace: 'empty' }));
  onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '' }));
}

async function writeSpecSchema() {
  const file = join(out, 'spec-schema.mjs');
  await build({
    entryPoints: ['src/spec/tool-spec-schema.ts'],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
  const { specFileSchema } = await import(new URL(file, import.meta.url).href);
  rmSync(file);
  writeFileSync(join(out, 'tool-spec.schema.json'), `${JSON.stringify(specFileSchema, null, 2)}\n`);
}

function licences(inputs) {
  const names = new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
  return [...names].sort().map(licenceOf).join('\n');
}

function licenceOf(name) {
  const directory = join('node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(directory, file), 'utf8').trim() : license;
  return `${name} ${version} (${license})\n\n${text}\n`;
}
