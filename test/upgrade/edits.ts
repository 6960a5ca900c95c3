import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../e2e/support.ts';
import type { OldVersion } from './old-program.ts';

/** An author's edit of a project of an earlier version. */
export interface Edit {
  readonly name: string;
  /** Whether it may end in a conflict, or in an open task. */
  readonly mayConflict?: true;
  /** Part of the open task that it leaves to the author. */
  readonly task?: string;
  /** The only version whose projects have what it edits; `api`: those of 0.2.0 with an API. Absent: every one. */
  readonly only?: OldVersion | 'api';
  make(project: EditedProject): void;
}

/** A project that is being edited. */
export class EditedProject {
  readonly directory: string;
  /** Files that an upgrade must not change by a byte. */
  readonly untouchable = new Set<string>();
  /** Text of the author that must be in a file afterwards, or in its patch. */
  readonly kept: { readonly path: string; readonly text: string }[] = [];
  /** Files that must not come back. */
  readonly deleted = new Set<string>();
  /** File of the first tool, without extension. */
  readonly tool: string;

  constructor(directory: string, tool: string) {
    this.directory = directory;
    this.tool = tool;
  }

  text(path: string): string {
    return readFileSync(join(this.directory, path), 'utf8');
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.directory, path)), { recursive: true });
    writeFileSync(join(this.directory, path), text);
  }

  change(path: string, edit: (text: string) => string): void {
    if (!existsSync(join(this.directory, path))) return;
    const before = this.text(path);
    const after = edit(before);
    if (before === after) throw new Error(`the edit of ${path} changes nothing`);
    this.write(path, after);
  }

  /** Writes a file of which the upgrade changes a part. */
  moves(path: string, text: string, ...after: readonly string[]): void {
    this.write(path, text);
    for (const text of after) this.kept.push({ path, text });
  }

  /** Adds a line that the upgrade must keep. */
  keep(path: string, text: string, edit: (text: string) => string): void {
    if (!existsSync(join(this.directory, path))) return;
    this.change(path, edit);
    this.kept.push({ path, text });
  }

  /** Adds bytes that are not UTF-8, which the upgrade must keep. */
  keepBytes(path: string, edit: (bytes: string) => string): void {
    const place = join(this.directory, path);
    if (!existsSync(place)) return;
    writeFileSync(place, edit(readFileSync(place, 'latin1')), 'latin1');
    this.kept.push({ path, text: latin });
  }

  delete(...paths: readonly string[]): void {
    for (const path of paths) {
      rmSync(join(this.directory, path), { recursive: true, force: true });
      this.deleted.add(path);
    }
  }
}

const windows = (text: string) => text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n');
const mine = 'a line of the author';
/** One byte for a letter, in a text of one character per byte. */
const latin = 'Gr\xfc\xdfe \xc3';
const limits = 'own variables belong in src/env.ts';
const append = (line: string) => (text: string) => `${text.trimEnd()}\n${line}\n`;
const first = (line: string) => (text: string) => `${line}\n${text}`;
const packageJson = (edit: (value: Record<string, Record<string, string>>) => void) => (text: string) => {
  const value = JSON.parse(text);
  edit(value);
  return `${JSON.stringify(value, null, 2)}\n`;
};

