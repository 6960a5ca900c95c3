import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { keys } from '../keys.ts';
import {
  asNobody,
  bins,
  failuresOf,
  giveToNobody,
  type Ran,
  run,
  scaffold,
  scratch,
  succeeded,
  tree,
} from './support.ts';
import { Terminal } from './terminal.ts';

const root = scratch();

function market(cwd: string, args: readonly string[], options = {}): Promise<Ran> {
  return run(process.execPath, [bins.market, ...args], { cwd, ...options });
}

let made = '';
beforeAll(async () => {
  const spec = specOf('made.json', ['get_gas_price', 'list_chains']);
  ({ directory: made } = await scaffold(['made', '--spec', spec, '--platform', 'context'], { cwd: root }));
});

/** A built project with the tools `get_gas_price` and `list_chains`. */
function project(name: string): { readonly directory: string } {
  const directory = join(root, name);
  cpSync(made, directory, { recursive: true, verbatimSymlinks: true });
  return { directory };
}

function toolSpec(name: string) {
  return {
    name,
    description: `Returns the ${name} of a chain, with its unit. Use it when a question asks for ${name}.`,
    input: [
      {
        name: 'chain',
        type: 'string',
        default: 'base',
        examples: ['base', 'ethereum'],
        description: 'Chain',
      },
    ],
    output: [{ name: 'value', type: 'number', required: true, description: 'The value' }],
  };
}

function specOf(name: string, tools: readonly string[]): string {
  const path = join(root, name);
  writeFileSync(path, JSON.stringify(tools.map(toolSpec)));
  return path;
}

/** Typical edits of authors and their editors, each of which must be kept byte for byte. */
const hands: readonly [path: string, edit: (text: string) => string][] = [
  ['src/tools/get-gas-price.ts', (text) => `\ufeff// mine: ÄÖ 🚀\r\n${text.replaceAll('\n', '\r\n')}`],
  ['src/tools/list-chains.ts', (text) => `${text.replaceAll('  ', '\t').trimEnd()} /* no end of line */`],
  ['test/tools/get-gas-price.test.ts', (text) => `${text}\n\n\n   // trailing   \n\t`],
  ['test/tools/list-chains.test.ts', (text) => text.replaceAll('\n', '\r\n').trimEnd()],
  ['README.md', (text) => `${text}\r\nmine, with mixed\nline ends`],
  ['AGENTS.md', () => ''],
  ['package.json', (text) => JSON.stringify(JSON.parse(text), null, '\t')],
  ['tsconfig.json', (text) => `// mine\n${text}`],
  ['.gitignore', (text) => `${text}mine`],
  ['src/main.ts', (text) => `\ufeff${text}`],
  ['src/platform.ts', (text) => text.replace('clockToleranceSeconds: 5', 'clockToleranceSeconds: 6')],
];

it('a project with edits of its author keeps every byte of them and passes its check after tools are added and removed', async () => {
  const { directory } = project('edited');
  for (const [path, edit] of hands) {
    writeFileSync(join(directory, path), edit(readFileSync(join(directory, path), 'utf8')));
  }
  mkdirSync(join(directory, 'src/lib'));
  writeFileSync(join(directory, 'src/lib/own.ts'), 'export const own = 1');
  const paths = [...hands.map(([path]) => path), 'src/lib/own.ts'];
  const bytes = () => paths.map((path) => readFileSync(join(directory, path)).toString('base64'));
  const theirs = bytes();

  const spec = specOf('three.json', ['get_base_fee', 'get_blob_fee', 'getTip']);
  const added = await succeeded(
    market(join(directory, 'src/lib'), ['add-tool', '--spec', spec, '--yes', '--json']),
  );
  expect(JSON.parse(added.stdout)).toMatchObject({
    tools: ['get_base_fee', 'get_blob_fee', 'getTip'],
    refresh: { added: [], changed: [], removed: [] }, // the server was not recorded as listed
    selfCheck: { failed: 0, failures: [] },
  });
  expect(bytes()).toEqual(theirs);

  await succeeded(market(directory, ['remove-tool', 'get_blob_fee', '--yes', '--json']));
  expect(bytes()).toEqual(theirs);

  const check = await market(directory, ['check', '--json']);
  expect(failuresOf(JSON.parse(check.stdout))).toMatchObject([
    { id: 'runtime.platform', problems: [{ path: 'src/platform.ts token.clockToleranceSeconds' }] },
  ]);
  await succeeded(run('npm', ['test'], { cwd: directory }));
  expect(
    readdirSync(join(directory, 'dist/test/tools'))
      .filter((file) => file.endsWith('.js'))
      .sort(),
  ).toEqual(['get-base-fee.test.js', 'get-gas-price.test.js', 'get-tip.test.js', 'list-chains.test.js']);
});

