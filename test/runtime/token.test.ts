import * as oauth from 'oauth4webapi';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type ClientCredentials, clientCredentials } from '../../packages/runtime/src/source/access-token.ts';
import { httpSource } from '../../packages/runtime/src/source/http-source.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { type Answer, errorOf, gas, json, sourceServer } from './source-server.ts';

beforeEach(() => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  return () => {
    logged.mockRestore();
    vi.useRealTimers();
  };
});

const id = 'client id:ü';
const word = 's3cret/of+the client';
const keys = { id: new Secret('GAS_CLIENT_ID', id), secret: new Secret('GAS_CLIENT_SECRET', word) };
const issued =
  (token: string, more: object = { token_type: 'Bearer', expires_in: 3600 }): Answer =>
  (_, response) =>
    json(response, { access_token: token, ...more });

/** An API that asks for the tokens of a token endpoint; `token-2` is wrong if the API says so. */
async function served(tokens: Answer, options: Partial<ClientCredentials> = {}, api?: Answer) {
  const issuer = await sourceServer(tokens);
  const server = await sourceServer(api ?? ((_, response) => json(response, { gwei: 1 })));
  const authorization = clientCredentials({ tokenUrl: `${issuer.url}/token`, ...keys, ...options });
  const source = httpSource({
    baseUrl: server.url,
    headers: { authorization },
    retries: 0,
    timeoutMs: 60_000,
  });
  const sent = () => server.received.map(({ headers }) => headers.authorization);
  return { source, issuer, server, sent, get: () => source.get('/x', { schema: gas }) };
}

