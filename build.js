import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gunzipSync } from 'node:zlib';
import { execa } from 'execa';
import { build } from 'rolldown';
import { pastDoors } from './scripts/build/doors.js';
import * as files from './scripts/build/files.js';
import { licences } from './scripts/build/licences.js';
import { buildRuntime } from './scripts/build/runtime.js';
import {
  checks,
  commanderWithoutProcesses,
  readExplanations,
  small,
  smallDependencies,
} from './scripts/build/shared.js';
import { briefSchemas, compiledDefaults, compiledSchemas } from './scripts/build/validators.js';
import { functionWrappers } from './scripts/build/wrappers.js';
import { conditionNames, load } from './scripts/load.js';

// Builds the runtime, and the package of the programs: both programs as one bundle with compiled templates and schemas, the help of each, all templates in
// one file, the schema of a tool spec, and the licences of the bundled packages.

// `--published`: what a release consists of. Projects install the package from the registry instead of containing it (src/plan/published.ts).
const isPublished = process.argv.includes('--published');
const out = 'dist';
rmSync(out, { recursive: true, force: true });
mkdirSync(out);

const { types } = await buildRuntime();
const { precompile } = await load('src/render/compiled.ts');
const { lockedPackages } = await load('src/project/package/locked.ts');
const { archivedVersions } = await load('src/project/package/releases.ts');

// Files for code that many runs do not need, loaded on first use.
const generatorFile = './generator.cjs';
const compilerFile = './compiler.cjs';
const filesFile = './files.cjs';
const parserFile = './parser.cjs';
const senderFile = './sender.cjs';
const demandedFiles = [generatorFile, compilerFile, filesFile, parserFile, senderFile];

/** @type {import('rolldown').OutputOptions} */
const written = {
  dir: out,
  // Node loads CommonJS with less work than ES modules, which also load Node's own modules completely.
  format: 'cjs',
  strict: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  ...small,
};

const programs = build({
  input: 'src/cli/main.ts',
  platform: 'node',
  checks,
  // Without the compiler: the templates are compiled here.
  resolve: {
    conditionNames,
    alias: {
      handlebars: join(import.meta.dirname, 'node_modules/handlebars/dist/cjs/handlebars.runtime.js'),
    },
  },
  // A module of ours is removed if nothing is imported from it: a list of rules does not pull in unused rules.
  treeshake: { moduleSideEffects: (id) => (id.includes('node_modules') ? undefined : false) },
  plugins: [
    pastDoors(),
    compiledTemplates(),
    readExplanations(),
    readLock(),
    briefSchemas(compilerFile),
    compiledDefaults(),
    onDemand(),
    inlinedFiles(),
    commanderWithoutProcesses(),
    publication(),
    smallDependencies(),
    functionWrappers(),
  ],
  output: {
    ...written,
    // One file for every run, one for writing a project, one for a check, and one for adding a tool: loading many small files takes long.
    // `unrecorded.ts` has a text that a change of tools needs, too, which would otherwise load the file for a check.
    codeSplitting: {
      groups: [
        { name: 'start', tags: ['$initial'], priority: 3 },
        {
          name: 'core',
          test: /[\\/](?:cli[\\/](?:program|create[\\/]command)|wire[\\/]unrecorded)\.ts$/,
          priority: 2,
        },
        { name: 'check', test: /packages[\\/]contract[\\/]src[\\/]program[\\/]check\.ts$/, priority: 1 },
        { name: 'addition', test: /[\\/]add-tool[\\/]command\.ts$/, priority: 0 },
      ],
    },
  },
});
const onDemandFiles = build({
  input: {
    generator: 'json-schema-faker',
    compiler: 'scripts/build/compiler.js',
    files: 'scripts/build/files.js',
    parser: '@babel/parser',
    sender: 'scripts/build/sender.js',
  },
  platform: 'node',
  checks,
  // graceful-fs patches fs.close and process.cwd for programs with thousands of open files.
  resolve: { conditionNames, alias: { 'graceful-fs': 'node:fs' } },
  treeshake: { moduleSideEffects: (id) => (/[\\/]packages[\\/]runtime[\\/]/.test(id) ? false : undefined) },
  plugins: [synchronousFiles(), onlyTypeScript(), compiledSchemas(), smallDependencies(), functionWrappers()],
  output: written,
});
await packTemplates();
await types;
const { packPackage, packRuntime, packedDirectory, smallRuntime } = await load('src/project/package/pack.ts');
const runtime = packRuntime('.');
// In a thread of its own.
const smallForm = promisify(brotliCompress)(gunzipSync(runtime.content));
const [program, demanded] = await Promise.all([programs, onDemandFiles]);
// The earlier versions whose projects can be upgraded.
cpSync('releases', join(out, 'releases'), { recursive: true });

await Promise.all(
  ['create-market-mcp', 'market-mcp'].map(async (name) => {
    const { stdout } = await execa(process.execPath, [`bin/${name}.js`, '--help']);
    writeFileSync(join(out, `${name}.help.txt`), `${stdout}\n`);
  }),
);

