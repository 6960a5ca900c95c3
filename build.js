import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

// Builds the package: one bundle for both bins with templates and schemas compiled, the help of each, the templates in one
// file, the schema of a tool spec, and the licences of what was bundled.

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
  // Without the compiler: the templates are compiled here.
  alias: { handlebars: 'handlebars/dist/cjs/handlebars.runtime.js' },
  plugins: [
    { name: 'compiled templates', setup: compileTemplates },
    { name: 'compiled schemas', setup: compileSchemas },
    { name: 'drop unused', setup: dropUnused },
    { name: 'no processes for commander', setup: withoutProcesses },
  ],
  // CommonJS packages in the bundle ask for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

await packTemplates();

for (const name of ['create-market-mcp', 'market-mcp']) {
  const help = execFileSync(process.execPath, [`bin/${name}.js`, '--help']);
  writeFileSync(join(out, `${name}.help.txt`), help);
}

await writeSpecSchema();
writeFileSync(join(out, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));

/** Lets a module of ours go when nothing is imported from it: a list of rules drags in no rule that is not run. */
function dropUnused({ onResolve }) {
  onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => ({
    path: realpathSync(join(resolveDir, path)),
    sideEffects: false,
  }));
}

/** Commander can start programs as its subcommands. Ours are none, and what starts processes takes long to load. */
function withoutProcesses({ onResolve, onLoad }) {
  const namespace = 'nothing';
  onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
    /[\\/]commander[\\/]/.test(importer) ? { path, namespace } : undefined,
  );
  onLoad({ filter: /.*/, namespace }, () => ({ contents: '' }));
}

/** In place of the module that compiles a template when it is used. */
function compileTemplates({ onLoad }) {
  onLoad({ filter: /[\\/]render[\\/]compiled\.ts$/ }, async () => {
    const { precompile } = await load('src/render/compile.ts');
    const members = readdirSync('templates', { recursive: true })
      .filter((path) => path.endsWith('.hbs'))
      .map((path) => [path.replaceAll('\\', '/'), precompile(readFileSync(join('templates', path), 'utf8'))])
      .map(([name, code]) => `${JSON.stringify(name)}: ${code}`);
    return {
      contents: `const all = {${members.join(',\n')}};\nexport const compiled = (name) => all[name];`,
    };
  });
}

/** All but what only the checkout needs: the settings of its compiler, and the profiles, which are in the bundle. */
async function packTemplates() {
  const { pack, packFile, templatesBelow } = await load('src/project/templates.ts');
  const shipped = [...templatesBelow('templates')].filter(
    ([path]) => /^(project|tool)\//.test(path) && !path.startsWith('project/contract/platforms/'),
  );
  writeFileSync(join(out, packFile), pack(new Map(shipped)));
}

/** In place of each module that compiles a schema of ours when it is used. */
async function compileSchemas({ onLoad }) {
  const { settings } = await load('src/contract/ajv.ts');
  onLoad({ filter: /-validator\.ts$/ }, async ({ path }) => {
    const { schema } = await load(path);
    const ajv = new Ajv({
      ...settings,
      validateSchema: false,
      code: { source: true, esm: true, lines: true },
    });
    const code = standaloneCode.default(ajv, ajv.compile(schema));
    return { contents: `${code}\nexport const validator = () => validate;`, resolveDir: dirname(path) };
  });
}

async function writeSpecSchema() {
  const { specFileSchema } = await load('src/spec/tool-spec-schema.ts');
  writeFileSync(join(out, 'tool-spec.schema.json'), `${JSON.stringify(specFileSchema, null, 2)}\n`);
}

/** What a module of ours exports. */
async function load(entry) {
  const file = join(out, `${basename(entry, '.ts')}.mjs`);
  const options = { bundle: true, packages: 'external', format: 'esm', platform: 'node' };
  await build({ entryPoints: [entry], outfile: file, ...options });
  const exported = await import(new URL(file, import.meta.url).href);
  rmSync(file);
  return exported;
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