describe('a token', () => {
  it.each([
    ['basic', oauth.ClientSecretBasic(word)],
    ['body', oauth.ClientSecretPost(word)],
  ] as const)('is asked for as oauth4webapi asks, by %s', async (send, authentication) => {
    const { get, issuer, sent } = await served(issued('token-1'), {
      send,
      scope: 'read write',
      parameters: { audience: 'a' },
    });
    expect(await get()).toEqual({ gwei: 1 });
    expect(sent()).toEqual(['Bearer token-1']);
    const as = { issuer: issuer.url, token_endpoint: `${issuer.url}/token` };
    const parameters = { scope: 'read write', audience: 'a' };
    const theirs = await oauth.clientCredentialsGrantRequest(
      as,
      { client_id: id },
      authentication,
      parameters,
      {
        [oauth.allowInsecureRequests]: true,
      },
    );
    expect((await oauth.processClientCredentialsResponse(as, { client_id: id }, theirs)).access_token).toBe(
      'token-1',
    );
    const [own, judge] = issuer.received.map(({ method, headers, body }) => ({
      method,
      authorization: headers.authorization,
      type: headers['content-type']?.split(';')[0],
      body: Object.fromEntries(new URLSearchParams(body)),
    }));
    expect(own).toEqual(judge);
  });

  it('can be asked for with id and secret as they are', async () => {
    const { get, issuer } = await served(issued('token-1'), { send: 'basicPlain' });
    await get();
    const pair = Buffer.from(`${id}:${word}`).toString('base64');
    expect(issuer.received[0]?.headers.authorization).toBe(`Basic ${pair}`);
  });

  // What oauth4webapi refuses: the type of eBay, none, a list of scopes, another status.
  it.each([
    ['the type of eBay', { token_type: 'Application Access Token', expires_in: '7200' }, 200],
    ['no type and no end', {}, 200],
    ['a list of scopes', { token_type: 'bearer', scope: ['read'] }, 201],
  ])('is taken with %s', async (_, more, status) => {
    const { get, sent } = await served((__, response) =>
      json(response, { access_token: 'token-1', ...more }, status),
    );
    expect(await get()).toEqual({ gwei: 1 });
    expect(sent()).toEqual(['Bearer token-1']);
  });

  it('is fetched once for many calls, and again shortly before its end', async () => {
    let count = 0;
    vi.useFakeTimers({ toFake: ['Date'] });
    const { source, get, issuer, sent } = await served((_, response) => {
      count += 1;
      json(response, { access_token: `token-${count}`, expires_in: 600 });
    });
    await Promise.all(Array.from({ length: 20 }, (_, i) => source.get('/x', { query: { i } })));
    expect(new Set(sent())).toEqual(new Set(['Bearer token-1']));
    vi.setSystemTime(Date.now() + 535_000);
    await get();
    expect(issuer.received).toHaveLength(1);
    vi.setSystemTime(Date.now() + 10_000);
    await get();
    expect(sent().at(-1)).toBe('Bearer token-2');
    expect(issuer.received).toHaveLength(2);
  });

  it('that the API refuses with 401 is replaced once, also for a write; one that it forbids is not', async () => {
    let count = 0;
    const tokens: Answer = (_, response) => {
      count += 1;
      json(response, { access_token: `token-${count}` });
    };
    const refusing =
      (status: number, good: string): Answer =>
      (request, response) =>
        json(response, { gwei: 1 }, request.headers.authorization === good ? 200 : status);
    const once = await served(tokens, {}, refusing(401, 'Bearer token-2'));
    expect(await once.source.post('/x', { json: {}, schema: gas })).toEqual({ gwei: 1 });
    expect(once.sent()).toEqual(['Bearer token-1', 'Bearer token-2']);
    const never = await served(tokens, {}, refusing(401, ''));
    expect((await errorOf(never.get())).code).toBe('SOURCE_REFUSED');
    expect(never.sent()).toHaveLength(2);
    const forbidden = await served(tokens, {}, refusing(403, ''));
    expect((await errorOf(forbidden.get())).code).toBe('SOURCE_REFUSED');
    expect(forbidden.sent()).toHaveLength(1);
  });

  it.each([
    ['initialize', undefined],
    ['tools/call', undefined],
    ['tools/call', '2026-07-28'],
  ] as const)(
    'that an MCP server refuses with 401 at %s, version %s, is replaced once',
    async (refused, protocolVersion) => {
      let count = 0;
      const issuer = await sourceServer((_, response) => {
        count += 1;
        json(response, { access_token: `token-${count}` });
      });
      let good = 'Bearer token-2';
      const calls: string[] = [];
      const server = await sourceServer(({ body, headers: { authorization } }, response) => {
        const { id, method } = JSON.parse(body);
        if (method === refused) calls.push(String(authorization));
        if (method === refused && authorization !== good) return json(response, {}, 401);
        if (id === undefined) return response.writeHead(202).end();
        const structuredContent = { gwei: 1 };
        const result =
          method === 'initialize'
            ? { protocolVersion: '2025-06-18', capabilities: {} }
            : { content: [], structuredContent };
        json(response, { jsonrpc: '2.0', id, result });
      });
      const authorization = clientCredentials({ tokenUrl: `${issuer.url}/token`, ...keys });
      const { call } = mcpSource({
        baseUrl: server.url,
        headers: { authorization },
        ...(protocolVersion !== undefined && { protocolVersion }),
      });
      expect(await call('get_gas', { schema: gas })).toEqual({ gwei: 1 });
      expect(calls).toEqual(['Bearer token-1', 'Bearer token-2']);
      good = 'none';
      if (refused === 'initialize') return;
      const line = () => JSON.parse(String(vi.mocked(console.error).mock.lastCall?.[0]));
      expect((await errorOf(call('get_gas', { schema: gas }))).code).toBe('SOURCE_REFUSED');
      expect(calls.slice(2)).toEqual(['Bearer token-2', 'Bearer token-3']);
      expect(line()).toMatchObject({ status: 401, path: '/get_gas' });
    },
  );

  it('is removed from an answer that repeats it', async () => {
    const { source } = await served(issued('token-of-this-server'), {}, (request, response) =>
      json(response, { said: request.headers.authorization }),
    );
    expect(await source.get('/x', {})).toEqual({ said: 'Bearer [secret]' });
  });

  it('is waited for by others when one caller leaves', async () => {
    let answer = () => {};
    const { source, issuer } = await served((_, response) => {
      answer = () => json(response, { access_token: 'token-1' });
    });
    const gone = new AbortController();
    const left = errorOf(source.get('/a', { signal: gone.signal }));
    const stays = source.get('/b', { schema: gas });
    gone.abort();
    expect((await left).code).toBe('CANCELLED');
    await expect.poll(() => issuer.received).toHaveLength(1);
    answer();
    expect(await stays).toEqual({ gwei: 1 });
  });
});

