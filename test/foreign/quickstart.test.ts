import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { Instance } from '../../packages/contract/src/target.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { failuresOf } from '../broken/check.ts';

const audience = 'https://tools.example.com/mcp';
const signer = await createSigner(context.token, audience);
const launch = createLauncher(join(import.meta.dirname, 'quickstart.js'), {
  NODE_ENV: 'development',
  PLATFORM_PUBLIC_KEY: signer.publicKey,
  PLATFORM_ISSUER: signer.issuer,
  PLATFORM_AUDIENCE: audience,
});

let report: Report;
/** Another instance, which the check has not used, and its only session. */
let other: Instance;
let session: string;

beforeAll(async () => {
  const instance = await launch({});
  report = await runContract({ url: instance.url, profile: context, signer, timeoutMs: 60_000 });
  await instance.stop();
  other = await launch({});
  session = (await send(rpc('initialize', opening))).header('mcp-session-id');
});
afterAll(() => other.stop());

const opening = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'confirmation', version: '1.0.0' },
};

const now = () => Math.floor(Date.now() / 1000);

/** Whether a call with these claims runs. */
async function runsWith(claims: Readonly<Record<string, Json | undefined>>): Promise<boolean> {
  return ran(await ask(call(), { authorization: `Bearer ${await signer.token({ claims })}` }));
}

/** For each rule that the quickstart fails: a request that reproduces the failure. The last one needs a second session. */
const confirmations: Readonly<Record<string, () => Promise<boolean>>> = {
  'output.holds-empty': async () => !(await admits({ chain: null, gwei: null, searchExhausted: true })),
  'output.holds-failure': async () => !(await admits({ chain: null, gwei: null, error: 'X', message: 'x' })),
  'output.empty-signal': async () => !(await declares('searchExhausted')),
  'output.failure-signal': async () => !(await declares('error')),
  'fit.title': async () => !('title' in (await listedTool())),
  'fit.hints': async () => !('annotations' in (await listedTool())),
  'fit.hints-complete': async () => !('annotations' in (await listedTool())),
  'modern.served': async () => !(await ask(rpc('server/discover'))).body.includes('supportedVersions'),
  'discovery.resources-list': async () => (await ask(rpc('resources/list'))).body.includes('-32601'),
  'discovery.bad-cursor': async () =>
    (await ask(rpc('tools/list', { cursor: 'never-issued' }))).body.includes('"tools":['),
  'discovery.prompts-list': async () => (await ask(rpc('prompts/list'))).body.includes('-32601'),
  'session.prototype': async () => (await send(rpc('tools/list'), named('__proto__'))).status === 500,
  'session.prototype-get': async () => (await send('', named('__proto__'), 'GET')).status === 500,
  'http.accept-absent': async () => (await ask(rpc('tools/list'), { accept: undefined })).status === 406,
  'http.accept-any': async () => (await ask(rpc('tools/list'), { accept: '*/*' })).status === 406,
  'http.accept-json': async () => (await ask(rpc('tools/list'), { accept: json })).status === 406,
  'http.accept-events': async () =>
    (await ask(rpc('tools/list'), { accept: 'text/event-stream' })).status === 406,
  'http.foreign-origin': async () =>
    (await ask(rpc('tools/list'), { origin: 'https://attacker.example' })).body.includes('"tools":['),
  'http.no-product-header': async () => (await send('', {}, 'GET', '/health')).header('x-powered-by') !== '',
  'answers.no-stack': async () => (await ask('{')).body.includes('at JSON.parse'),
  'gate.scheme-case': async () =>
    ran(await ask(call(), { authorization: `Bearer ${await signer.token()}` })) &&
    !ran(await ask(call(), { authorization: `bearer ${await signer.token()}` })),
  'gate.no-expiry': () => runsWith({ exp: undefined }),
  'gate.long-lived': () => runsWith({ exp: now() + 10 * 365 * 86_400 }),
  'gate.issued-later': () => runsWith({ iat: now() + 3_600, exp: now() + 3_720 }),
  'gate.several-audiences': () => runsWith({ aud: [audience, 'https://another.example/mcp'] }),
  'gate.other-type': async () => {
    const token = await signer.token({ header: { typ: 'secevent+jwt' } });
    return ran(await ask(call(), { authorization: `Bearer ${token}` }));
  },
  'gate.batch': async () => !ran(await ask(call())) && ran(await ask(`[${call()}]`)),
  'gate.batch-mixed': async () => ran(await ask(`[${rpc('tools/list')},${call()}]`)),
  'gate.content-type': async () => ran(await ask(call(), { 'content-type': `${json}\u00a0` })),
  'result.fits': async () => (await wronglyCalled()).includes('"structuredContent":{"chain":-0.5'),
  'call.wrong-arguments': async () => !(await wronglyCalled()).includes('isError'),
  'session.unique': async () => (await send(rpc('initialize', opening))).status === 500,
};

