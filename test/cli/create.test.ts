import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { toCommandError } from '../../packages/contract/src/command/errors.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { create } from '../../src/cli/create/command.ts';
import type { Manifest } from '../../src/project/manifest/manifest.ts';
import type { CreateSwitches } from '../../src/questions/create.ts';
import type { CreateFlags } from '../../src/questions/create-answers.ts';
import { directory, tree } from '../project/directory.ts';
import { outputTo } from './sinks.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const quick: CreateSwitches = {
  yes: true,
  json: false,
  dryRun: false,
  install: false,
  git: false,
  check: false,
  force: false,
  overwrite: false,
};

async function run(flags: CreateFlags, switches: Partial<CreateSwitches> = {}) {
  const all = { ...quick, ...switches };
  const { output, stdout, stderr } = outputTo({ json: all.json });
  const exitCode = await create(flags.directory, output, { ...flags, ...all }).catch((error: unknown) => {
    output.error(toCommandError(error));
    return toCommandError(error).exitCode;
  });
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

describe('create', () => {
  it('writes a project and prints the next steps', async () => {
    const target = join(directory(), 'gas');
    const { exitCode, stdout, stderr } = await run({ directory: target });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^✔ \d+ files in /);
    expect(lines.slice(-4)).toEqual([
      `  1. cd ${relative(process.cwd(), target)} && npm install`,
      '  2. edit src/tools/get-gas.ts  (read() returns sample data: call your API there)',
      '  3. npm run dev  (prints the link of a page to call, check and register it)',
      `How to change, test and register it: ${join(target, 'README.md')}`,
    ]);
    expect(Object.keys(tree(target))).toContain('src/tools/get-gas.ts');
  });

  it('prints one JSON object with --json', async () => {
    const target = join(directory(), 'gas');
    const { stdout } = await run({ directory: target }, { json: true });
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      ok: true,
      directory: target,
      tools: ['get_gas'],
      changes: [],
      packages: null,
      selfCheck: null,
    });
    expect([...result.files].sort()).toEqual(Object.keys(tree(target)).sort());
    expect(result.next.slice(1)).toEqual(['npm install', 'npm run dev', 'npx market-mcp call get_gas']);
    expect(result.repeat).toMatch(/^node bin\/create-market-mcp.js \S+ --yes --tool get_gas /);
  });

  it('lists the files of a dry run with their sizes, and writes none', async () => {
    const root = directory();
    const { stdout } = await run({ directory: join(root, 'gas') }, { dryRun: true });
    expect(tree(root)).toEqual({});
    const lines = stdout.split('\n').filter((line) => /^ +\d+ {2}/.test(line));
    await run({ directory: join(root, 'gas') });
    const written = tree(join(root, 'gas'));
    for (const line of lines.slice(0, -1)) {
      const [size, path = ''] = line.trim().split(/ {2}/);
      expect(written[path]).toBeDefined();
      expect(statSync(join(root, 'gas', path)).size).toBe(Number(size));
    }
    expect(lines).toHaveLength(Object.keys(written).length + 1);
  });

  it('records the answers and the profile', async () => {
    const root = directory();
    const own = { ...generic, name: 'own', title: 'Own' };
    writeFileSync(join(root, 'own.json'), JSON.stringify(own));
    for (const [name, platform] of [
      ['shipped', 'context'],
      ['brought', join(root, 'own.json')],
    ] as const) {
      const { stderr } = await run({ directory: join(root, name), platform, packageManager: 'pnpm' });
      expect(stderr).toBe('');
    }
    const manifestOf = (name: string): Manifest =>
      JSON.parse(readFileSync(join(root, name, 'market-mcp.json'), 'utf8'));
    expect(manifestOf('shipped')).toMatchObject({
      platform: 'context',
      answers: { name: 'shipped', packageManager: 'pnpm', profile: 'context', tools: ['get_shipped'] },
    });
    expect(manifestOf('brought').answers.profile).toEqual(own);
  });
});

it("create continues an identical project, and keeps the author's changes", async () => {
  const target = join(directory(), 'gas');
  await run({ directory: target });
  writeFileSync(join(target, 'src/tools/get-gas.ts'), '// mine');
  const before = tree(target);
  const { exitCode, stdout } = await run({ directory: target });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('already contains this project: continuing with it');
  expect(stdout).toContain('npm install');
  expect(tree(target)).toEqual(before);
});

