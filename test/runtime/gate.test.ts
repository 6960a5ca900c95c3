import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../../packages/runtime/src/server/auth.ts';
import { requestText } from '../attacks/attacker.ts';
import { audience, config, type RawClient, start, stopClock, token } from './support.ts';

const now = () => Math.floor(Date.now() / 1000);
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_price', arguments: {} } };
const unauthorized = { status: 401, body: { error: 'Unauthorized' } };
const bearer = async (...args: Parameters<typeof token>) => `Bearer ${await token(...args)}`;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a call is refused', () => {
  const claims = { iss: 'https://platform.example', aud: audience, exp: now() + 120 };
  // The others are rules of the group `gate`, which the self-check of a generated server (test/scaffold/) passes.
  const cases: Record<string, () => Promise<string | undefined>> = {
    'with a scheme that only begins alike': async () => `Bearerish ${await token()}`,
    'with two tokens': async () => `${await bearer()}, ${await bearer()}`,
    'with another type': () => bearer({}, { typ: 'at+jwt' }),
    'without exp': () => bearer({ exp: undefined }),
    'with another issuer': () => bearer({ iss: 'https://platform.example/' }),
    'with a shorter audience': () => bearer({ aud: audience.slice(0, -1) }),
    'with several audiences': () => bearer({ aud: [audience, 'https://other.example/mcp'] }),
    'when valid for ten years': () => bearer({ exp: now() + 315_360_000 }),
    'when valid for ten years, with no time of issue': () =>
      bearer({ iat: undefined, exp: now() + 315_360_000 }),
    'when issued more than a minute ahead': () => bearer({ iat: now() + 160, exp: now() + 280 }),
  };

  test.each(Object.entries(cases))('%s', async (_, authorization) => {
    const { client, events } = await start();
    const value = await authorization();
    const headers = { ...(await client.session()), ...(value !== undefined && { authorization: value }) };
    expect(await client.send(call, headers)).toMatchObject(unauthorized);
    expect(events().filter(({ event }) => event === 'call')).toEqual([]);
    const secret = value?.split(' ')[1]?.slice(0, 20);
    if (secret) expect(JSON.stringify(events())).not.toContain(secret);
  });

  test('with the signature of a verified token, whatever else it says', async () => {
    const { client } = await start();
    const [session, valid] = [await client.session(), await bearer()];
    const changed = valid.replace(/\.[^.]*\./, `.${part({ ...claims, exp: now() + 9999 })}.`);
    const statuses = [];
    for (const authorization of [valid, changed, valid]) {
      statuses.push((await client.send(call, { ...session, authorization })).status);
    }
    expect(statuses).toEqual([200, 401, 200]);
  });

  test.each([undefined, '', 'pending', 'null', null, audience])(
    'by a server whose audience is pending, with the audience %j, which discovery and /health do not need',
    async (aud) => {
      const { client, events, url } = await start({
        env: { NODE_ENV: 'production', PLATFORM_AUDIENCE: 'pending', HOST: '127.0.0.1' },
      });
      const headers = { ...(await client.session()), authorization: await bearer({ aud }) };
      expect(await client.send(call, headers)).toMatchObject(unauthorized);
      expect(events().at(-1)).toMatchObject({
        event: 'refused',
        reason: 'PLATFORM_AUDIENCE is pending: no token names this server',
      });
      const health = await (await fetch(new URL('/health', url))).json();
      expect(health).toMatchObject({ status: 'ok', audience: 'pending' });
      const ready = await fetch(new URL('/ready', url));
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: 'not ready', reason: 'PLATFORM_AUDIENCE is pending: no token names this server' },
      ]);
    },
  );

  test('while there is no key, and /ready and /health say so', async () => {
    const { client, url } = await start({
      env: { PLATFORM_PUBLIC_KEY: '', PLATFORM_JWKS_URL: 'http://127.0.0.1:9/keys' },
    });
    const headers = { ...(await client.session()), authorization: await bearer() };
    expect(await client.send(call, headers)).toMatchObject(unauthorized);
    const [ready, health] = await Promise.all(
      ['/ready', '/health'].map(async (path) => {
        const answer = await fetch(new URL(path, url));
        return [answer.status, await answer.json()];
      }),
    );
    const reason = 'no key: the key set of the platform was not fetched; the log says why';
    expect(ready).toEqual([503, { status: 'not ready', reason }]);
    expect(health).toEqual([200, expect.objectContaining({ status: 'ok', keys: 'none' })]);
  });

  test('but not /ready of a first deployment, where the host names the domain', async () => {
    const env = { NODE_ENV: 'production', PLATFORM_AUDIENCE: 'pending', HOST: '127.0.0.1' };
    const { url } = await start({ env: { ...env, RENDER_EXTERNAL_URL: 'https://tools.onrender.com' } });
    expect((await fetch(new URL('/ready', url))).status).toBe(200);
  });

  test('but not /ready, which is 200 with a key, and without a check of tokens', async () => {
    for (const AUTH of ['', 'off']) {
      const { url } = await start({ env: { AUTH } });
      const ready = await fetch(new URL('/ready', url));
      expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok' }]);
    }
  });

  test.each([
    [{ aud: 'x'.repeat(5_000) }, 'ERR_JWT_CLAIM_VALIDATION_FAILED: aud'],
    [{ iss: 'x'.repeat(5_000) }, 'ERR_JWT_CLAIM_VALIDATION_FAILED: iss'],
    [{ exp: now() - 60 }, 'ERR_JWT_EXPIRED: exp'],
    [{ exp: now() + 86_400 }, 'exp: valid for longer than 1200 seconds'],
    [
      { iat: now() + 600, exp: now() + 720 },
      expect.stringMatching(/^iat: \d{3} s in the future, at most 60 s are accepted/),
    ],
  ])('%o, and the log has a short reason', async (claims, reason) => {
    const { client, events } = await start({ env: { NODE_ENV: 'production' } });
    expect(await client.send(call, { authorization: await bearer(claims) })).toMatchObject(unauthorized);
    expect(events().filter(({ event }) => event === 'refused')).toMatchObject([{ reason }]);
    expect(JSON.stringify(events()).length).toBeLessThan(500);
  });

  test('for a second call if tokens are valid once', async () => {
    const { client, events } = await start({ env: { TOKEN_ONCE: 'on' } });
    const session = await client.session();
    const [one, two] = [await bearer(), await bearer()];
    const statusOf = async (authorization: string) =>
      (await client.send(call, { ...session, authorization })).status;
    expect(await Promise.all([one, one, two].map(statusOf)).then((all) => all.sort())).toEqual([
      200, 200, 401,
    ]);
    expect(await statusOf(two)).toBe(401);
    expect(await statusOf(await bearer({ jti: undefined }))).toBe(401);
    expect(events().filter(({ event }) => event === 'refused')).toHaveLength(3);
  });

  test('only then: a token that is valid once lists tools as often as its holder likes', async () => {
    const { client } = await start({ env: { TOKEN_ONCE: 'on' } });
    const headers = { ...(await client.session()), authorization: await bearer() };
    const statuses: number[] = [];
    for (const method of ['tools/list', 'tools/list', 'tools/call', 'tools/list', 'tools/call']) {
      statuses.push((await client.request(method, call.params, headers)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 401]);
  });

  test('if its token expires before its body is complete', async () => {
    const { client, port, events } = await start();
    const headers = { ...(await client.session()), authorization: await bearer() };
    expect((await client.send(call, headers)).status).toBe(200);
    const body = JSON.stringify(call);
    const socket = connect(port, '127.0.0.1');
    const answered = once(socket, 'data');
    socket.write(requestText('POST', headers, body.slice(0, -1), body.length));
    await client.send(call, headers); // by now the server has read the head of the request before
    stopClock(Date.now() + 130_000);
    socket.write(body.slice(-1));
    expect(String(await answered)).toMatch(/^HTTP\/1\.1 401 /);
    const reason = 'exp: the token expired before the request was complete';
    expect(events()).toContainEqual(expect.objectContaining({ event: 'refused', reason }));
    socket.destroy();
  });

  test('with two headers that each have a valid token', async () => {
    const { port, client } = await start();
    const own = { ...(await client.session()), host: 'localhost', 'content-type': 'application/json' };
    const authorization = async () => ['authorization', await bearer()];
    const headers = [...Object.entries(own).flat(), ...(await authorization()), ...(await authorization())];
    const sending = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers });
    const [response] = await once(sending.end(JSON.stringify(call)), 'response');
    expect(response.resume().statusCode).toBe(401);
  });

  test('before its session is checked', async () => {
    const { client } = await start();
    expect(await client.send(call)).toMatchObject(unauthorized);
    const refused = await client.send(call, { authorization: await bearer() });
    expect(refused).toMatchObject({ status: 400, body: { error: 'Invalid session' } });
  });
});

