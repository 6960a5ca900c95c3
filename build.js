import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'rolldown';
import { minify } from 'rolldown/utils';
import { load } from './scripts/load.js';

// Builds the package: both programs as one bundle with compiled templates and schemas, the help of each, all templates in
// one file, the schema of a tool spec, and the licences of the bundled packages.

// `--published`: projects install the package from the registry instead of containing it (src/plan/published.ts).
const isPublished = process.argv.includes('--published');
const out = 'dist';
rmSync(out, { recursive: true, force: true });
mkdirSync(out);

const { precompile } = await load('src/render/compile.ts');
const { settings } = await load('src/contract/ajv.ts');

// Keeps the names of functions and classes: a stack trace needs them.
const keepNames = { function: true, class: true };

/** @type {import('rolldown').OutputOptions} */
const written = {
  dir: out,
  // Node loads CommonJS with less work than ES modules, which also load Node's own modules completely.
  format: 'cjs',
  strict: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  comments: false,
  // V8 stores ASCII-only source with one byte per character instead of two.
  minify: { compress: true, mangle: { keepNames }, codegen: { asciiOnly: true } },
};

const program = await build({
  input: 'src/cli/main.ts',
  platform: 'node',
  // Without the compiler: the templates are compiled here.
  resolve: {
    alias: {
      handlebars: join(import.meta.dirname, 'node_modules/handlebars/dist/cjs/handlebars.runtime.js'),
    },
  },
  // A module of ours is removed if nothing is imported from it: a list of rules does not pull in unused rules.
  treeshake: { moduleSideEffects: (id) => (id.includes('node_modules') ? undefined : false) },
  plugins: [
    compiledTemplates(),
    compiledSchemas(),
    inlinedFiles(),
    commanderWithoutProcesses(),
    generatorOnDemand(),
    publication(),
    smallDependencies(),
    functionWrappers(),
  ],
  output: {
    ...written,
    // One file for every run, and one for writing a project: loading many small files takes long.
    codeSplitting: {
      groups: [
        { name: 'start', tags: ['$initial'], priority: 1 },
        { name: 'core', test: /[\\/]cli[\\/](program|commands[\\/]create)\.ts$/ },
      ],
    },
  },
});
const generator = await build({
  input: { generator: 'json-schema-faker' },
  platform: 'node',
  plugins: [smallDependencies()],
  output: written,
});
await packTemplates();
// The earlier versions whose projects can be upgraded.
cpSync('releases', join(out, 'releases'), { recursive: true });

for (const name of ['create-market-mcp', 'market-mcp']) {
  const help = execFileSync(process.execPath, [`bin/${name}.js`, '--help']);
  writeFileSync(join(out, `${name}.help.txt`), help);
}

await writeSpecSchema();
writeFileSync(
  join(out, 'LICENSES.txt'),
  licences([...program.output, ...generator.output].flatMap(({ moduleIds = [] }) => moduleIds)),
);
if (!isPublished) await packForProjects();

/** Replaces the module that compiles templates at run time. */
function compiledTemplates() {
  return {
    name: 'compiled templates',
    load(id) {
      if (!/[\\/]render[\\/]compiled\.ts$/.test(id)) return;
      const members = readdirSync('templates', { recursive: true })
        .filter((path) => path.endsWith('.hbs'))
        .map((path) => [
          path.replaceAll('\\', '/'),
          precompile(readFileSync(join('templates', path), 'utf8')),
        ])
        .map(([name, code]) => `${JSON.stringify(name)}: ${code}`);
      return `const all = {${members.join(',\n')}};\nexport const compiled = (name) => all[name];`;
    },
  };
}

/** Replaces each module that compiles one of our schemas at run time. */
function compiledSchemas() {
  return {
    name: 'compiled schemas',
    async load(id) {
      if (!id.endsWith('-validator.ts')) return;
      const { schema } = await load(id);
      const ajv = new Ajv({
        ...settings,
        validateSchema: false,
        code: { source: true, esm: true, lines: true },
      });
      const code = standaloneCode.default(ajv, ajv.compile(schema));
      return `${code}\nexport const validator = () => validate;`;
    },
  };
}