/** An API on this machine that counts its requests. */
async function countingApi() {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.setHeader('content-type', 'application/json').end('{"price":1.5}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requestCount: () => count };
}

describe('create refuses', () => {
  it('a directory that is not empty, unless --force is given', async () => {
    const target = join(directory(), 'gas');
    mkdirSync(target);
    writeFileSync(join(target, 'README.md'), 'mine');
    writeFileSync(join(target, 'notes.txt'), 'mine');
    const refused = await run({ directory: target });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('is not empty: README.md, notes.txt');
    expect(tree(target)).toEqual({ 'README.md': 'mine', 'notes.txt': 'mine' });

    const forced = await run({ directory: target }, { force: true });
    expect(forced.exitCode).toBe(2);
    expect(forced.stderr).toContain('files that you have changed');
    expect(forced.stderr).toContain(': README.md');
    expect(forced.stderr).toContain('--overwrite');
    expect(tree(target)).toEqual({ 'README.md': 'mine', 'notes.txt': 'mine' });

    expect((await run({ directory: target }, { force: true, overwrite: true })).exitCode).toBe(0);
    expect(tree(target)['notes.txt']).toBe('mine');
    expect(tree(target)['README.md']).toMatch(/^# gas/);
  });

  it('to overwrite changed files in a project of its own, and names them; it writes the others', async () => {
    const target = join(directory(), 'gas');
    await run({ directory: target });
    const source = join(target, 'src/tools/get-gas.ts');
    writeFileSync(source, '// mine');
    const other = { directory: target, description: ['Returns gas. Use it often.'] };
    const refused = await run(other, { force: true });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('lost: src/tools/get-gas.ts\n');
    expect(readFileSync(source, 'utf8')).toBe('// mine');

    await run(other, { force: true, overwrite: true });
    expect(readFileSync(source, 'utf8')).toContain('Returns gas. Use it often.');
    expect((await run({ directory: target }, { force: true })).exitCode).toBe(0);
    expect(readFileSync(source, 'utf8')).not.toContain('Returns gas. Use it often.');
  });

  it('an existing project with other answers, and prints how to finish that one', async () => {
    const target = join(directory(), 'gas');
    await run({ directory: target });
    const { exitCode, stderr } = await run({ directory: target, tool: 'get_other' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('already contains a project with get_gas');
    expect(stderr).toMatch(/To finish that project: cd \S+ && npm install && npm run self-check/);
    expect(stderr).not.toContain('--force');
  });

  it('another project before a request is sent', async () => {
    const target = join(directory(), 'gas');
    await run({ directory: target });
    const api = await countingApi();
    const { exitCode, stderr } = await run({ directory: target, fromRequest: [`curl ${api.url}/prices`] });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('already contains a project with get_gas');
    expect(api.requestCount()).toBe(0);
  });

  it('a project with the same tool, before another request is sent', async () => {
    const target = join(directory(), 'gas');
    const api = await countingApi();
    const create = (url: string) =>
      run({ directory: target, tool: 'get_price', fromRequest: [`curl ${url}`], effect: 'reads' });
    expect((await create(`${api.url}/prices`)).exitCode).toBe(0);
    const otherPath = await create(`${api.url}/rates`);
    const otherAddress = await create(`${api.url.replace('127.0.0.1', 'localhost')}/prices`);
    for (const { exitCode, stderr } of [otherPath, otherAddress]) {
      expect(exitCode).toBe(2);
      expect(stderr).toContain('already contains a project with get_price');
    }
    expect(api.requestCount()).toBe(1);
    const samePath = await create(`${api.url}/prices`);
    expect(samePath.stdout).toContain('already contains this project: continuing with it');
  });

  it('the default directory before a request is sent, if it is not empty', async () => {
    const root = directory();
    mkdirSync(join(root, 'my-tool'));
    writeFileSync(join(root, 'my-tool/notes.txt'), 'mine');
    vi.spyOn(process, 'cwd').mockReturnValue(root);
    const api = await countingApi();
    const { exitCode, stderr } = await run({ fromRequest: [`curl ${api.url}/prices`] });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('my-tool is not empty: notes.txt');
    expect(api.requestCount()).toBe(0);
  });

  it('to guess if nobody can be asked', async () => {
    const { exitCode, stderr } = await run({ directory: join(directory(), 'gas') }, { yes: false });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--tool <name>');
    expect(stderr).toContain('--yes');
  });

  it.each<[string, CreateFlags, string]>([
    ['an unknown platform', { platform: 'contxt' }, 'Did you mean context?'],
    ['a platform without payment', { platform: 'mcp' }, 'has no payment rules'],
    ['a platform file that is not there', { platform: './none.json' }, 'no such file'],
    ['a spec that is not there', { spec: 'none.yaml' }, 'none.yaml: there is no such file'],
    ['a flag and a spec that say the same', { spec: 'a.json', tool: 'a' }, 'Use one or the other.'],
    ['a name that is not a tool', { tool: '../evil' }, '--tool "../evil"'],
  ])('%s', async (_, flags, message) => {
    const root = directory();
    const { exitCode, stderr } = await run({ directory: join(root, 'gas'), ...flags });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(tree(root)).toEqual({});
  });

  it('a platform file with errors, each with its path', async () => {
    const root = directory();
    const { token: _, ...rest } = generic;
    writeFileSync(join(root, 'own.yaml'), JSON.stringify({ ...rest, title: 7 }));
    const { stderr } = await run({ directory: join(root, 'gas'), platform: join(root, 'own.yaml') });
    expect(stderr).toContain('profile.token');
    expect(stderr).toContain('profile.title');
  });
});