describe('a call is accepted', () => {
  test.each([
    ['Bearer', {}],
    ['bearer', {}],
    ['BEARER', { aud: [audience] }],
    ['Bearer', { toolId: 'smoke-test', purpose: 'smoke-test' }],
    ['Bearer', { exp: 1_800_000_000 - 2 }],
    ['Bearer', { exp: 1_800_000_000 + 1_200 }],
    ['Bearer', { iat: undefined }],
    ['Bearer', { iat: 1_800_000_000 + 60, exp: 1_800_000_000 + 180 }],
  ])('%s with %j', async (scheme, claims) => {
    stopClock(1_800_000_000_000);
    const { client } = await start();
    const headers = { ...(await client.session()), authorization: `${scheme} ${await token(claims)}` };
    expect(await client.send(call, headers)).toMatchObject({
      status: 200,
      body: { result: { structuredContent: { price: 12.5 } } },
    });
  });

  test('with a token from a clock ahead of ours, and the log says how far, once', async () => {
    const { client, events } = await start();
    const session = await client.session();
    for (const ahead of [30, 40]) {
      const authorization = await bearer({ iat: now() + ahead, exp: now() + ahead + 120 });
      expect((await client.send(call, { ...session, authorization })).status).toBe(200);
    }
    const warnings = events().filter(({ event }) => event === 'warning');
    expect(warnings).toMatchObject([{ text: expect.stringMatching(/issued \d\d s in the future/) }]);
  });

  test('not with tokens that expired by our clock, which is ahead, and the log says by how much, once', async () => {
    const { client, events } = await start();
    const session = await client.session();
    for (const [late, iat] of [
      [7_200, 7_320],
      [90, 210],
      [100, 220],
    ] as const) {
      const authorization = await bearer({ iat: now() - iat, exp: now() - late });
      expect((await client.send(call, { ...session, authorization })).status).toBe(401);
    }
    const forged = `${(await bearer({ iat: now() - 400, exp: now() - 300 })).slice(0, -20)}${'A'.repeat(20)}`;
    expect((await client.send(call, { ...session, authorization: forged })).status).toBe(401);
    const warnings = events().filter(({ event }) => event === 'warning');
    expect(warnings).toMatchObject([
      { text: expect.stringMatching(/had expired 9\d s before \(exp\)\. Compare the clock of this machine/) },
    ]);
  });

  test('again with the same token, until it expires', async () => {
    const { client } = await start();
    const headers = { ...(await client.session()), authorization: await bearer() };
    expect((await client.send(call, headers)).status).toBe(200);
    expect((await client.send(call, headers)).status).toBe(200);
    // Some bits of the last character do not count.
    const changed = headers.authorization.replace(/.(?=.$)/, (one) => (one === 'A' ? 'B' : 'A'));
    expect((await client.send(call, { ...headers, authorization: changed })).status).toBe(401);
    stopClock(Date.now() + 130_000);
    expect((await client.send(call, headers)).status).toBe(401);
  });
});

