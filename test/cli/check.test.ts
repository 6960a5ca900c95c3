import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { toCommandError } from '../../packages/contract/src/command/errors.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { RuleResult } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { runCheck } from '../../src/cli/check/command.ts';
import type { CheckFlags } from '../../src/cli/command-flags.ts';
import { failuresOf } from '../broken/check.ts';
import { createSteps, type RunningServer, serve, type Trust } from '../broken/good-server.ts';
import { directory } from '../project/directory.ts';
import { token as runtimeToken, start as startRuntime } from '../runtime/support.ts';
import { price } from '../runtime/tools.ts';
import { outputTo } from './sinks.ts';

const issuer = 'https://ctxprotocol.com';
const audience = 'https://tools.example.com/mcp';
let server: RunningServer;
let trust: Trust;
let privateKey: KeyObject;
let pem: string;

/** Nothing listens there, and no other server will: the port is none that a system chooses. */
const silentUrl = 'http://127.0.0.1:9/mcp';

/** A definition without annotations. */
const silent = ({ annotations: _, ...tool }: JsonObject): JsonObject => tool;

beforeAll(async () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  privateKey = keys.privateKey;
  pem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  trust = { publicKey, issuer, audience };
  server = await serve(createSteps(trust, { list: (good) => () => good().map(silent) }));
});
afterAll(() => server.stop());

const none: CheckFlags = {
  call: [],
  only: [],
  skip: [],
  header: [],
  level: 'must',
  era: 'both',
  reporter: 'pretty',
  build: true,
};

/** The flags of a check that signs tokens. */
const paid = () => ({ signingKey: pem, audience, platform: 'context' });

/** Runs the command as `market-mcp check` would; returns its exit code and output. */
async function run(target: string, flags: Partial<CheckFlags> = {}) {
  const { output, stdout, stderr } = outputTo({ json: flags.json === true });
  try {
    const exitCode = await runCheck(target, output, { ...none, ...flags });
    return { exitCode, stdout: stdout.text, stderr: stderr.text };
  } catch (error) {
    const problem = toCommandError(error);
    return { exitCode: problem.exitCode, stdout: stdout.text, stderr: stderr.text, problem };
  }
}

async function reportOf(flags: Partial<CheckFlags>) {
  const { stdout } = await run(server.url, { json: true, ...flags });
  const { rules, ...rest } = JSON.parse(stdout);
  const status = new Map<string, string>(
    rules.map(({ id, status }: { id: string; status: string }) => [id, status]),
  );
  return { ...rest, rules, status };
}

