import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../e2e/support.ts';

/** An author's edit of a project of an earlier version. */
export interface Edit {
  readonly name: string;
  make(project: EditedProject): void;
}

/** A project that is being edited. */
export class EditedProject {
  readonly directory: string;
  /** Files that an upgrade must not change by a byte. */
  readonly untouchable = new Set<string>();
  /** Text of the author that must be in a file afterwards. */
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
const append = (line: string) => (text: string) => `${text.trimEnd()}\n${line}\n`;
const first = (line: string) => (text: string) => `${line}\n${text}`;
const packageJson = (edit: (value: Record<string, Record<string, string>>) => void) => (text: string) => {
  const value = JSON.parse(text);
  edit(value);
  return `${JSON.stringify(value, null, 2)}\n`;
};

/** Edits of every kind, in every kind of file. */
export const edits: readonly Edit[] = [
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
    make: (p) => p.change('README.md', (text) => text.split('\n\n').toReversed().join('\n\n')),
  },
  {
    name: 'README.md: the same lines',
    make: (p) => p.change('README.md', (text) => text.replaceAll('market-mcp', `market-mcp (${mine})`)),
  },
  { name: 'README.md: Latin-1', make: (p) => p.keepBytes('README.md', append(`\n${latin}`)) },
  {
    name: '.env.example: Latin-1',
    make: (p) => p.keepBytes('.env.example', append(`\n# ${latin}`)),
  },
  { name: 'tool: Latin-1', make: (p) => p.keepBytes(toolPath(p), append(`// ${latin}`)) },
  {
    name: 'modes',
    make: (p) => {
      chmodSync(join(p.directory, 'README.md'), 0o700);
      chmodSync(join(p.directory, '.env.example'), 0o600);
      chmodSync(join(p.directory, 'src/platform.ts'), 0o755);
    },
  },
  { name: 'formatter', make: format },
  { name: 'tool: in a subdirectory', make: (p) => moveTool(p, 'deep/') },
  {
    name: 'AGENTS.md: a rule',
    make: (p) => p.keep('AGENTS.md', mine, append(`- ${mine}`)),
  },
  { name: 'AGENTS.md, CLAUDE.md: deleted', make: (p) => p.delete('AGENTS.md', 'CLAUDE.md') },
  {
    name: '.env.example: a variable',
    make: (p) => p.keep('.env.example', 'API_KEY=', append('\nAPI_KEY=')),
  },
  {
    name: '.env.example: another deadline',
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
    make: (p) =>
      p.keep('Dockerfile', 'COPY data', (text) => text.replace('USER node', 'COPY data ./data\nUSER node')),
  },
  { name: 'Dockerfile: deleted', make: (p) => p.delete('Dockerfile', '.dockerignore') },
  { name: '.gitignore: a line', make: (p) => p.keep('.gitignore', '/data', first('/data')) },
  {
    name: '.dockerignore: a line',
    make: (p) => p.keep('.dockerignore', '!data', append('!data')),
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
  {
    name: 'package.json: mark',
    make: (p) => p.change('package.json', (text) => `\ufeff${text}`),
  },
  {
    name: 'market-mcp.json, tsconfig.json: mark',
    make: (p) => {
      for (const path of ['market-mcp.json', 'tsconfig.json']) p.change(path, (text) => `\ufeff${text}`);
    },
  },
  { name: 'tool: CRLF and mark', make: (p) => p.change(toolPath(p), (text) => `\ufeff${windows(text)}`) },
  { name: 'tool: a comment', make: (p) => p.keep(toolPath(p), mine, append(`// ${mine}`)) },
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
];

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