it('a tool that is renamed is built, checked and tested under its new name; the next rename is asked about', async () => {
  const { directory } = project('renamed');
  const old = join(directory, 'src/tools/get-gas-price.ts');
  writeFileSync(old, `// mine: Ä\r\n${readFileSync(old, 'utf8').replaceAll('\n', '\r\n')}`);
  const ran = await succeeded(
    market(directory, ['rename-tool', 'get_gas_price', 'gasFee', '--yes', '--json']),
  );
  expect(JSON.parse(ran.stdout)).toMatchObject({
    ok: true,
    moved: { 'src/tools/get-gas-price.ts': 'src/tools/gas-fee.ts' },
    mentions: ['src/tools/gas-fee.ts'], // its description
    selfCheck: { failed: 0, failures: [] },
  });
  await succeeded(run('npm', ['test'], { cwd: directory }));
  expect(existsSync(join(directory, 'dist/test/tools/get-gas-price.test.js'))).toBe(false);
  const { tools } = JSON.parse((await market(directory, ['list', '--json'])).stdout);
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(['gasFee', 'list_chains']);
  expect(readFileSync(join(directory, 'README.md'), 'utf8')).not.toMatch(/get.gas.price/);
  expect(JSON.parse((await market(directory, ['doctor', '--json'])).stdout).tools).toEqual([]);

  for (const [key, status] of [
    ['n', 130],
    ['y', 0],
  ] as const) {
    const args = [bins.market, 'rename-tool', 'gasFee', 'get_tip', '--no-check'];
    const terminal = new Terminal(process.execPath, args, { cwd: directory });
    await terminal.asked('Change these files?');
    terminal.press(key, keys.enter);
    expect(await terminal.ended, terminal.text).toBe(status);
    expect(existsSync(join(directory, 'src/tools/get-tip.ts'))).toBe(status === 0);
  }
});

it('two concurrent runs run one after the other and corrupt nothing', async () => {
  const { directory } = project('at-once');
  const names = ['get_a', 'get_b', 'get_c', 'get_d', 'get_e', 'get_f'];
  const ran = await Promise.all([
    ...names.map((name) => market(directory, ['add-tool', name, '--yes', '--no-check'])),
    market(directory, ['remove-tool', 'list_chains', '--yes', '--no-check']),
  ]);
  for (const { status, stderr } of ran) expect(status, stderr).toBe(0);
  const { stdout } = await market(directory, ['list', '--json']);
  const { tools } = JSON.parse(stdout);
  const served = tools.map(({ name }: { name: string }) => name);
  expect(served[0]).toBe('get_gas_price');
  expect([...served].sort()).toEqual([...names, 'get_gas_price'].sort());
  const manifest = JSON.parse(readFileSync(join(directory, 'market-mcp.json'), 'utf8'));
  expect(manifest.answers.tools).toEqual(served);
  expect(readdirSync(directory).filter((name) => name.startsWith('.create-market-mcp'))).toEqual([]);
  await succeeded(run('npm', ['run', 'build'], { cwd: directory }));
});

describe('a failure after the files are written', () => {
  it('is reported with a command that undoes it', async () => {
    const { directory } = project('broken');
    const before = tree(join(directory, 'src'));
    const main = join(directory, 'src/main.ts');
    const text = readFileSync(main, 'utf8');

    writeFileSync(main, `${text}\nconst wrong: number = 'text';\n`);
    const unbuilt = await market(directory, ['add-tool', 'get_fee', '--yes', '--json']);
    expect(unbuilt.status).toBe(3);
    const { error } = JSON.parse(unbuilt.stdout);
    expect(error).toMatchObject({
      code: 'BUILD_FAILED',
      message: expect.stringContaining('get_fee was added, but'),
    });
    expect(JSON.stringify(error.details)).toContain('src/main.ts');
    writeFileSync(main, text);

    const undo = /To undo: (npx market-mcp .*)$/.exec(error.hint)?.[1];
    await succeeded(run('sh', ['-c', String(undo)], { cwd: directory }));
    expect(tree(join(directory, 'src'))).toEqual(before);
  });

  it('exits with 1 if a MUST rule fails', async () => {
    const { directory } = project('unsound');
    const file = join(directory, 'src/tools/list-chains.ts');
    writeFileSync(file, readFileSync(file, 'utf8').replace("expect: 'found'", "expect: 'empty'"));
    const ran = await market(directory, ['add-tool', 'get_fee', '--yes', '--json']);
    expect(ran.status).toBe(1);
    expect(JSON.parse(ran.stdout).ok).toBe(false);
    expect(JSON.parse(ran.stdout).error).toMatchObject({ code: 'SELF_CHECK_FAILED' });
  });
});

describe('a project that cannot be written', () => {
  const { bins, user } = asNobody();

  it.each([
    ['as a whole', '.', 'NOT_WRITABLE'],
    ['in its tools', 'src/tools', 'WRITE_FAILED'],
    ['in its tests', 'test/tools', 'WRITE_FAILED'],
  ])('is unchanged and listed: %s', async (_, place, code) => {
    const { directory } = project(`read-only-${place.replace(/\W/g, '')}`);
    chmodSync(root, 0o755);
    for (const path of ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]) {
      if (!path.startsWith('node_modules')) giveToNobody(join(directory, path));
    }
    chmodSync(join(directory, place), 0o555);
    const before = tree(directory);
    const asUser = (...args: string[]) =>
      run(process.execPath, [bins.market, ...args], { cwd: directory, ...user });
    const ran = await asUser('add-tool', 'get_fee', '--yes', '--json');
    expect(ran.status).toBe(2);
    expect(JSON.parse(ran.stdout).error.code).toBe(code);
    expect(tree(directory)).toEqual(before);
    expect((await asUser('list')).status).toBe(0);
  });
});

it('in a real terminal, a taken name is refused at once, and cancelling writes nothing', async () => {
  const { directory } = project('cancelled');
  const before = tree(directory);
  const terminal = new Terminal(process.execPath, [bins.market, 'add-tool'], { cwd: directory });
  await terminal.asked('Start from');
  terminal.press(keys.down, keys.enter);
  await terminal.asked('What is the tool called?');
  terminal.press('list-chains', keys.enter);
  await terminal.waitFor('already exists');
  terminal.press(keys.ctrlC);
  expect(await terminal.ended, terminal.text).toBe(130);
  expect(tree(directory)).toEqual(before);
});
