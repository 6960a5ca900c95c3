import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'rolldown';
import { minify } from 'rolldown/utils';
import { load } from './scripts/load.js';

// Builds the package: both programs as one bundle with templates and schemas compiled, the help of each, the templates in
// one file, the schema of a tool spec, and the licences of what was bundled.

// `--published`: projects take the package from the registry instead of carrying it (src/plan/published.ts).
const isPublished = process.argv.includes('--published');
const out = 'dist';
rmSync(out, { recursive: true, force: true });
mkdirSync(out);

const { precompile } = await load('src/render/compile.ts');
const { settings } = await load('src/contract/ajv.ts');

// Names of functions and classes stay: a stack trace says where an error came from.
const keepNames = { function: true, class: true };

/** @type {import('rolldown').OutputOptions} */
const written = {
  dir: out,
  // Node loads CommonJS with less work than ES modules, which also make it load every part of the modules of its own.
  format: 'cjs',
  strict: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  comments: false,
  // In ASCII alone V8 keeps one byte a character and not two.
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
  // A module of ours goes when nothing is imported from it: a list of rules drags in no rule that is not run.
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
    // What every run needs, and what is needed to write a project: loading many small files takes long.
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

/** In place of the module that compiles a template when it is used. */
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

/** In place of each module that compiles a schema of ours when it is used. */
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

/** The text of a file in the place of each read in an `assets.ts`. */
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

/** Commander can start programs as its subcommands. Ours are none, and what starts processes takes long to load. */
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

/** In place of the constant that says whether the package can be had. */
function publication() {
  return {
    name: 'publication',
    load(id) {
      if (/[\\/]plan[\\/]published\.ts$/.test(id)) return `export const isPublished = ${isPublished};`;
    },
  };
}

/** A file of its own for what makes values up, loaded when it is first called: few schemas need it. */
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

/** Short names inside what others have written: less to read for Node. */
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
 * What a module of CommonJS is wrapped in, all of which is run as soon as it is loaded, as a function. V8 reads a
 * `(function` whole at once; of an arrow function it looks for the end first, and reads all in it a second time.
 */
function functionWrappers() {
  const wrapper = /(?<=\brequire_rolldown_runtime\.\w+\(\()\((?<names>[\w$, ]*)\) => \{/g;
  return {
    name: 'function wrappers',
    renderChunk: (code) => code.replaceAll(wrapper, 'function($<names>) {'),
  };
}

/** All but what only the checkout needs: the settings of its compiler. */
async function packTemplates() {
  const { pack, packFile, templatesBelow } = await load('src/project/templates.ts');
  const shipped = [...templatesBelow('templates')].filter(([path]) => /^(project|source|tool)\//.test(path));
  writeFileSync(join(out, packFile), pack(new Map(shipped)));
}

/** The package as projects carry it, last: it holds all that was built. */
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