describe('no call runs without authentication', () => {
  const batches = [
    [call],
    [{ jsonrpc: '2.0', id: 2, method: 'tools/list' }, call],
    [[[call]]],
    [null, 1, 'x', [call]],
    [{ jsonrpc: '2.0', method: 'tools/call', params: call.params }],
  ];

  test.each(batches.map((batch) => [JSON.stringify(batch), batch]))('in the batch %s', async (_, batch) => {
    const { client, events } = await start();
    const session = await client.session();
    expect(await client.send(batch, session)).toMatchObject(unauthorized);
    const paid = await client.send(batch, { ...session, authorization: await bearer() });
    expect(paid).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect(events().filter(({ event }) => event === 'call')).toEqual([]);
  });

  test('in any other batch, which is refused', async () => {
    const { client } = await start();
    for (const batch of [
      [],
      [{ jsonrpc: '2.0', id: 2, method: 'ping' }],
      `${'['.repeat(400)}${']'.repeat(400)}`,
    ]) {
      expect(await client.send(batch, await client.session())).toMatchObject({
        status: 400,
        body: { error: { code: -32600 } },
      });
    }
  });

  test.each([
    'application/json\u00a0',
    '\u00a0application/json',
    'application/json\u000b; x',
    'application/jsonx',
    'text/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '',
  ])('with content type %j, which is refused', async (type) => {
    const server = await start();
    const session = await server.client.session();
    const answer = await sendRaw(server.port, { type, session: session['mcp-session-id'] });
    expect(answer).toMatch(/^HTTP\/1.1 (415|400) /);
    expect(server.events().filter(({ event }) => event === 'call')).toEqual([]);
  });

  test.each([
    'application/json;',
    'application/json ; charset=utf-8',
    'Application/JSON;charset=latin1',
    'application/json;;x',
  ])('with content type %j, which needs a token', async (type) => {
    const server = await start();
    const session = await server.client.session();
    const answer = await sendRaw(server.port, { type, session: session['mcp-session-id'] });
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });

  const origin = 'https://pages.example';
  const forms: Readonly<Record<string, RawCall>> = {
    'in the usual form': {},
    'with the Origin of an allowed page': { lines: [`Origin: ${origin}`] },
    'in chunks': { chunked: true },
    'by HTTP/1.0': { version: '1.0' },
    'with an id that is a text': { body: JSON.stringify({ ...call, id: 'one' }) },
    'with _meta': {
      body: JSON.stringify({ ...call, params: { ...call.params, _meta: { progressToken: 1 } } }),
    },
    'of over 5 kB': { body: JSON.stringify(call).replace('{', `{${' '.repeat(6_000)}`) },
  };

  test.each(Object.entries(forms))('%s, in any state of the session', async (_, form) => {
    const server = await start({ env: { ALLOWED_ORIGINS: origin } });
    const { session, ended } = await openSessions(server.client);
    for (const state of [undefined, '00000000-0000-4000-8000-000000000000', ended, session]) {
      expect(await sendRaw(server.port, { ...form, session: state })).toMatch(/^HTTP\/1\.1 401 /);
    }
    expect(server.events().filter(({ event }) => event === 'call')).toEqual([]);
    const lines = [...(form.lines ?? []), `Authorization: ${await bearer()}`];
    expect(await sendRaw(server.port, { ...form, session, lines })).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ['with two invalid tokens', ['Authorization: Bearer garbage', 'Authorization: Bearer a.b.c'], 401],
    ['with the Origin of a foreign page', ['Origin: https://attacker.example'], 403],
  ])('%s, in any state of the session', async (_, lines, status) => {
    const server = await start();
    const { session, ended } = await openSessions(server.client);
    for (const state of [undefined, '00000000-0000-4000-8000-000000000000', ended, session]) {
      expect(await sendRaw(server.port, { lines, session: state })).toMatch(`HTTP/1.1 ${status} `);
    }
    expect(server.events().filter(({ event }) => event === 'call')).toEqual([]);
  });
});

