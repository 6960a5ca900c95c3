import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { load } from './load.js';

// `node scripts/archive-release.js <commit> [directory]`: writes <directory>/<version>.br, in `releases` unless there is another
// directory, from which `market-mcp upgrade` knows what that version wrote into projects (docs/upgrade.md). It contains the templates of the files that belong to no tool (templates with
// answers are compiled) and the facts that they were rendered with.

const [commit, directory = 'releases'] = process.argv.slice(2);
if (!commit) throw new Error('usage: node scripts/archive-release.js <commit> [directory]');

const { precompile } = await load('src/render/compile.ts');
const { pack } = await load('src/project/package/templates.ts');

const checkout = mkdtempSync(join(tmpdir(), 'archive-release-'));
try {
  const tar = execFileSync('git', ['archive', commit, 'package.json', 'src', 'templates'], {
    maxBuffer: 2 ** 28,
  });
  execFileSync('tar', ['x', '-C', checkout], { input: tar });
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
  const names = ['plan/versions', 'plan/package-manager', 'contract/platforms/index'];
  const modules = [...names, 'project/sources', 'project/source/sources']; // before and since 0.3.0
  const paths = modules.map((name) => join(checkout, 'src', `${name}.ts`));
  const loaded = await Promise.all(paths.filter(existsSync).map(load));
  return Object.assign({}, ...loaded);
}

/** What only some versions had is left out by JSON: `dependencies` up to 0.2.0, `sources` since then. */
function facts(version, old) {
  const { dependencies, devDependencies, packageManagerCommands, platforms } = old;
  const sources = old.withSourceDependencies && JSON.parse(old.withSourceDependencies('{}'));
  const facts = { version, dependencies, devDependencies, packageManagerCommands, sources, platforms };
  const text = JSON.stringify(facts);
  return [['facts.json', Buffer.from(text)]];
}

/** The platform profiles were not part of the templates, even when the contract was copied into projects. */
function templates() {
  const root = join(checkout, 'templates');
  return filesBelow(root, 'project')
    .filter((path) => !path.startsWith('project/contract/platforms/'))
    .map((path) => {
      const content = readFileSync(join(root, path));
      return path.endsWith('.hbs')
        ? [`${path}.js`, Buffer.from(precompile(content.toString('utf8')))]
        : [path, content];
    });
}

/** Follows links: the contract was one. */
function filesBelow(root, directory) {
  return readdirSync(realpathSync(join(root, directory)), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`;
      return entry.isFile() ? [path] : filesBelow(root, path);
    });
}