/** Replaces each file read in an `assets.ts` by the file's text. */
function inlinedFiles() {
  const read = /readFileSync\(join\(import\.meta\.dirname, '([^']+)'\), 'utf8'\)/g;
  return {
    name: 'inlined files',
    load(id) {
      if (basename(id) !== 'assets.ts') return;
      const textOf = (_read, file) => JSON.stringify(readFileSync(join(dirname(id), file), 'utf8'));
      return readFileSync(id, 'utf8')
        .replaceAll(/^import .*$/gm, '')
        .replaceAll(read, textOf);
    },
  };
}

/** Commander can start programs as subcommands. Ours are not programs, and loading the code that starts processes takes long. */
function commanderWithoutProcesses() {
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

/** Replaces the constant `isPublished`. */
function publication() {
  return {
    name: 'publication',
    load(id) {
      if (/[\\/]plan[\\/]published\.ts$/.test(id)) return `export const isPublished = ${isPublished};`;
    },
  };
}

/** Puts the generator of sample values into a separate file that is loaded on first use: few schemas need it. */
function generatorOnDemand() {
  const file = './generator.cjs';
  return {
    name: 'generator on demand',
    resolveId(source) {
      if (source === file) return { id: file, external: true };
    },
    load(id) {
      if (!/[\\/]json-schema-faker[\\/]/.test(id)) return;
      return `export const generateSync = (...given) => require('${file}').generateSync(...given);`;
    },
  };
}

/** Shortens names inside third-party code, so that Node reads less. */
function smallDependencies() {
  return {
    name: 'small dependencies',
    transform: {
      filter: { id: /[\\/]node_modules[\\/].*\.[cm]?js$/ },
      handler: async (code, id) => (await minify(id, code, { compress: false, mangle: true })).code,
    },
  };
}

/**
 * Wraps CommonJS modules that run at once in functions. V8 parses a
 * `(function` in one pass; for an arrow function it first looks for the end, and parses the body a second time.
 */
function functionWrappers() {
  const wrapper = /(?<=\brequire_rolldown_runtime\.\w+\(\()\((?<names>[\w$, ]*)\) => \{/g;
  return {
    name: 'function wrappers',
    renderChunk: (code) => code.replaceAll(wrapper, 'function($<names>) {'),
  };
}

/** Packs all templates except the compiler settings of the checkout. */
async function packTemplates() {
  const { pack, packFile, templatesBelow } = await load('src/project/templates.ts');
  const shipped = [...templatesBelow('templates')].filter(([path]) => /^(project|source|tool)\//.test(path));
  writeFileSync(join(out, packFile), pack(new Map(shipped)));
}

/** Packs the package for projects; the last step, because it includes all other outputs. */
async function packForProjects() {
  const { packPackage, packedDirectory } = await load('src/project/pack.ts');
  const { name, content } = packPackage('.');
  mkdirSync(packedDirectory);
  writeFileSync(join(packedDirectory, name), content);
}

async function writeSpecSchema() {
  const { specFileSchema } = await load('src/tools/tool-spec-schema.ts');
  writeFileSync(join(out, 'tool-spec.schema.json'), `${JSON.stringify(specFileSchema, null, 2)}\n`);
}

function licences(inputs) {
  const found = inputs.flatMap((path) => {
    const [, directory, name] = /^(.*?node_modules\/((?:@[^/]+\/)?[^/]+))/.exec(path) ?? [];
    return name === undefined ? [] : [[name, directory]];
  });
  return [...new Map(found)].sort().map(licenceOf).join('\n');
}

function licenceOf([name, directory]) {
  const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(directory, file), 'utf8').trim() : license;
  return `${name} ${version} (${license})\n\n${text}\n`;
}
