import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { load } from './load.js';

// `node scripts/archive-release.js <commit> [directory]`: writes <directory>/<version>.br, in `releases` unless there is another
// directory, from which `market-mcp upgrade` knows what that version wrote into projects (docs/upgrade.md). It contains the templates of the files that belong to no tool (templates with
// answers are compiled) and the facts that they were rendered with.

const [commit, directory = 'releases'] = process.argv.slice(2);
if (!commit) throw new Error('usage: node scripts/archive-release.js <commit> [directory]');

const { precompile } = await load('src/render/compiled.ts');
const { pack } = await load('src/project/package/releases.ts');

const checkout = mkdtempSync(join(tmpdir(), 'archive-release-'));
try {
  // Before 0.4.0, the contract was a folder of src.
  const packages = execFileSync('git', ['ls-tree', '--name-only', commit, 'packages'], {
    encoding: 'utf8',
  }).trim();
  const paths = ['package.json', 'tsconfig.json', 'src', 'templates', ...(packages === '' ? [] : [packages])];
  const tar = execFileSync('git', ['archive', commit, ...paths], { maxBuffer: 2 ** 28 });
  execFileSync('tar', ['x', '-C', checkout], { input: tar });
  if (packages !== '') {
    mkdirSync(join(checkout, 'node_modules'));
    symlinkSync('../packages/contract', join(checkout, 'node_modules/market-mcp-contract'));
  }
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const entries = [...facts(version, await oldModules()), ...templates()];
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const archive = brotliCompressSync(pack(new Map(entries)), { params });
  const file = join(directory, `${version}.br`);
  writeFileSync(file, archive);
  console.log(`${file}: ${entries.length} entries, ${archive.byteLength} bytes`);
} finally {
  rmSync(checkout, { recursive: true });
}

async function oldModules() {
  const names = [
    'src/plan/package-versions.ts',
    'src/plan/package-manager-commands.ts',
    ['src/contract/platforms/index.ts', 'packages/contract/src/platforms/all.ts'],
    'src/project/source/sources.ts',
  ];
  const paths = names.map((name) =>
    [name]
      .flat()
      .map((path) => join(checkout, path))
      .find(existsSync),
  );
  const loaded = await Promise.all(paths.map((path) => load(path)));
  return Object.assign({}, ...loaded);
}

function facts(version, old) {
  const { devDependencies, redisDependencies, packageManagerCommands, platforms } = old;
  const sources = JSON.parse(old.withSourceDependencies('{}'));
  const facts = { version, devDependencies, redisDependencies, packageManagerCommands, sources, platforms };
  return [['facts.json', Buffer.from(JSON.stringify(facts))]];
}

function templates() {
  const root = join(checkout, 'templates');
  return readdirSync(join(root, 'project'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll('\\', '/'))
    .sort()
    .map((path) => {
      const content = readFileSync(join(root, path));
      return path.endsWith('.hbs')
        ? [`${path}.js`, Buffer.from(precompile(content.toString('utf8')))]
        : [path, content];
    });
}
