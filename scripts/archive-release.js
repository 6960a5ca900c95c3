import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { load } from './load.js';

// `node scripts/archive-release.js <commit>`: writes releases/<version>.br, from which `market-mcp upgrade` knows what that
// version wrote into projects (docs/upgrade.md). It contains the templates of the files that belong to no tool (templates with
// answers are compiled) and the facts that they were rendered with.

const [commit] = process.argv.slice(2);
if (!commit) throw new Error('usage: node scripts/archive-release.js <commit>');

const { precompile } = await load('src/render/compile.ts');
const { pack } = await load('src/project/templates.ts');

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
  writeFileSync(join('releases', `${version}.br`), archive);
  console.log(`releases/${version}.br: ${entries.length} entries, ${archive.byteLength} bytes`);
} finally {
  rmSync(checkout, { recursive: true });
}

async function oldModules() {
  const modules = ['plan/versions.ts', 'plan/package-manager.ts', 'contract/platforms/index.ts'];
  const [versions, managers, platforms] = await Promise.all(
    modules.map((path) => load(join(checkout, 'src', path))),
  );
  return { ...versions, ...managers, ...platforms };
}

function facts(version, { dependencies, devDependencies, packageManagerCommands, platforms }) {
  const text = JSON.stringify({ version, dependencies, devDependencies, packageManagerCommands, platforms });
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
