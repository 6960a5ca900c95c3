import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lookAtServer } from '../../packages/contract/src/check/availability.ts';
import { changesBetween } from '../../packages/contract/src/check/drift.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { edited, good } from '../broken/edited.ts';
import { type Breaks, createSteps, listening, serve } from '../broken/good-server.ts';
import { trust } from '../broken/trust.ts';
import { instead, methodOf, withAnswer } from '../broken/variant.ts';
import { market } from '../e2e/support.ts';
import { listen } from '../listen.ts';
import { directory as newDirectory } from '../project/directory.ts';

const directory = newDirectory();

/** No key set: each test of keys has its own. */
const profile = { ...context, token: { ...context.token, jwksUrl: null } };

async function looksAt(
  breaks: Breaks,
  options: { profile?: PlatformProfile; listed?: readonly Json[] } = {},
) {
  const server = await serve(createSteps(trust, breaks));
  const before = options.listed ?? good;
  const earlier = {
    file: 'listing.json',
    changesTo: (tools: readonly Json[]) => changesBetween(before, tools),
  };
  try {
    return await lookAtServer({ url: server.url, profile: options.profile ?? profile }, earlier);
  } finally {
    await server.stop();
  }
}

const failed = ({ looks }: Awaited<ReturnType<typeof looksAt>>) =>
  looks.filter(({ status }) => status === 'fail').map(({ id }) => id);

describe('the daily look at a server', () => {
  it('finds nothing at a good server, and runs no tool', async () => {
    const called: string[] = [];
    const report = await looksAt({
      call:
        (run) =>
        async (name, ...rest) => {
          called.push(String(name));
          return run(name, ...rest);
        },
    });
    expect(report.looks.map(({ id, status }) => [id, status])).toEqual([
      ...['answer', 'discovery', 'gate', 'list'].map((id) => [id, 'pass']),
      ...['certificate', 'keys'].map((id) => [id, 'not-run']),
    ]);
    expect([report.ok, report.answered, report.drift?.changes, called]).toEqual([true, true, [], []]);
  });

  const answering = (method: string, status: number, body: Json = {}) =>
    instead((request) => (methodOf(request) === method ? { status, body } : undefined));
  it.each<readonly [string, Breaks, readonly string[]]>([
    ['a failing initialize', answering('initialize', 500), ['answer']],
    ['tools behind a token', answering('tools/list', 401), ['discovery']],
    ['resources behind a token', answering('resources/list', 401), ['discovery']],
    ['no tools', { list: () => () => [] }, ['discovery', 'list']],
    ['a call that needs no token', { authorized: () => async () => true }, ['gate']],
    [
      'another refusal',
      withAnswer((answer) => (answer.status === 401 ? { ...answer, status: 200 } : answer)),
      ['gate'],
    ],
    [
      'another list',
      { list: () => () => edited({ description: 'Another text, of another tool.' }) },
      ['list'],
    ],
  ])('fails at %s', async (_, breaks, ids) => {
    const report = await looksAt(breaks);
    expect([failed(report), report.ok, report.answered]).toEqual([ids, false, true]);
    for (const { status, fix } of report.looks) expect(fix !== undefined).toBe(status === 'fail');
  });

  it('asks a tool that reads for the refusal, with arguments that its schema refuses', async () => {
    const asked: string[] = [];
    await looksAt(
      instead((request) => {
        if (methodOf(request) === 'tools/call') asked.push(request.body ?? '');
        return undefined;
      }),
    );
    const { name, arguments: args } = JSON.parse(asked[0] ?? '').params;
    const tool = good.find((one) => one.name === name);
    expect([asked.length, tool?.annotations]).toMatchObject([1, { readOnlyHint: true }]);
    const { Ajv } = await import('ajv');
    expect(new Ajv({ strict: false }).validate(tool?.inputSchema as object, args)).toBe(false);
  });

  it('fails where a slow start takes longer than the platform waits', async () => {
    const impatient = { ...profile, limits: { ...profile.limits, initializeMs: 0 } };
    expect(failed(await looksAt({}, { profile: impatient }))).toEqual(['answer']);
  });

  it.each([
    ['its own key', [profile.token.fallbackKey?.pem], 'pass'],
    ['other keys', [undefined], 'fail'],
    ['no keys', [], 'pass'], // the key of the profile counts, as for a key set that is not served
  ] as const)('looks whether a key set has %s', async (_, pems, status) => {
    const { createPublicKey } = await import('node:crypto');
    const keys = pems.map((pem) =>
      (pem === undefined
        ? generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
        : createPublicKey(pem)
      ).export({ format: 'jwk' }),
    );
    const set = await listening(createServer((_request, response) => response.end(JSON.stringify({ keys }))));
    onTestFinished(() => set.stop());
    const given = { ...context, token: { ...context.token, jwksUrl: set.url } };
    const { looks } = await looksAt({}, { profile: given });
    expect(looks.find(({ id }) => id === 'keys')).toMatchObject({ status });
    const alone = { ...given, token: { ...given.token, fallbackKey: null } };
    const { looks: more } = await looksAt({}, { profile: alone });
    expect(more.find(({ id }) => id === 'keys')?.status).toBe(keys.length > 0 ? 'pass' : 'fail');
  });
});