it.each([
  ['refuses', { error: 'invalid_client' }, 401, 'SOURCE_REFUSED', 'refused'],
  ['fails', {}, 500, 'SOURCE_UNAVAILABLE', 'network'],
  ['sends no token', { token: 'x' }, 200, 'SOURCE_MISCONFIGURED', 'without a token'],
  [
    'sends what no header can have',
    { access_token: 'a b\n' },
    200,
    'SOURCE_MISCONFIGURED',
    'without a token',
  ],
])(
  'a token endpoint that %s ends the call, is named in the log without secrets, and is asked again by the next',
  async (_, body, status, code, message) => {
    let count = 0;
    const { get, server } = await served((__, response) => {
      count += 1;
      if (count === 1) json(response, body, status);
      else json(response, { access_token: 'token-1' });
    });
    const error = await errorOf(get());
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(server.received).toEqual([]);
    const [line] = vi.mocked(console.error).mock.calls.map(([text]) => String(text));
    expect(JSON.parse(line ?? '')).toMatchObject({
      code,
      path: '/v1/token',
      hint: expect.stringContaining('GAS_CLIENT_SECRET'),
    });
    expect(line).not.toContain(word);
    expect(await get()).toEqual({ gwei: 1 });
  },
);

describe('a hostile token endpoint', () => {
  const endless: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => void (response.destroyed || response.write(`"${'x'.repeat(65_536)}",`, more));
    more();
  };
  it.each<[string, Answer, string]>([
    ['answers without end', endless, 'SOURCE_TOO_LARGE'],
    ['sends a token of 1 MB', issued('t'.repeat(1_000_000)), 'SOURCE_TOO_LARGE'],
    [
      'sends HTML',
      (_, response) => response.setHeader('content-type', 'text/html').end('<p>'),
      'SOURCE_MISCONFIGURED',
    ],
    ['sends a list', (_, response) => json(response, [{ access_token: 'token-1' }]), 'SOURCE_MISCONFIGURED'],
    ['sends a deep list', (_, response) => response.end('['.repeat(50_000)), 'SOURCE_MISCONFIGURED'],
    ['sends a token that is an object', issued({ toString: 'x' } as never), 'SOURCE_MISCONFIGURED'],
    [
      'redirects to the keys of a machine',
      (_, response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      'SOURCE_MISCONFIGURED',
    ],
    ['closes the connection', (_, response) => response.destroy(), 'SOURCE_UNAVAILABLE'],
    [
      'repeats the secret as its error',
      (_, response) => json(response, { error: word }, 400),
      'SOURCE_REFUSED',
    ],
  ])('that %s ends the call, and nothing of it is logged or sent', async (_, answer, code) => {
    const { get, server } = await served(answer);
    expect((await errorOf(get())).code).toBe(code);
    expect(server.received).toEqual([]);
    const lines = vi.mocked(console.error).mock.calls.map(([text]) => String(text));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThan(1_000);
    expect(lines[0]).not.toMatch(/s3cret|tttt|169\.254/);
  });

  it.each([-5, 0, 1e308, '7200', 'soon', null, [60], { valueOf: 1 }])(
    'may say that a token ends in %j',
    async (seconds) => {
      const { get, issuer } = await served(issued('token-1', { expires_in: seconds }));
      await get();
      await get();
      expect(issuer.received).toHaveLength(1);
    },
  );
});