describe('market-mcp check <url>', () => {
  it('judges rules without a token if there is none, and does not run the others', async () => {
    const { exitCode, stdout } = await run(server.url);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('not run');
    expect(stdout).toContain('no private key to sign platform tokens with (give --signing-key <pem>');
    expect((await run(server.url, { requireAll: true })).exitCode).toBe(1);
  });

  it("signs the platform's tokens with the given key", async () => {
    const { status, rehearsal, ok } = await reportOf({ ...paid(), call: ['*'] });
    expect(ok).toBe(true);
    expect(status.get('gate.expired')).toBe('pass');
    expect(status.get('submission.text')).toBe('pass');
    expect(rehearsal.map(({ tool, status }: Record<string, string>) => [tool, status])).toEqual([
      ['get_price', 'pass'],
      ['list_coins', 'pass'],
    ]);
  });

  it('calls with the one given token, and makes the forgeries that need no key', async () => {
    const token = await (await createSigner(context.token, audience, { issuer, privateKey })).token();
    const { status } = await reportOf({ token, platform: 'context', call: ['*'] });
    expect(
      ['gate.valid-token', 'gate.wrong-key', 'gate.alg-none', 'submission.text', 'result.fits'].map((id) =>
        status.get(id),
      ),
    ).toEqual(Array(5).fill('pass'));
    expect(status.get('gate.expired')).toBe('not-run');
  });

  it('with one token, fails no rule on a correct server and does not run the rules that need another token', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    const tool = { ...price, title: 'Price of a coin', annotations };
    const { url } = await startRuntime({ tools: [tool], env: { ALLOWED_HOSTS: '*' } });
    const token = await runtimeToken({ exp: Math.floor(Date.now() / 1000) + 1_200 });
    const { exitCode, stdout } = await run(url, { json: true, token });
    const rules: readonly RuleResult[] = JSON.parse(stdout).rules;
    expect([exitCode, failuresOf(rules)]).toEqual([0, []]);
    const reason = 'this rule needs a token with another header or other claims';
    const skippedRules = rules.filter(({ id, status }) => id.startsWith('gate.') && status === 'not-run');
    expect(skippedRules.filter((rule) => rule.reason !== reason)).toEqual([]);
    expect(skippedRules.map(({ id }) => id.replace('gate.', ''))).toEqual([
      ...['public-key-as-secret', 'other-algorithm', 'expired-after-success', 'expired', 'expired-lately'],
      ...['no-expiry', 'long-lived', 'not-yet-valid', 'issued-later', 'wrong-issuer'],
      'wrong-audience',
      ...[
        'several-audiences',
        'claim-types',
        'unknown-critical',
        'other-type',
        'unknown-key-id',
        'large-token',
      ],
    ]);
  });

  it('calls only tools that are known to be harmless, and prints so first', async () => {
    const { stdout, stderr } = await run(server.url, paid());
    expect(stderr).toContain('No tool will be called.\nThese will not be called (--call <tool> allows it):');
    expect(stderr).toContain('  get_price: it does not declare readOnlyHint');
    expect(stdout).toContain(
      'no tool may be called, because each call might do harm (name the tool with --call <tool>',
    );
    const { calls, status, ok } = await reportOf({ ...paid(), call: ['list_coins'] });
    expect(calls).toEqual({
      called: [{ tool: 'list_coins', atMost: expect.any(Number), because: 'you allowed it by name' }],
      withheld: [
        { tool: 'get_price', atMost: expect.any(Number), because: 'it does not declare readOnlyHint' },
      ],
    });
    expect([ok, status.get('result.content'), status.get('gate.batch')]).toEqual([true, 'pass', 'pass']);
  });

  it('makes the calls in a file of examples and judges their outcomes', async () => {
    const file = join(directory(), 'examples.yaml');
    writeFileSync(
      file,
      'tools:\n  get_price:\n' +
        '    - {arguments: {symbol: BTC}, expect: found}\n    - {arguments: {symbol: ETH}, expect: empty}\n',
    );
    const { rules, calls } = await reportOf({ ...paid(), examples: file });
    expect(calls.called).toMatchObject([{ tool: 'get_price' }]);
    const [found, empty, fail] = ['found', 'empty', 'fail'].map((kind) =>
      rules.find(({ id }: { id: string }) => id === `outcome.${kind}`),
    );
    expect([found.status, empty.status, fail.status]).toEqual(['pass', 'fail', 'not-run']);
    expect(empty.problems[0].path).toContain('ETH');
  });

  it.each<[Partial<CheckFlags>, string, string]>([
    [
      { call: ['get_prize'] },
      '--call "get_prize": the server lists no such tool.',
      'Did you mean get_price?',
    ],
    [{ call: ['x'] }, '--call "x": the server lists no such tool.', 'Its tools are: get_price, list_coins.'],
  ])('refuses the unlisted tool %j', async (flags, message, hint) => {
    const { exitCode, problem, stdout } = await run(server.url, { signingKey: pem, audience, ...flags });
    expect({ exitCode, message: problem?.message, hint: problem?.hint, stdout }).toEqual({
      exitCode: 2,
      message,
      hint,
      stdout: '',
    });
  });

  it('runs only the selected rules', async () => {
    const { status } = await reportOf({ only: ['health', 'tool.name'], skip: ['health.fields'] });
    expect([...status.keys()]).toEqual([
      'tool.name',
      ...['health.ready-paid', 'health.ready-key'],
      ...['health.status', 'health.in-time', 'health.query', 'health.type', 'health.ready'],
    ]);
    const { problem } = await run(server.url, { only: ['healt'] });
    expect(problem).toMatchObject({ code: 'INVALID_INPUT', hint: 'Did you mean health?' });
  });

  it('saves a baseline and a listing, and compares with them', async () => {
    const root = directory();
    const [known, listing] = [join(root, 'known.json'), join(root, 'listing.json')];
    await run(server.url, { saveBaseline: known, saveListing: listing });
    const recorded = JSON.parse(readFileSync(known, 'utf8')).known;
    expect(recorded.map(({ rule }: { rule: string }) => rule)).toEqual([
      ...['fit.hints', 'fit.hints-complete', 'fit.hints', 'fit.hints-complete'],
    ]);
    const { tools } = JSON.parse(readFileSync(listing, 'utf8'));
    writeFileSync(listing, JSON.stringify([{ ...tools[0], description: 'Another.' }]));
    const { drift } = await reportOf({ against: listing, only: ['tool'] });
    expect(drift).toMatchObject({ against: listing, refreshNeeded: true });
    expect(
      drift.changes.map(({ tool, path, breaks }: object & Record<string, unknown>) => [tool, path, breaks]),
    ).toEqual([
      ['get_price', 'description', false],
      ['list_coins', undefined, false],
    ]);
    writeFileSync(known, JSON.stringify({ known: [{ rule: 'tool.name' }] }));
    expect((await run(server.url, { baseline: known, only: ['tool'] })).exitCode).toBe(1);
    expect(existsSync(`${known}.${process.pid}.tmp`)).toBe(false);
  });

  it('sends the given headers', async () => {
    const seen = new Set<unknown>();
    const guarded = await serve(
      createSteps(trust, {
        answer: (good) => (request) => {
          seen.add(request.headers['x-api-key']);
          return good(request);
        },
      }),
    );
    await run(guarded.url, { header: ['X-Api-Key: a: b'], only: ['health', 'discovery'] });
    await guarded.stop();
    expect([...seen]).toEqual(['a: b']);
  });

  it('exits with 3 if nothing answers', async () => {
    const { exitCode, problem } = await run(silentUrl);
    expect([exitCode, problem?.code]).toEqual([3, 'UNREACHABLE']);
    expect(problem?.hint).not.toContain('proxy');
  });

  it('writes a report with one error for JUnit and SARIF if nothing answers', async () => {
    const junit = await run(silentUrl, { reporter: 'junit' });
    expect([junit.exitCode, junit.problem?.code]).toEqual([3, 'UNREACHABLE']);
    expect(junit.stdout).toContain(
      '<testsuite name="endpoint" tests="1" failures="0" errors="1" skipped="0"',
    );
    expect(junit.stdout).toMatch(
      /<testcase [^>]*name="endpoint\.reachable: [^>]*>\s*<error type="unreachable" /,
    );
    const sarif = await run(silentUrl, { reporter: 'sarif' });
    expect(sarif.exitCode).toBe(3);
    const [{ invocations, results }] = JSON.parse(sarif.stdout).runs;
    expect(invocations).toEqual([{ executionSuccessful: false, exitCode: 3 }]);
    expect(results).toMatchObject([{ ruleId: 'endpoint.reachable', level: 'error' }]);
    expect((await run(silentUrl, { reporter: 'pretty' })).stdout).toBe('');
  });

  it('connects directly if a proxy is set, and mentions it if the server does not answer', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']) {
      vi.stubEnv(name, 'http://127.0.0.1:9');
    }
    const { exitCode } = await run(server.url, { only: ['health'] });
    expect(exitCode).toBe(0);
    const { problem } = await run(silentUrl);
    expect(problem?.hint).toContain(
      'The program connects directly: it does not use the proxy in HTTPS_PROXY.',
    );
  });

  it.each<[string, Partial<CheckFlags>, string]>([
    ['http://', {}, '[target]'],
    ['http://127.0.0.1:99999/mcp', {}, '[target]'],
    ['ftp://127.0.0.1/mcp', {}, '[target]'],
    ['localhost:3000/mcp', {}, 'neither a directory nor an HTTP URL'],
    ['127.0.0.1:3000/mcp', {}, 'neither a directory nor an HTTP URL'],
    ['tools.example.com/mcp', {}, 'neither a directory nor an HTTP URL'],
    ['http://user:secret@127.0.0.1/mcp', {}, 'a user or a password'],
    ['http://127.0.0.1/mcp', { timeout: '0' }, '--timeout'],
    ['http://127.0.0.1/mcp', { timeout: '1e9' }, '--timeout'],
    ['http://127.0.0.1/mcp', { deadline: '0' }, '--deadline'],
    ['http://127.0.0.1/mcp', { examples: 'no-such.json' }, 'no-such.json'],
    ['.', { call: ['get_price'] }, '--call'],
    ['http://127.0.0.1/mcp', { issuer: 'x' }, '--issuer'],
    ['http://127.0.0.1/mcp', { audience: 'x' }, '--audience'],
    ['http://127.0.0.1/mcp', { skip: ['gate'], only: ['gate.no-token'] }, 'leaves no rule'],
    ['http://127.0.0.1/mcp', { baseline: 'no-such.json' }, 'no-such.json'],
    ['http://127.0.0.1/mcp', { against: 'no-such.json' }, 'no-such.json'],
    ['http://127.0.0.1/mcp', { saveBaseline: 'no/such/directory.json' }, 'cannot be written'],
    ['http://127.0.0.1/mcp', { saveListing: '.' }, 'cannot be written'],
    ['http://127.0.0.1/mcp', { token: 'x' }, '--token'],
    ['http://127.0.0.1/mcp', { token: 'x', signingKey: 'y' }, '--token'],
    ['http://127.0.0.1/mcp', { signingKey: '-----BEGIN nonsense' }, '--signing-key'],
    ['http://127.0.0.1/mcp', { header: ['no header\r\nx: y'] }, '--header'],
    ['http://127.0.0.1/mcp', { header: ['authorization: Bearer secret'] }, '--token'],
    ['http://127.0.0.1/mcp', { platform: 'contex' }, '--platform'],
    ['http://127.0.0.1/mcp', { watch: true }, '--watch'],
    ['.', { token: 'a.b.c' }, '--token'],
  ])('refuses %s with %o', async (target, flags, where) => {
    const { exitCode, problem } = await run(target, flags);
    expect(exitCode).toBe(2);
    const told = [problem?.message, problem?.hint, ...(problem?.details ?? [])].join('\n');
    expect(told).toContain(where);
    expect(told).not.toContain('secret');
  });

  it.each<['baseline' | 'examples', string, string]>([
    ['baseline', '', 'JSON'],
    ['baseline', '{"known":[', 'JSON'],
    ['baseline', '{"known":{}}', 'known: expected type array'],
    ['baseline', '{"known":[{"rule":5}]}', 'known[0].rule'],
    ['baseline', '{"known":[{"rule":"gate.no-tokn"}]}', '"gate.no-tokn"'],
    ['baseline', '{"known":[],"__proto__":{}}', '__proto__'],
    ['baseline', '[]', 'expected type object'],
    ['examples', '{"get_price":[]}', 'file.json.get_price: expected no property with this name'],
    ['examples', '{"tools":{"a":[{"arguments":{},"expect":"x"}]}}', 'one of ["found","empty","fail"]'],
    ['examples', '{"tools":{"a":[{"expect":"found"}]}}', '.tools.a[0].arguments: expected a value'],
    ['examples', '{"tools":{"a":{}}}', '.tools.a: expected type array'],
    ['examples', '{"tools"', 'file.json'],
  ])('refuses the file of --%s %s', async (flag, text, told) => {
    const file = join(directory(), 'file.json');
    writeFileSync(file, text);
    const { exitCode, problem } = await run('http://127.0.0.1/mcp', { [flag]: file });
    expect([exitCode, `${problem?.message} ${problem?.details}`]).toEqual([2, expect.stringContaining(told)]);
  });

  it('writes no baseline and no listing if there is nothing to write, and nothing partial', async () => {
    const root = directory();
    const [saveBaseline, saveListing] = [join(root, 'known.json'), join(root, 'listing.json')];
    expect((await run(silentUrl, { saveBaseline, saveListing })).exitCode).toBe(3);
    const mute = await serve(
      createSteps(trust, { respond: () => async () => ({ error: { code: -32603, message: 'no' } }) }),
    );
    expect((await run(mute.url, { saveListing, only: ['health'] })).problem?.code).toBe('NO_LISTING');
    await mute.stop();
    expect(readdirSync(root)).toEqual([]);
  });

  it('refuses a directory that is not a project', async () => {
    expect((await run(directory())).problem).toMatchObject({ code: 'NOT_A_PROJECT', exitCode: 2 });
  });
});
