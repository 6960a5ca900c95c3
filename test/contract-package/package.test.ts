import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packContract } from '../../src/project/package/pack.ts';
import { type Breaks, createSteps, type RunningServer, serve } from '../broken/good-server.ts';
import { bins, type Ran, repository, run, succeeded } from '../e2e/support.ts';

/** An empty directory in which only the packed contract is installed. */
const directory = mkdtempSync(join(tmpdir(), 'market-mcp-contract-'));
const program = join(directory, 'node_modules/.bin/market-mcp-contract');
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = join(directory, 'platform.pem');
const audience = 'https://tools.example.com/mcp';
const trust = {
  publicKey: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  issuer: 'https://ctxprotocol.com',
  audience,
};
const known = ['--platform', 'context', '--signing-key', pem, '--audience', audience];
const servers = new Map<string, RunningServer>();

/** The good server, one without a gate, and one that writes numbers as text. */
const broken: Readonly<Record<string, Breaks>> = {
  good: {},
  'open gate': { authorized: () => async () => true },
  'no health': { health: () => () => ({ status: 500, headers: {}, body: '' }) },
};

beforeAll(async () => {
  for (const [name, breaks] of Object.entries(broken)) {
    servers.set(name, await serve(createSteps(trust, breaks)));
  }
  writeFileSync(pem, keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const { name, content } = packContract(repository);
  writeFileSync(join(directory, name), content);
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const options = ['install', '--offline', '--no-audit', '--no-fund', `./${name}`];
  await succeeded(run('npm', options, { cwd: directory }));
});

afterAll(async () => {
  for (const server of servers.values()) await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

function urlOf(server: string): string {
  return servers.get(server)?.url ?? '';
}

function both(args: readonly string[]): Promise<readonly Ran[]> {
  const options = { cwd: directory };
  return Promise.all([
    run(program, args, options),
    run(process.execPath, [bins.market, 'check', ...args], options),
  ]);
}

/** A report without what differs from run to run: durations, and the words of the other program. */
function settled(text = ''): string {
  return text
    .replaceAll(/"ms":[\d.]+/g, '"ms":0')
    .replaceAll(/\b[\d.]+ (s|ms)\b/g, '0 $1')
    .replaceAll(/time="[\d.]+"/g, 'time="0"')
    .replaceAll(/\| \d+ \| ✓ \|/g, '| 0 | ✓ |')
    .replaceAll(/(npx market-mcp-contract|node \S*market-mcp\.js)( check)?/g, 'program');
}

describe('the packed contract', () => {
  it('is small, and depends on nothing', () => {
    const installed = join(directory, 'node_modules/market-mcp-contract');
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(manifest.exports)).toEqual(['.', './platforms']);
    expect(manifest).not.toHaveProperty('dependencies');
    expect(JSON.stringify(manifest)).not.toContain('market-mcp-source');
    expect(packContract(repository).content.byteLength).toBeLessThan(320_000);
    expect(statSync(join(installed, 'dist/LICENSES.txt')).size).toBeGreaterThan(1_000);
    expect(existsSync(join(directory, 'node_modules/ajv'))).toBe(false);
  });

  describe.each(Object.keys(broken))('on a server (%s)', (server) => {
    it('gives the verdict of market-mcp check, rule by rule', async () => {
      const [ours, theirs] = await both([urlOf(server), ...known, '--json']);
      expect(ours?.status).toBe(theirs?.status);
      expect(ours?.status).toBe(server === 'good' ? 0 : 1);
      const [own, other] = [ours, theirs].map((ran) => JSON.parse(ran?.stdout ?? ''));
      expect(own.rules.length).toBeGreaterThan(200);
      const verdicts = (report: typeof own) =>
        report.rules.map(({ id, level, status, problems }: typeof own) => ({ id, level, status, problems }));
      // Problems may hold ports and ids of sessions, so they are compared by their number.
      const counted = (report: typeof own) =>
        verdicts(report).map((rule: typeof own) => ({ ...rule, problems: rule.problems.length }));
      expect(counted(own)).toEqual(counted(other));
    });
  });

  it('judges by the protocol alone unless a platform is named, and says so', async () => {
    const ran = await run(program, [urlOf('open gate'), '--only', 'tool,gate'], { cwd: directory });
    expect(ran.stderr).toContain('Judged by the Model Context Protocol and HTTP alone: --platform mcp.');
    expect(ran.stdout).toContain('(platform mcp)');
    expect(ran.stdout).not.toContain('gate.');
  });

  it.each([
    ['pretty', 'no health'],
    ['junit', 'no health'],
    ['sarif', 'no health'],
    ['github', 'no health'],
    ['markdown', 'no health'],
    ['pretty', 'good'],
  ])('writes the same report: %s of a server (%s)', async (name, server) => {
    const flags = ['--only', 'tool,input,output,health', '--verbose', '--reporter', name];
    const [ours, theirs] = await both([urlOf(server), ...known, ...flags]);
    expect(settled(ours?.stdout)).toBe(settled(theirs?.stdout));
    expect(ours?.stdout.length).toBeGreaterThan(50);
  });

  it.each([
    [['nowhere/mcp'], 2, 'is neither a directory nor an HTTP URL'],
    [['http://127.0.0.1:1/mcp'], 3, 'does not answer'],
    [['http://127.0.0.1:1/mcp', '--platform', 'contxt'], 2, 'Did you mean context?'],
    [['http://127.0.0.1:1/mcp', '--only', 'gat'], 2, 'Did you mean gate?'],
    [['http://127.0.0.1:1/mcp', '--timeout', 'soon'], 2, '--timeout "soon"'],
    [['http://127.0.0.1:1/mcp', '--issuer', 'x'], 2, '--issuer works only with --signing-key'],
    [
      ['http://127.0.0.1:1/mcp', '--token', '$NO_SUCH_JWT'],
      2,
      'the environment variable NO_SUCH_JWT is not set',
    ],
    [
      ['http://127.0.0.1:1/mcp', '--header', '$NO_SUCH_KEY'],
      2,
      'the environment variable NO_SUCH_KEY is not set',
    ],
    [['http://127.0.0.1:1/mcp', '--live'], 2, "unknown option '--live'"],
    [['http://127.0.0.1:1/mcp', 'another'], 2, 'too many arguments'],
    [['explain', 'gate.no-tokn'], 2, 'Did you mean gate.no-token?'],
  ])('refuses %j', async (args, status, words) => {
    const ran = await run(program, args, { cwd: directory });
    expect(ran.status, ran.stderr).toBe(status);
    expect(ran.stderr).toContain(words);
  });

  it('explains rules, and prints its version and help', async () => {
    const explained = await run(program, ['explain', 'gate.no-token'], { cwd: directory });
    expect(explained.stdout).toContain('✗ fails');
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    expect((await run(program, ['--version'], { cwd: directory })).stdout).toBe(version);
    expect((await run(program, [], { cwd: directory })).stdout).toContain('--signing-key');
  });

  it('is a library and a matcher, with types', async () => {
    const use = join(directory, 'use.ts');
    writeFileSync(
      use,
      `import { check, type CheckReport, inspectTools, rules, toMeetTheContract } from 'market-mcp-contract';
import { platforms } from 'market-mcp-contract/platforms';
const [good = '', open = ''] = process.argv.slice(2);
const report: CheckReport = await check(good, { platform: 'context', only: ['tool', 'gate.no-token'] });
const matched = await toMeetTheContract(open, { platform: 'generic', only: ['gate.no-token'], call: ['get_gas_price'] });
const refused = await check('x').catch((error: Error) => error.name + ': ' + error.message);
const off = await check(good, { only: ['gate.no-token'] }).catch((error: Error) => error.message);
const unknown = await check(good, { only: ['gat'] }).catch((error: Error) => error.name + ': ' + error.message);
const [first] = inspectTools([{ name: 1 }]).filter(({ status }) => status === 'fail');
const names: readonly string[] = platforms.map(({ name }) => name);
console.log(JSON.stringify({ ok: report.ok, pass: matched.pass, message: matched.message(), refused, off, unknown, first: first?.id, names, rules: rules.length }));
// @ts-expect-error a platform is a name or a profile
if (good === 'never') await check(good, { platform: 1 });
`,
    );
    const tsc = join(repository, 'node_modules/typescript/bin/tsc');
    const types = ['--typeRoots', join(repository, 'node_modules/@types'), '--types', 'node'];
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', ...types];
    execFileSync(process.execPath, [tsc, ...strict, use], { cwd: directory, stdio: 'pipe' });
    const ran = await succeeded(
      run(process.execPath, ['use.js', urlOf('good'), urlOf('open gate')], {
        cwd: directory,
      }),
    );
    const { rules, ...used } = JSON.parse(ran.stdout);
    expect(rules).toBeGreaterThan(200);
    expect(used).toMatchObject({ ok: true, pass: false, first: 'tool.name' });
    expect(used.message).toContain('gate.no-token');
    expect(used.refused).toContain('TypeError: url "x" is neither');
    expect(used.off).toBe('the platform mcp asks for none of the selected rules');
    expect(used.unknown).toContain('RangeError: only "gat": unknown rule');
    expect(used.names).toContain('context');
  });
});