await writeSpecSchema();
writeFileSync(
  join(out, 'LICENSES.txt'),
  licences([...program.output, ...demanded.output].flatMap(({ moduleIds = [] }) => moduleIds)),
);
// Published, projects contain neither, and the contract is released, too.
if (isPublished) await import('./scripts/build/contract.js');
else await packForProjects();

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
        .map(([name, code]) => `${JSON.stringify(name)}: ${shortened(code)}`);
      return `const all = {${members.join(',\n')}};\nexport const compiled = (name) => all[name];`;
    },
  };
}

/** The code of a template without source positions, and without a fallback that our engine does not need. */
function shortened(code) {
  const place = '\\{"start":\\{[^}]*\\},"end":\\{[^}]*\\}\\}';
  return code
    .replaceAll(new RegExp(`,"loc":${place}|, ?${place} ?(?=\\))`, 'g'), '')
    .replaceAll(
      /(lookupProperty = container\.lookupProperty) \|\| function[^{]*\{(?:[^{}]|\{[^{}]*\})*\}/g,
      '$1',
    );
}

/** Replaces the module that reads our package-lock.json. */
function readLock() {
  return {
    name: 'lock',
    load(id) {
      if (/[\\/]package[\\/]locked\.ts$/.test(id))
        return `export const lockedPackages = ${JSON.stringify(lockedPackages)};`;
    },
  };
}

/** Replaces each file read in an `assets.ts` by the file's text; of the changelog, what is later than the earliest version that can be upgraded. */
function inlinedFiles() {
  const [earliest] = archivedVersions();
  const read = /readFileSync\(\s*join\(import\.meta\.dirname, '([^']+)'\),\s*'utf8',?\s*\)/g;
  return {
    name: 'inlined files',
    load(id) {
      if (basename(id) !== 'assets.ts') return;
      const textOf = (_read, file) =>
        JSON.stringify(readFileSync(join(dirname(id), file), 'utf8').split(`\n## ${earliest}\n`)[0]);
      return readFileSync(id, 'utf8')
        .replaceAll(/^import .*$/gm, '')
        .replaceAll(read, textOf);
    },
  };
}

/** Replaces the module of fs-extra that makes promise forms of all functions of fs: only synchronous functions are used, and it loads fs/promises. */
function synchronousFiles() {
  return {
    name: 'synchronous files',
    resolveId(source, importer) {
      if (source === '../fs' && /[\\/]fs-extra[\\/]/.test(importer ?? ''))
        return { id: 'node:fs', external: true };
    },
  };
}

/** Removes what @babel/parser has for Flow, JSX and other languages. */
function onlyTypeScript() {
  return {
    name: 'only TypeScript',
    transform: {
      filter: { id: /[\\/]@babel[\\/]parser[\\/]/ },
      handler: (code) => code.replace(/(?<=\bmixinPlugins = )\{[^}]*\}/, '{ typescript }'),
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

/** Replaces the packages that generate values, compile schemas and parse TypeScript by functions that load them on first use. */
function onDemand() {
  const stubs = [
    [
      /[\\/]fs-extra[\\/]lib[\\/]esm\.mjs$/,
      Object.keys(files)
        .map((name) => `export ${stub(name, filesFile)}`)
        .join('\n'),
    ],
    [
      /[\\/]@babel[\\/]parser[\\/]/,
      ['parse', 'parseExpression'].map((name) => `export ${stub(name, parserFile)}`).join('\n'),
    ],
    [
      /[\\/]runtime[\\/]dist[\\/]source\.js$/,
      `const all = require('${senderFile}');\nexport const { basic, Secret, SourceError, sendOnce } = all;`,
    ],
    [/[\\/]json-schema-faker[\\/]/, `export ${stub('generateSync', generatorFile)}`],
    [
      /[\\/]ajv[\\/]dist[\\/]ajv\.js$/,
      `export function Ajv(options) { return new (require('${compilerFile}').Ajv)(options); }\nexport default Ajv;`,
    ],
    [/[\\/]ajv-formats[\\/]dist[\\/]index\.js$/, `export default ${stub('addFormats', compilerFile)}`],
  ];
  return {
    name: 'on demand',
    resolveId(source) {
      if (demandedFiles.includes(source)) return { id: source, external: true };
    },
    load(id) {
      return stubs.find(([path]) => path.test(id))?.[1];
    },
  };
}

function stub(name, file) {
  return `function ${name}(...given) { return require('${file}').${name}(...given); }`;
}

/** Packs all templates except the compiler settings of the checkout. The text of a compiled template is left out. */
async function packTemplates() {
  const { pack, packFile, templatesBelow } = await load('src/project/package/templates.ts');
  const shipped = [...templatesBelow('templates')]
    .filter(([path]) => /^(project|source|tool)\//.test(path))
    .map(([path, content]) => [path, path.endsWith('.hbs') ? new Uint8Array() : content]);
  writeFileSync(join(out, packFile), pack(new Map(shipped)));
}

/** Packs the runtime and this package for projects; the last step, because this package includes all other outputs. */
async function packForProjects() {
  mkdirSync(packedDirectory);
  writeFileSync(smallRuntime, await smallForm);
  for (const { name, content } of [runtime, packPackage('.')])
    writeFileSync(join(packedDirectory, name), content);
}

async function writeSpecSchema() {
  const { specFileSchema } = await load('src/tools/tool-spec-schema.ts');
  writeFileSync(join(out, 'tool-spec.schema.json'), `${JSON.stringify(specFileSchema, null, 2)}\n`);
}