describe('market-mcp check --availability', () => {
  const program = (args: readonly string[], env = {}) =>
    market(['check', '--availability', ...args], {
      cwd: directory,
      env: { ...process.env, ...env },
    });

  it('prints one screen or JSON, and exits with 1 for a miss and with 3 for silence', async () => {
    const server = await serve(createSteps(trust, { authorized: () => async () => true }));
    const text = await program([server.url]);
    expect([text.status, text.stdout.split('\n').length]).toEqual([1, 8]);
    expect(text.stdout).toContain('✗ an unpaid call is refused: expected HTTP 4');
    const json = await program([server.url, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, answered: true, target: server.url });
    await server.stop();
    expect((await program([server.url, '--json'])).status).toBe(3);
    const deployed = await market(['check', '--deploy', 'watch'], { cwd: directory });
    expect([deployed.status, deployed.stderr]).toEqual([
      2,
      expect.stringContaining('it is a workflow that looks'),
    ]);
    const wrong = await program(['tools.example.com']);
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('Write the scheme')]);
  });

  it.each([
    ['--only', ['--only', 'health']],
    ['--no-build', ['--no-build']],
    ['--watch', ['--watch']],
    ['--token', ['--token', 'a.b.c']],
    ['--level', ['--level', 'should']],
    ['--reporter', ['--reporter', 'junit']],
    ['--summary', ['--summary', 'summary.md']],
    ['--save-listing', ['--save-listing']],
  ])('cannot be combined with %s, and then sends and writes nothing', async (flag, args) => {
    let requests = 0;
    const counting = await listening(
      createServer((_request, response) => {
        requests += 1;
        response.end();
      }),
    );
    onTestFinished(() => counting.stop());
    const files = readdirSync(directory);
    const { status, stderr } = await program([counting.url, ...args]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`${flag} cannot be combined with`)]);
    expect([requests, readdirSync(directory)]).toEqual([0, files]);
  });

  it.each([[[]], [['.']]])('needs the URL of a server: %j is not enough', async (args) => {
    const { status, stderr } = await program(args);
    expect([status, stderr]).toEqual([2, expect.stringContaining('--availability works only with a URL')]);
  });

  it('takes --against, --platform and --header', async () => {
    const headers: unknown[] = [];
    const server = await serve(
      createSteps(
        trust,
        instead((request) => {
          headers.push(request.headers['x-api-key']);
          return undefined;
        }),
      ),
    );
    onTestFinished(() => server.stop());
    writeFileSync(join(directory, 'earlier.json'), JSON.stringify({ tools: [] }));
    const flags = ['--against', 'earlier.json', '--platform', 'context', '--header', 'X-Api-Key: 7'];
    const { status, stdout } = await program([server.url, ...flags, '--json']);
    const report = JSON.parse(stdout);
    expect([status, report.platform, report.drift.changes.length]).toEqual([1, 'context', good.length]);
    expect(new Set(headers)).toEqual(new Set(['7']));
  });

  it.each([
    ['a certificate of 90 days', 90, true, 0],
    ['a certificate of 5 days', 5, true, 1],
    ['a certificate that nobody signed', 90, false, 3],
  ] as const)('judges %s', async (_, days, isTrusted, status) => {
    const name = join(directory, `${days}-${isTrusted}`);
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', String(days), ...subject, ...files],
      {
        stdio: 'ignore',
      },
    );
    const plain = await serve(createSteps(trust));
    const certificate = { key: readFileSync(`${name}.key`), cert: readFileSync(`${name}.pem`) };
    const front = createTlsServer(certificate, (socket) => {
      const behind = connect(Number(new URL(plain.url).port), '127.0.0.1');
      socket.on('error', () => behind.destroy()).pipe(behind);
      behind.on('error', () => socket.destroy()).pipe(socket);
    });
    onTestFinished(() => plain.stop());
    const url = `https://localhost:${await listen(front)}/mcp`;
    const { stdout, status: exit } = await program(
      [url, '--json'],
      isTrusted ? { NODE_EXTRA_CA_CERTS: `${name}.pem` } : {},
    );
    const { looks } = JSON.parse(stdout);
    const look = looks.find(({ id }: { id: string }) => id === 'certificate');
    expect([exit, look.status]).toEqual([status, status === 0 ? 'pass' : 'fail']);
    expect(look.says).toMatch(isTrusted ? /^valid until \d{4}-\d\d-\d\d, \d+ days$/ : /not trusted/);
  });
});