/** A session, and one that has ended. */
async function openSessions(client: RawClient) {
  const [{ 'mcp-session-id': session }, endedSession] = [await client.session(), await client.session()];
  expect((await client.send(undefined, endedSession, 'DELETE')).status).toBe(204);
  return { session, ended: endedSession['mcp-session-id'] };
}

test('AUTH=off accepts every call', async () => {
  const { client } = await start({ env: { AUTH: 'off' } });
  const { body } = await client.send(call, await client.session());
  expect(body.result.structuredContent.price).toBe(12.5);
});

test('a platform may use another token header, with or without a scheme', async () => {
  const rules = config().token;
  if (!rules) throw new Error('Authentication is off.');
  const log = () => {};
  const bare = createAuthenticator({ ...rules, header: 'x-platform-token', scheme: '' }, log);
  const admits = async (headers: Record<string, string>) => (await bare.identify(headers)).admitCall('id');
  expect(await admits({ 'x-platform-token': await token() })).toBe(true);
  expect(await admits({ 'x-platform-token': '' })).toBe(false);
  expect(await admits({ authorization: await bearer() })).toBe(false);
});

/** The form of a call that is sent byte for byte. */
interface RawCall {
  readonly version?: '1.0' | '1.1';
  readonly type?: string;
  readonly session?: string | undefined;
  /** Further header lines, such as a token. */
  readonly lines?: readonly string[];
  readonly body?: string;
  readonly chunked?: boolean;
}

