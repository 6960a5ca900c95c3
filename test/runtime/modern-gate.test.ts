import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { envelope, modernRequest, paid } from './modern.ts';
import { start } from './support.ts';
import { textTool } from './tools.ts';

/** A server of one tool that counts its executions. */
async function countingServer() {
  let runs = 0;
  const counting = textTool('get_price', (_, { found }) => {
    runs += 1;
    return found({ text: 'paid' });
  });
  return { ...(await start({ tools: [counting] })), runs: () => runs };
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Sends headers exactly as given; a header may occur twice. */
async function sendAll(port: number, headers: Headers, body: unknown): Promise<number | undefined> {
  const own = [['host', 'localhost'], ['content-type', 'application/json'], ...headers].flat();
  const sending = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers: own });
  const [response] = await once(sending.end(JSON.stringify(body)), 'response');
  response.resume();
  return response.statusCode;
}

/** Sends the call with header lines that no HTTP client would write. Returns the answer as text. */
async function sendLines(port: number, headers: readonly string[]): Promise<string> {
  const body = JSON.stringify(call.body);
  const lines = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Name: get_price',
    ...headers,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  const socket = connect(port, '127.0.0.1').end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return Buffer.concat(await socket.toArray()).toString();
}

const call = modernRequest('tools/call', { name: 'get_price', arguments: {} });
const { id: _, ...notification } = call.body;
const without = (name: string) => {
  const { headers } = modernRequest('tools/call', { name: 'get_price' }, { [name]: undefined });
  return { headers, body: call.body };
};
const withHeader = (name: string, value: string) => ({
  ...call,
  headers: { ...call.headers, [name]: value },
});
const twice = (name: string, ...values: readonly string[]) => ({
  body: call.body,
  headers: [
    ...Object.entries(call.headers).filter(([own]) => own !== name),
    ...values.map((value) => [name, value]),
  ],
});
const withMeta = (meta: object) => ({
  ...call,
  body: { ...call.body, params: { name: 'get_price', arguments: {}, _meta: meta } },
});

/** The data to send: headers as an object, or as a list that may contain one twice. */
interface Form {
  readonly body: unknown;
  readonly headers: object;
}

/** A call in each form that a parser might misread. Only the first one runs when it is paid. */
const forms = {
  plain: call,
  'Mcp-Method says tools/list': withHeader('mcp-method', 'tools/list'),
  'Mcp-Method says server/discover': withHeader('mcp-method', 'server/discover'),
  'Mcp-Method says initialize': withHeader('mcp-method', 'initialize'),
  'Mcp-Method is absent': without('mcp-method'),
  'Mcp-Method is empty': withHeader('mcp-method', ''),
  'Mcp-Method twice, the list first': twice('mcp-method', 'tools/list', 'tools/call'),
  'Mcp-Method twice, the list last': twice('mcp-method', 'tools/call', 'tools/list'),
  'Mcp-Method twice, the same': twice('mcp-method', 'tools/call', 'tools/call'),
  'Mcp-Name says another tool': withHeader('mcp-name', 'other'),
  'Mcp-Name is absent': without('mcp-name'),
  'Mcp-Name twice': twice('mcp-name', 'get_price', 'get_price'),
  'Mcp-Name twice, one another': twice('mcp-name', 'other', 'get_price'),
  'the version header is absent': without('mcp-protocol-version'),
  'the version header says a past one': withHeader('mcp-protocol-version', '2025-11-25'),
  'the version header says a future one': withHeader('mcp-protocol-version', '2099-01-01'),
  'the version header twice': twice('mcp-protocol-version', '2026-07-28', '2026-07-28'),
  'no _meta': withMeta({}),
  'a version that is not served': withMeta(envelope({ protocolVersion: '1900-01-01' })),
  'a version that is no text': withMeta(envelope({ protocolVersion: null })),
  'no capabilities': withMeta(envelope({ clientCapabilities: undefined })),
  'a batch of one': { ...call, body: [call.body] },
  'a batch behind a list': { ...call, body: [modernRequest('tools/list').body, call.body] },
  'a batch in a batch': { ...call, body: [[[call.body]]] },
  'a batch of a session and none': { ...call, body: [{ jsonrpc: '2.0', id: 2, method: 'ping' }, call.body] },
  'a batch that the header calls a list': { ...withHeader('mcp-method', 'tools/list'), body: [call.body] },
  'a notification': { ...call, body: notification },
  'an id of null': { ...call, body: { ...call.body, id: null } },
  'a member too many': { ...call, body: { ...call.body, result: {} } },
  'a name that is no text': {
    ...call,
    body: { ...call.body, params: { ...Object(call.body.params), name: ['get_price'] } },
  },
} satisfies Record<string, Form>;

