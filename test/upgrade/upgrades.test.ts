import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { commonFilesOf } from '../../src/changes/upgrade/common-files.ts';
import { version } from '../../src/plan/package-versions.ts';
import { readManifest } from '../../src/project/manifest/manifest.ts';
import { type Release, releaseIn } from '../../src/project/package/releases.ts';
import { importsIn } from '../../src/project/read/tools-index.ts';
import { bins, repository, scratch, tree } from '../e2e/support.ts';
import { randomFrom, seed } from '../random.ts';
import { oldVersions } from './old-program.ts';
import { createWith, identity, makeOldProject, type UpgradeFigures, upgradeAndProve } from './scenario.ts';

const measured = new Map<string, UpgradeFigures>();

/** Writes the figures of these tests into their page (`npm run docs upgrades`). */
afterAll(() => {
  if (process.env.UPGRADES_PAGE === undefined) return;
  const page = join(repository, 'docs/evidence/upgrades.md');
  const place = /(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)/s;
  const text = readFileSync(page, 'utf8');
  expect(text).toMatch(place);
  writeFileSync(
    page,
    text.replace(place, () => table()),
  );
});

/** One row for each upgraded project: how many files each kind of decision was made for. */
function table(): string {
  const kinds = ['replaced', 'merged', 'overruled', 'new', 'removed', 'kept', 'conflict'] as const;
  const rows = [...measured]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([project, figures]) => {
      const counts = kinds.map((kind) => figures.kinds.filter((one) => one === kind).length);
      return [project, ...counts, figures.passedRules];
    });
  const head = ['project of version', ...kinds, 'rules passed'];
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  const date = new Date().toISOString().slice(0, 10);
  const measuredOn = `Upgraded to ${version} on ${date} with Node ${process.versions.node}.`;
  return `\n${measuredOn}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n`;
}

const contextFlags = ['--platform', 'context', '--package-manager', 'pnpm'];
const authorLine = 'A line of the author.';

/** Changes files that belong to the project, to a tool and to the author, and deletes one. Returns what must remain. */
function editAsAuthor(directory: string): ReadonlyMap<string, string> {
  const [tool = ''] = readdirSync(join(directory, 'src/tools')).filter((name) => name !== 'index.ts');
  const toolPath = `src/tools/${tool}`;
  appendFileSync(join(directory, 'Dockerfile'), `# ${authorLine}\n`);
  appendFileSync(join(directory, toolPath), `// ${authorLine}\n`);
  const ignored = join(directory, '.gitignore');
  writeFileSync(ignored, `/author\n${readFileSync(ignored, 'utf8')}`);
  mkdirSync(join(directory, 'src/author'));
  writeFileSync(
    join(directory, 'src/author/cache.ts'),
    `// ${authorLine}\r\nexport const cache = new Map();\r\n`,
  );
  rmSync(join(directory, 'AGENTS.md'));
  return new Map([
    ['Dockerfile', authorLine],
    [toolPath, readFileSync(join(directory, toolPath), 'utf8')],
    ['.gitignore', '/author'],
    ['src/author/cache.ts', `// ${authorLine}\r\n`],
  ]);
}

it.each(oldVersions)(
  'an upgrade of version %s keeps what the author changed and deleted, and the project passes its self-check',
  async (version) => {
    const directory = join(scratch(), 'project');
    let remaining: ReadonlyMap<string, string> = new Map();
    const edit = (place: string) => {
      remaining = editAsAuthor(place);
    };
    await makeOldProject({ directory, version, flags: contextFlags, random: randomFrom(seed), edit });
    measured.set(`${version}, two tools of random specs, edited`, await upgradeAndProve(directory));
    for (const [path, text] of remaining) {
      expect(readFileSync(join(directory, path), 'utf8'), path).toContain(text);
    }
    expect(existsSync(join(directory, 'AGENTS.md'))).toBe(false);
  },
);

it.each(oldVersions)(
  'an upgraded project of version %s whose tools call an API passes its self-check',
  async (version) => {
    const directory = join(scratch(), 'project');
    await makeOldProject({ directory, version });
    measured.set(`${version}, two tools that call an API`, await upgradeAndProve(directory));
  },
);

it.each(oldVersions)(
  'the archive of version %s gives exactly the files that its program writes',
  async (version) => {
    const root = scratch();
    const [plain, api] = [join(root, 'plain'), join(root, 'api')];
    await makeOldProject({ directory: plain, version, flags: contextFlags, random: randomFrom(seed) });
    await makeOldProject({ directory: api, version });
    expectBase(plain);
    expectBase(api);
  },
);

it('an archive of this version gives exactly the files that it writes', async () => {
  const root = scratch();
  execFileSync(process.execPath, ['scripts/archive-release.js', commitOfFiles(root), root], {
    cwd: repository,
  });
  const release = releaseIn(readFileSync(join(root, `${version}.br`)));
  for (const [name, random] of [
    ['plain', randomFrom(seed)],
    ['api', null],
  ] as const) {
    await createWith(bins.create, join(root, name), [], random);
    expectBase(join(root, name), release);
  }
});

/** A commit of the working tree; it has an index of its own, since other tests lock that of the repository. */
function commitOfFiles(directory: string): string {
  const env = { ...process.env, ...identity, GIT_INDEX_FILE: join(directory, 'index') };
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: repository, env, encoding: 'utf8' }).trim();
  git('read-tree', 'HEAD');
  git('add', '--update');
  return git('commit-tree', git('write-tree'), '-p', 'HEAD', '-m', 'the working tree');
}

/** Expects the files that belong to no tool to be those of `base`, and all others to belong to tools, APIs or the program. */
function expectBase(directory: string, release?: Release): void {
  const files = tree(directory);
  const tools = importsIn(files.get('src/tools/index.ts') ?? '');
  const { base } = commonFilesOf(readManifest(directory), tools, release);
  for (const [path, { content }] of base) expect(Buffer.from(content).toString(), path).toBe(files.get(path));
  const rest = [...files.keys()].filter((path) => !base.has(path));
  const others =
    /^((src|test)\/tools\/|vendor\/|market-mcp\.json$|src\/(apis\/|env\.ts$)|test\/recordings\/)/;
  expect(rest.filter((path) => !others.test(path) && !path.startsWith('.git/'))).toEqual([]);
}