/** Sends a call byte for byte, and resolves with the answer. */
function sendRaw(port: number, form: RawCall): Promise<string> {
  const { version = '1.1', type = 'application/json', session, body = JSON.stringify(call) } = form;
  const lines = [
    `POST /mcp HTTP/${version}`,
    'Host: localhost',
    `Content-Type: ${type}`,
    'Connection: close',
    form.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
    ...(form.lines ?? []),
  ];
  if (session !== undefined) lines.push(`Mcp-Session-Id: ${session}`);
  const bodyForRecording = form.chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  const sent = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${bodyForRecording}`, 'latin1');
  const socket = connect(port, '127.0.0.1');
  socket.write(sent); // the server ends a call whose caller has gone
  return text(socket);
}

describe('the log of refused calls', () => {
  /** Sends calls that are refused for several reasons, with other values in each. */
  async function flood({ client }: Awaited<ReturnType<typeof start>>, times: number) {
    for (let at = 0; at < times; at++) {
      const tokens = [
        undefined,
        await bearer({ aud: `https://${at}.example/mcp` }),
        await bearer({ iss: `https://${at}.example` }),
        await bearer({ iat: now() + 100 + at, exp: now() + 200 + at }),
        `Bearer ${'a'.repeat(at + 1)}.b.c`,
      ];
      for (const authorization of tokens) {
        expect(await client.send(call, { ...(authorization && { authorization }) })).toMatchObject(
          unauthorized,
        );
      }
    }
  }
  const reasons = [
    'no token',
    'ERR_JWT_CLAIM_VALIDATION_FAILED: aud',
    'ERR_JWT_CLAIM_VALIDATION_FAILED: iss',
    'iat',
    'ERR_JWS_INVALID',
  ];
  const kind = ({ reason }: { reason: string }) => reasons.find((one) => reason.startsWith(one));

  test('in production has a line a minute for each reason, with the number of times', async () => {
    const server = await start({ env: { NODE_ENV: 'production' } });
    await flood(server, 20);
    expect(server.events().map(kind)).toEqual(reasons);
    expect(server.events().every(({ event, times }) => event === 'refused' && times === 1)).toBe(true);
    stopClock(Date.now() + 60_000);
    await flood(server, 1);
    const later = server.events().slice(reasons.length);
    expect(later.map(kind)).toEqual(reasons);
    for (const { times } of later) expect(times).toBe(20);
  });

  test('elsewhere has a line for each, with its request', async () => {
    const server = await start();
    await flood(server, 3);
    expect(server.events().map(kind)).toEqual([...reasons, ...reasons, ...reasons]);
    expect(new Set(server.events().map(({ request }) => request)).size).toBe(15);
    for (const { times } of server.events()) expect(times).toBeUndefined();
  });
});