describe("the quickstart of a marketplace's SDK", () => {
  it('fails exactly the rules that it breaks', () => {
    expect(failuresOf(report.rules)).toEqual(Object.keys(confirmations).toSorted());
  });

  it.each(Object.keys(confirmations))(
    'reproduces the failure of %s with an independent request',
    async (rule) => {
      expect(await confirmations[rule]?.()).toBe(true);
    },
  );

  it('is not judged by rules that need a second session', () => {
    const reason = 'a second, ordinary initialize fails as well (see session.unique)';
    const unjudged = report.rules.filter((rule) => rule.reason === reason).map(({ id }) => id);
    expect(unjudged).toEqual([
      'identity.capabilities',
      'discovery.invalid-token',
      'discovery.client',
      'session.unguessable',
      'session.lasting',
      'session.two-at-once',
      'session.parallel',
      'session.get-known',
      'session.delete',
      'session.foreign-initialize',
      'protocol.platform-version',
      'protocol.later-versions',
      'protocol.unknown-version',
      'http.charset',
      'http.chunked',
      'http.any-host',
      'gate.every-call',
      'outcome.client',
      'submission.calls',
      'submission.succeeds',
      'submission.text',
      'submission.in-time',
    ]);
    expect(report.rules.filter(({ cause }) => cause === 'unanswered' || cause === 'error')).toEqual([]);
  });
});

const json = 'application/json';

let lastId = 0;

function rpc(method: string, params: object = {}): string {
  lastId += 1;
  return JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params });
}

function call(chain: Json = 'base'): string {
  return rpc('tools/call', { name: 'get_gas_price', arguments: { chain } });
}

function named(id: string): Headers {
  return { 'mcp-session-id': id };
}

type Headers = Readonly<Record<string, string | undefined>>;

interface Reply {
  readonly status: number;
  readonly body: string;
  header(name: string): string;
}

/** A POST in the session. */
function ask(body: string, headers: Headers = {}): Promise<Reply> {
  return send(body, { ...named(session), ...headers });
}

/** A request of Node's own client, independent of the check. Headers are sent byte by byte before a body of bytes. */
async function send(body: string, headers: Headers = {}, method = 'POST', path = '/mcp'): Promise<Reply> {
  const all: Headers = { accept: `${json}, text/event-stream`, 'content-type': json, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const outgoing = request(new URL(path, other.url), { method, headers: sent, agent: false });
  outgoing.end(Buffer.from(body));
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return {
    status: incoming.statusCode ?? 0,
    body: await text(incoming),
    header: (name) => String(incoming.headers[name] ?? ''),
  };
}

function ran({ body }: Reply): boolean {
  return body.includes('"gwei\\":12.5');
}

async function wronglyCalled(): Promise<string> {
  const authorization = `Bearer ${await signer.token()}`;
  return (await ask(call(-0.5), { authorization })).body;
}

async function listedTool(): Promise<{ readonly outputSchema: JsonObject }> {
  const { body } = await ask(rpc('tools/list'));
  const [, data = ''] = /^data: (.*)$/m.exec(body) ?? [];
  return JSON.parse(data).result.tools[0];
}

async function outputSchema(): Promise<JsonObject> {
  return (await listedTool()).outputSchema;
}

async function admits(answer: object): Promise<boolean> {
  return new Ajv().validate(await outputSchema(), answer) === true;
}

async function declares(field: string): Promise<boolean> {
  return JSON.stringify(await outputSchema()).includes(`"${field}":`);
}