const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const past = Math.floor(Date.now() / 1000) - 3600;

/** Headers of callers who have not paid. */
const unpaid: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
  'no token': async (): Promise<Record<string, string>> => ({}),
  'a forged token': () => paid({}, { key: foreign }),
  'a token for another audience': () => paid({ aud: 'https://other.example/mcp' }),
  'a token of the past': () => paid({ iat: past - 120, exp: past }),
  'a token in the wrong header': async () => ({ 'x-authorization': (await paid()).authorization }),
};

/** Sends a call in one of the forms, with further headers. */
function sendForm(port: number, { body, headers }: Form, more: Record<string, string>) {
  const own = (Array.isArray(headers) ? headers : Object.entries(headers)) as Headers;
  return sendAll(port, [...own, ...Object.entries(more)], body);
}

test.each(Object.entries(unpaid))('with %s each form is refused before anything else', async (_, tokens) => {
  const { port, runs } = await countingServer();
  for (const [name, form] of Object.entries(forms)) {
    expect(await sendForm(port, form, await tokens()), name).toBe(401);
  }
  expect(runs()).toBe(0);
});

test('with a token only the plain call runs', async () => {
  const { port, runs } = await countingServer();
  const { plain, 'a notification': quiet, ...others } = forms;
  for (const [name, form] of Object.entries(others)) {
    expect(await sendForm(port, form, await paid()), name).toBe(400);
  }
  expect(await sendForm(port, quiet, await paid())).toBe(202);
  expect(runs()).toBe(0);
  expect(await sendForm(port, plain, await paid())).toBe(200);
  expect(runs()).toBe(1);
});

test.each([
  ['a forged token and a valid one', ['forged', 'valid']],
  ['a valid token and a forged one', ['valid', 'forged']],
  ['the same token twice', ['valid', 'valid']],
  ['no token and a valid one', ['none', 'valid']],
  ['two tokens in one header', ['both']],
])('%s are not payment', async (_, sent) => {
  const { port, runs } = await countingServer();
  const [forged, valid] = [await paid({}, { key: foreign }), await paid()].map((own) => own.authorization);
  const values: Readonly<Record<string, string>> = {
    forged: String(forged),
    valid: String(valid),
    none: 'Bearer',
    both: `${forged}, ${valid}`,
  };
  const tokens = sent.map((name) => ['authorization', String(values[name])] as const);
  expect(await sendAll(port, [...Object.entries(call.headers), ...tokens], call.body)).toBe(401);
  expect(runs()).toBe(0);
});

test('a token folded over two lines is not payment', async () => {
  const { port, runs } = await countingServer();
  const token = (await paid()).authorization.replace(' ', '\r\n ');
  expect(await sendLines(port, [`Authorization: ${token}`, 'Mcp-Method: tools/call'])).toMatch(
    /^HTTP\/1.1 40[01] /,
  );
  expect(runs()).toBe(0);
});

test('a header folded over two lines does not reach a tool', async () => {
  for (const authorization of [[], [`Authorization: ${(await paid()).authorization}`]]) {
    const { port, runs } = await countingServer();
    const lines = [...authorization, 'Mcp-Method: tools/list,\r\n tools/call'];
    const isPaid = authorization.length > 0;
    expect(await sendLines(port, lines)).toMatch(isPaid ? /^HTTP\/1.1 400 / : /^HTTP\/1.1 40[01] /);
    expect(runs()).toBe(0);
  }
});

test('a list with the headers of a call is refused with a token and without one', async () => {
  const { port, runs } = await countingServer();
  const list = modernRequest('tools/list', {}, { 'mcp-method': 'tools/call', 'mcp-name': 'get_price' });
  for (const tokens of [[], Object.entries(await paid())]) {
    expect(await sendAll(port, [...Object.entries(list.headers), ...tokens], list.body)).toBe(400);
  }
  expect(runs()).toBe(0);
});

test('with duplicate keys, authentication and the handlers see the same one', async () => {
  const { client, runs } = await countingServer();
  const text = (first: string, last: string) =>
    JSON.stringify(call.body).replace('"method":"tools/call"', `"method":"${first}","method":"${last}"`);
  expect((await client.send(text('tools/list', 'tools/call'), call.headers)).status).toBe(401);
  const list = await client.send(text('tools/call', 'tools/list'), {
    ...call.headers,
    'mcp-method': 'tools/list',
  });
  expect(list.body.result.tools).toHaveLength(1);
  expect(runs()).toBe(0);
});
