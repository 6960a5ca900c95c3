import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { createApp } from '../../packages/runtime/src/app.ts';
import type { WellKnown } from '../../packages/runtime/src/server/author-routes.ts';
import { config, info, type StartOptions, start } from './support.ts';

const challenge = 'YoBqoSMoA-RuEX8RMuCKrLnPCXDYUsYtKg-yjFBHmDQ';
const glama = { maintainers: [{ email: 'ada@example.com' }], note: 'Ä' };
const wellKnown = {
  'openai-apps-challenge': challenge,
  'glama.json': glama,
  'mcp/server-card.json': true as const,
};

async function serving(options: StartOptions = {}) {
  const server = await start({ wellKnown, ...options });
  const at = (target: string, init: RequestInit = {}) => fetch(new URL(target, server.url), init);
  const card = async () => JSON.parse(await (await at('/.well-known/mcp/server-card.json')).text());
  /** The status line and the rest of the answer to a request target that is sent as it is. */
  const raw = async (target: string, host = 'localhost') => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return text(socket);
  };
  return { ...server, at, card, raw };
}

describe('a file under /.well-known/', () => {
  it('is text as it was given, byte for byte, or JSON', async () => {
    const { at } = await serving();
    const token = await at('/.well-known/openai-apps-challenge');
    expect([token.status, await token.text()]).toEqual([200, challenge]);
    expect(token.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const json = await at('/.well-known/glama.json?x=1');
    expect(await json.json()).toEqual(glama);
    expect(json.headers.get('content-type')).toBe('application/json');
    for (const { headers } of [token, json]) expect(headers.get('cache-control')).toBe('no-cache');
  });

  it('is answered to HEAD without its content, and to other methods with 405', async () => {
    const { at } = await serving();
    const head = await at('/.well-known/glama.json', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(JSON.stringify(glama))));
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const refused = await at('/.well-known/glama.json', { method });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  it('needs no token, and has the headers of every answer', async () => {
    const { at } = await serving({ headers: { 'x-by': 'me' } });
    const answer = await at('/.well-known/glama.json', { headers: { authorization: 'Bearer wrong' } });
    expect([answer.status, answer.headers.get('x-by')]).toEqual([200, 'me']);
    expect(answer.headers.get('x-request-id')).toMatch(/./);
  });

  it('is behind the check of the host name', async () => {
    const { raw } = await serving();
    expect(await raw('/.well-known/glama.json', 'evil.example')).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('does not exist while its value is undefined or empty', async () => {
    const { at } = await serving({ wellKnown: { unset: undefined, empty: '' } });
    for (const name of ['unset', 'empty']) expect((await at(`/.well-known/${name}`)).status).toBe(404);
  });

  it.each([
    '/.well-known/',
    '/.well-known',
    '//.well-known/glama.json',
    '/.well-known//glama.json',
    '/.well-known/glama.json/',
    '/.well-known/./glama.json',
    '/.well-known/x/../glama.json',
    '/.well-known/../package.json',
    '/.well-known/../../../../etc/passwd',
    '/.well-known/..%2f..%2fpackage.json',
    '/.well-known/%2e%2e/mcp',
    '/.well-known/../mcp',
    '/.well-known/glama%2ejson',
    '/.well-known/glama.json%00',
    '/.well-known/GLAMA.json',
    '/.well-known/constructor',
    '/.well-known/__proto__',
    '/\\.well-known\\glama.json',
    `/.well-known/${'a/'.repeat(3_000)}`,
  ])('is found by its exact path only: %j gets 404', async (target) => {
    const { raw } = await serving();
    expect(await raw(target)).toMatch(/^HTTP\/1\.1 404 [\s\S]*{"error":"Not found"}$/);
  });

  it('of a huge path is refused, and the server goes on', async () => {
    const { raw, at } = await serving();
    expect(await raw(`/.well-known/${'a'.repeat(100_000)}`)).toMatch(/^HTTP\/1\.1 431 /);
    expect((await at('/.well-known/glama.json')).status).toBe(200);
  });
});

describe("Smithery's server card", () => {
  it('says what discovery says', async () => {
    const { card, client } = await serving();
    const { tools, ...others } = await card();
    // The members of https://smithery.ai/docs/build/publish.
    expect(others).toEqual({
      serverInfo: info,
      authentication: { required: true, schemes: ['bearer'] },
      resources: [],
      prompts: [],
    });
    expect(ListToolsResultSchema.parse({ tools }).tools.length).toBeGreaterThan(1);
    const { body } = await client.request('tools/list', {}, await client.session());
    expect(tools).toEqual(body.result.tools);
  });

  it('names the header of a token without a scheme, and says where no token is needed', async () => {
    const token = { ...generic.token, header: 'x-market', scheme: '' };
    const bare = await serving({ platform: { token } });
    expect((await bare.card()).authentication).toEqual({ required: true, schemes: ['x-market'] });
    const open = await serving({ env: { AUTH: 'off' } });
    expect((await open.card()).authentication).toEqual({ required: false, schemes: [] });
  });

  it('may be written by the author', async () => {
    const own = { serverInfo: { name: 'Gas prices', version: '2' } };
    const { card } = await serving({ wellKnown: { 'mcp/server-card.json': own } });
    expect(await card()).toEqual(own);
  });
});

describe('the server does not start with', () => {
  const starting = (wellKnown: WellKnown, routes = {}) =>
    expect(() => createApp({ ...config(), ...info, wellKnown, routes }, [], () => {}));

  it.each([
    '',
    '/',
    '/mcp',
    '..',
    '../mcp',
    'mcp/../../mcp',
    'a//b',
    'a/',
    '.env',
    'mcp/.git',
    'a b',
    'ä',
    'a%2e',
    'a?b',
    'a#b',
    'a\\b',
    'a\n',
    'https://x',
  ])('a file named %j', (name) => {
    starting({ [name]: 'text' }).toThrow(`wellKnown: ${JSON.stringify(name)}: expected the name of a file`);
  });

  const cyclic: { own?: object } = {};
  cyclic.own = cyclic;
  it.each<[string, unknown, string]>([
    ['a', 1, 'expected text, or an object'],
    ['a', null, 'expected text, or an object'],
    ['a', false, 'expected text, or an object'],
    ['a', () => 'text', 'expected text, or an object'],
    ['a', cyclic, 'cannot be sent as JSON: Converting circular structure'],
    ['a', { big: 1n }, 'cannot be sent as JSON: Do not know how to serialize a BigInt'],
    ['a.json', '{}', 'expected an object, which is sent as JSON, got text'],
    ['a.json', true, 'only "mcp/server-card.json" can be made from the tools'],
  ])('the file %s with a value that cannot be sent (%#)', (name, value, reason) => {
    const files = { [name]: value as string };
    starting(files).toThrow(reason);
    starting(files).toThrow(`wellKnown: "${name}"`);
  });

  it('a file that is a route, too', () => {
    starting({ a: 'text' }, { '/.well-known/a': () => {} }).toThrow('wellKnown: "a" is a route, too');
  });
});