/** Edits of every kind, in every kind of file. */
const edits: readonly Edit[] = [
  { name: 'README.md: a section', make: (p) => p.keep('README.md', mine, append(`\n## Mine\n\n${mine}`)) },
  { name: 'README.md: CRLF', make: (p) => p.change('README.md', windows) },
  {
    name: 'README.md: CRLF, mark and a section',
    make: (p) => p.keep('README.md', mine, (text) => `\ufeff${windows(append(`\n${mine}`)(text))}`),
  },
  {
    name: 'README.md: another title',
    make: (p) => p.keep('README.md', `# ${mine}`, (text) => text.replace(/^# .*/m, `# ${mine}`)),
  },
  {
    name: 'README.md: paragraphs in another order',
    mayConflict: true,
    make: (p) => p.change('README.md', (text) => text.split('\n\n').toReversed().join('\n\n')),
  },
  {
    name: 'README.md: the same lines',
    mayConflict: true,
    make: (p) => p.change('README.md', (text) => text.replaceAll('market-mcp', `market-mcp (${mine})`)),
  },
  { name: 'README.md: Latin-1', make: (p) => p.keepBytes('README.md', append(`\n${latin}`)) },
  {
    name: '.env.example: Latin-1',
    make: (p) => p.keepBytes('.env.example', append(`\n# ${latin}`)),
    mayConflict: true,
  },
  { name: 'tool: Latin-1', make: (p) => p.keepBytes(toolPath(p), append(`// ${latin}`)) },
  {
    name: 'runtime: Latin-1',
    task: limits,
    make: (p) => p.keepBytes('src/config.ts', append(`// ${latin}`)),
  },
  {
    name: 'modes',
    make: (p) => {
      chmodSync(join(p.directory, 'README.md'), 0o700);
      chmodSync(join(p.directory, '.env.example'), 0o600);
      chmodSync(join(p.directory, 'src/platform.ts'), 0o755);
    },
  },
  { name: 'formatter', make: format },
  {
    name: '.gitignore: *.tgz',
    make: (p) => p.keep('.gitignore', '*.tgz', first('*.tgz')),
  },
  { name: 'tool: in a subdirectory', make: (p) => moveTool(p, 'deep/') },
  { name: 'submodule', make: submodule, mayConflict: true },
  // The new version changed the preceding line.
  {
    name: 'AGENTS.md: a rule',
    mayConflict: true,
    make: (p) => p.keep('AGENTS.md', mine, append(`- ${mine}`)),
  },
  { name: 'AGENTS.md, CLAUDE.md: deleted', make: (p) => p.delete('AGENTS.md', 'CLAUDE.md') },
  {
    name: '.env.example: a variable',
    mayConflict: true,
    make: (p) => p.keep('.env.example', 'API_KEY=', append('\nAPI_KEY=')),
  },
  {
    name: '.env.example: another deadline',
    mayConflict: true,
    make: (p) =>
      p.change('.env.example', (text) => text.replace(/CALL_TIMEOUT_MS=\d+/, 'CALL_TIMEOUT_MS=7000')),
  },
  { name: '.env', make: (p) => writeOwn(p, '.env', 'PORT=3999\n') },
  {
    name: 'Dockerfile: a variable',
    make: (p) =>
      p.keep('Dockerfile', 'ENV MINE=1', (text) => text.replace('EXPOSE 3000', 'EXPOSE 3000\nENV MINE=1')),
  },
  {
    name: 'Dockerfile: data in the image',
    mayConflict: true,
    make: (p) =>
      p.keep('Dockerfile', 'COPY data', (text) => text.replace('USER node', 'COPY data ./data\nUSER node')),
  },
  { name: 'Dockerfile: deleted', make: (p) => p.delete('Dockerfile', '.dockerignore') },
  { name: '.gitignore: a line', make: (p) => p.keep('.gitignore', '/data', first('/data')) },
  {
    name: '.dockerignore: a line',
    make: (p) => p.keep('.dockerignore', '!data', append('!data')),
    mayConflict: true,
  },
  {
    name: 'tsconfig.json: a setting',
    make: (p) =>
      p.keep('tsconfig.json', '"noUnusedLocals": false', (text) =>
        text.replace('"strict": true,', '"strict": true,\n    "noUnusedLocals": false,'),
      ),
  },
  { name: 'workflow: deleted', make: (p) => p.delete('.github/workflows/ci.yml') },
  {
    name: 'workflow: a step',
    make: (p) => p.keep('.github/workflows/ci.yml', 'echo mine', append('      - run: echo mine')),
    mayConflict: true,
  },
  {
    name: 'package.json: a script and a dependency',
    make: (p) => {
      p.keep(
        'package.json',
        '"mine": "echo mine"',
        packageJson((value) => {
          value.scripts = { mine: 'echo mine', ...value.scripts };
          value.dependencies = { ...value.dependencies, 'is-number': '7.0.0' };
        }),
      );
      p.kept.push({ path: 'package.json', text: '"is-number": "7.0.0"' });
    },
  },
  {
    name: 'package.json: members in another order, indented by tabs, CRLF',
    make: (p) =>
      p.change('package.json', (text) =>
        windows(
          `${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).toReversed()), null, '\t')}\n`,
        ),
      ),
  },
  {
    name: 'package.json: another dev script',
    mayConflict: true,
    make: (p) =>
      p.change(
        'package.json',
        packageJson(({ scripts = {} }) => {
          scripts.dev = `${scripts.dev} --mine`;
        }),
      ),
  },
  {
    name: 'package.json: a script deleted, another name and version',
    make: (p) =>
      p.keep('package.json', '"version": "3.2.1"', (text) => {
        const { scripts, ...value } = JSON.parse(text);
        const { token: _, ...others } = scripts;
        return `${JSON.stringify({ ...value, name: 'mine', version: '3.2.1', scripts: others }, null, 2)}\n`;
      }),
  },
  { name: 'tool: CRLF and mark', make: (p) => p.change(toolPath(p), (text) => `\ufeff${windows(text)}`) },
  { name: 'tool: a comment', make: (p) => p.keep(toolPath(p), mine, append(`// ${mine}`)) },
  {
    name: 'tool: a type of the contract',
    only: '0.1.0',
    make: (p) =>
      p.keep(toolPath(p), 'type Mine', (text) =>
        append('export type Mine = JsonObject;')(
          `import type { JsonObject } from '../../contract/model.ts';\n${text}`,
        ),
      ),
  },
  {
    name: 'test of a tool: a test',
    make: (p) => p.keep(testPath(p), mine, append(`\ntest('${mine}', () => {});`)),
  },
  { name: 'test of a tool: deleted', make: (p) => p.delete(testPath(p)) },
  { name: 'tool: another file name', make: (p) => moveTool(p, '') },
  {
    name: 'list of tools: another format',
    make: (p) => p.change('src/tools/index.ts', (text) => windows(text.replaceAll("'", '"'))),
  },
  {
    name: 'own modules',
    make: (p) => {
      writeOwn(p, 'src/lib/cache.ts', '// mine\r\nexport const cache = new Map<string, string>();\r\n');
      writeOwn(p, 'docs/mine.md', `# ${mine}\n`);
    },
  },
  {
    name: 'own module that imports the runtime',
    only: '0.1.0',
    make: (p) =>
      p.write(
        'src/lib/json.ts',
        "import { callTool } from '../server/define-tool.ts';\nimport type { Json } from '../../contract/model.ts';\nexport { callTool };\nexport const none: Json = null;\n",
      ),
  },
  {
    name: 'own module that requires the runtime',
    make: (p) =>
      p.moves(
        'scripts/call.cjs',
        "// mine\r\nconst { callTool } = require('../dist/src/server/call.js')\r\nmodule.exports = callTool\r\n",
        "// mine\r\nconst { callTool } = require('market-mcp-runtime/testing')\r\nmodule.exports = callTool\r\n",
      ),
  },
  {
    name: 'own module that imports the runtime when it runs',
    make: (p) =>
      p.moves(
        'src/lib/later.ts',
        'export async function later() {\n  const { callTool: call } = await import("../server/call.ts");\n  return call;\n}\n',
        'const { callTool: call } = await import("market-mcp-runtime/testing");\n',
      ),
  },
  {
    name: 'own module that exports the runtime',
    make: (p) =>
      p.moves(
        'src/lib/tools.ts',
        "export { defineTool as define, type Tool } from '../server/define-tool.ts';\nexport { createApp } from '../server/LAST';\n".replace(
          'LAST',
          p.text('src/main.ts').includes('server/http.ts') ? 'http.ts' : 'app.ts',
        ),
        "export { defineTool as define, type Tool } from 'market-mcp-runtime';\nexport { createApp } from 'market-mcp-runtime/app';\n",
      ),
  },
  {
    name: 'lost import: a name of the runtime',
    task: 'linearMatcher from src/server/pattern.ts, which market-mcp-runtime does not export',
    only: '0.2.0',
    make: (p) => writeOwn(p, 'src/lib/gone.ts', "export { linearMatcher } from '../server/pattern.ts';\n"),
  },
  {
    name: 'lost import: a whole module',
    task: 'imports all of src/server/call.ts',
    make: (p) =>
      writeOwn(p, 'src/lib/gone.ts', "import * as all from '../server/call.ts';\nexport { all };\n"),
  },
  {
    name: 'lost import: a name of the contract',
    only: '0.1.0',
    task: 'blankAnswer from contract/outcomes.ts, which market-mcp-runtime does not export',
    make: (p) =>
      writeOwn(
        p,
        'src/lib/gone.ts',
        "import { blankAnswer } from '../../contract/outcomes.ts';\nexport { blankAnswer };\n",
      ),
  },
  {
    name: 'runtime: a header',
    task: 'routes and headers are options of serve',
    make: (p) => {
      const comment = (text: string) => text.replace('export function createApp', `// ${mine}\n$&`);
      // Each version has one of them.
      for (const path of ['src/server/app.ts', 'src/server/http.ts']) p.keep(path, mine, comment);
    },
  },
  {
    name: 'runtime: the configuration',
    task: limits,
    make: (p) => p.keep('src/config.ts', mine, append(`// ${mine}`)),
  },
  {
    name: 'runtime: the start',
    task: 'routes and headers are options of serve',
    make: (p) => p.keep('src/main.ts', mine, first(`console.error('${mine}');`)),
  },
  {
    name: 'runtime: CRLF, mark and a line without an end',
    task: 'node_modules/market-mcp-runtime/README.md',
    make: (p) => p.keep('src/server/session.ts', mine, (text) => `\ufeff${windows(text)}// ${mine}`),
  },
  {
    name: 'source kit: a line',
    task: 'the options of httpSource and mcpSource',
    only: 'api',
    make: (p) => p.keep('src/source/send.ts', mine, first(`// ${mine}`)),
  },
  {
    name: 'contract: a rule',
    task: 'the rules are in the program',
    only: '0.1.0',
    make: (p) => p.keep('contract/rules/meta.ts', mine, append(`// ${mine}`)),
  },
  { name: 'local platform: deleted', only: '0.1.0', make: (p) => p.delete('local') },
  {
    name: 'platform: another lifetime',
    make: (p) => {
      p.keep('src/platform.ts', 'lifetimeSeconds: 90', (text) =>
        text.replace(/lifetimeSeconds: \d+/, 'lifetimeSeconds: 90'),
      );
      p.kept.push({ path: 'market-mcp.json', text: '"lifetimeSeconds": 90' });
    },
  },
  {
    name: 'platform: only protocols with sessions',
    only: '0.2.0',
    make: (p) => {
      p.change('src/platform.ts', (text) => text.replace("modern: 'on'", "modern: 'off'"));
      p.kept.push(
        { path: 'market-mcp.json', text: '"modern": "off"' },
        { path: 'src/main.ts', text: 'modern: false' },
      );
    },
  },
];

/** The edits that projects of a version allow, with or without an API. */
export function editsOf(version: OldVersion, api = false): readonly Edit[] {
  return edits.filter(
    ({ only = version }) => only === version || (api && version === '0.2.0' && only === 'api'),
  );
}

/** The formatter runs over the other edits. */
export function formatterLast(a: Edit, b: Edit): number {
  return Number(a.make === format) - Number(b.make === format);
}

function toolPath({ tool }: EditedProject): string {
  return `src/tools/${tool}.ts`;
}

function testPath({ tool }: EditedProject): string {
  return `test/tools/${tool}.test.ts`;
}

function writeOwn(project: EditedProject, path: string, text: string): void {
  project.write(path, text);
  project.untouchable.add(path);
}

/** Gives the tool another file, below `src/tools`. */
function moveTool(project: EditedProject, place: '' | 'deep/'): void {
  const up = place === '' ? '' : '../';
  const [source, test] = [project.text(toolPath(project)), project.text(testPath(project))];
  project.delete(toolPath(project), testPath(project));
  project.write(`src/tools/${place}renamed.ts`, source.replaceAll("'../", `'../${up}`));
  const moved = test
    .replaceAll("'../", `'../${up}`)
    .replace(`/tools/${project.tool}.ts`, `/tools/${place}renamed.ts`);
  project.write(`test/tools/${place}renamed.test.ts`, moved);
  project.change('src/tools/index.ts', (text) =>
    text.replace(`./${project.tool}.ts`, `./${place}renamed.ts`),
  );
}

/** Another style for everything, as an author's own formatter writes it. */
function format({ directory }: EditedProject): void {
  const style = ['--indent-style=tab', '--line-width=70', '--javascript-formatter-quote-style=double'];
  const biome = join(repository, 'node_modules/.bin/biome');
  const sources = readdirSync(join(directory, 'src')).map((name) => `src/${name}`);
  const places = [...sources.filter((path) => path !== 'src/lib'), 'test', 'tsconfig.json'];
  // It ends with an error if a file is not UTF-8, and formats all others.
  spawnSync(biome, ['format', '--write', ...style, '--semicolons=as-needed', ...places], { cwd: directory });
}

/** A repository of its own in the project, with a file that imports the runtime of 0.1.0 and nothing of 0.2.0. */
function submodule(project: EditedProject): void {
  const place = 'src/lib/shared';
  const isOld = existsSync(join(project.directory, 'contract/model.ts'));
  const type = isOld ? "import type { Json } from '../../../contract/model.ts';\n" : 'type Json = null;\n';
  writeOwn(project, `${place}/json.ts`, `${type}export const none: Json = null;\n`);
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: join(project.directory, place), stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message', 'x');
}
