import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { addKeys, buildRequest } from '../../packages/runtime/src/source/build-request.ts';
import { requestBody } from '../../packages/runtime/src/source/request-body.ts';
import { requestUrl } from '../../packages/runtime/src/source/request-parameters.ts';
import { basic, Secret } from '../../packages/runtime/src/source/secret.ts';
import { type Answer, always, errorOf, gas, json, key, source, sourceServer } from './source-server.ts';

let logged: MockInstance<typeof console.error>;
beforeEach(() => {
  logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  return () => logged.mockRestore();
});

describe('the arguments', () => {
  it.each(['..', '.', '%2e%2e', '%2E', '', '.%2e'])('the path parameter %j is refused', (chain) => {
    expect(() =>
      requestUrl({ baseUrl: 'https://api.example/v1', path: '/gas/{chain}/now', params: { chain } }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENTS' }));
  });

  it.each([
    '../../admin',
    'a?x=1',
    'a#b',
    'a\\..\\b',
    '//evil.example',
    '@evil.example',
    'a%2f..%2fb',
    '\u0000',
  ])('the path parameter %j stays one segment', (chain) => {
    const url = requestUrl({
      baseUrl: 'https://api.example/v1/',
      path: 'gas/{chain}/now',
      params: { chain },
    });
    expect(url.href).toMatch(/^https:\/\/api\.example\/v1\/gas\/[^/?#]+\/now$/);
  });

  it('halves of characters become U+FFFD in each place', () => {
    const [params, query] = [{ a: 'x\ud800' }, { b: '\udfff', c: ['\ud83d', '\u{1f600}'] }];
    const styles = { c: 'reservedComma' } as const;
    const { href } = requestUrl({ baseUrl: 'https://a.example', path: '/{a}', params, query, styles });
    expect(href).toBe('https://a.example/x%EF%BF%BD?b=%EF%BF%BD&c=%EF%BF%BD,%F0%9F%98%80');
  });

  it('lists and objects are written in the query style of the API', () => {
    const query = {
      a: [1, 2],
      b: [1, 2],
      c: { x: 1, y: { z: 2 } },
      d: { x: 1 },
      e: [1, 2],
      f: true,
      g: [{ x: 1 }],
    };
    const styles = { b: 'comma', c: 'deepObject', e: 'pipe', g: 'json' } as const;
    const { searchParams } = requestUrl({ baseUrl: 'https://a.example', path: '/', query, styles });
    expect([...searchParams]).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['b', '1,2'],
      ['c[x]', '1'],
      ['c[y][z]', '2'],
      ['x', '1'],
      ['e', '1|2'],
      ['f', 'true'],
      ['g', '[{"x":1}]'],
    ]);
  });

  // The expected bytes are those of RFC 6570 and the OpenAPI Specification, "Style Examples".
  it.each([
    ['form', ['a,b', 'c d'], 'x=a%2Cb&x=c+d'],
    ['comma', ['a,b', 'c d'], 'x=a%2Cb,c+d'],
    ['space', ['a', 'b'], 'x=a%20b'],
    ['pipe', ['a', 'b'], 'x=a%7Cb'],
    ['deepObject', ['a', 'b'], 'x%5B0%5D=a&x%5B1%5D=b'],
    ['json', ['a', 'b'], 'x=%5B%22a%22%2C%22b%22%5D'],
    ['form', { r: 1, g: 2 }, 'r=1&g=2'],
    ['comma', { r: 1, g: 2 }, 'x=r,1,g,2'],
    ['deepObject', { r: 1, g: [2] }, 'x%5Br%5D=1&x%5Bg%5D%5B0%5D=2'],
    ['comma', [], 'x='],
    ['form', [], ''],
    ['comma', [null, undefined, 'a'], 'x=a'],
    ['reserved', "a:/?@!$'()*,;=b", "x=a:/?@!$'()*,;=b"],
    ['reserved', 'a&b#c+d e%f%2F[g]é', 'x=a%26b%23c%2Bd%20e%25f%2F%5Bg%5D%C3%A9'],
    ['reserved', ['a/b', 'c,d'], 'x=a/b&x=c,d'],
    ['reservedComma', ['a/b', 'c'], 'x=a/b,c'],
  ] as const)('the style %s writes %j the same in a query and a form', async (style, x, expected) => {
    const styles = { x: style };
    const url = requestUrl({ baseUrl: 'https://a.example', path: '/p?v=1', query: { x }, styles });
    const body = requestBody({ form: { x }, formStyles: styles });
    expect(body?.content).toBe(expected);
    // A URL encodes the quote by itself (URL Standard, "query percent-encode set").
    const inUrl = expected.replaceAll("'", '%27');
    expect(url.search).toBe(expected === '' ? '?v=1' : `?v=1&${inUrl}`);
  });

  const list = ['blue', 'black', 'brown'];
  const color = { R: 100, G: 200, B: 150 };
  // OpenAPI 3.0.4 and 3.1.1, "Style Examples"; RFC 6570 §3.2.2, §3.2.5 and §3.2.7.
  it.each([
    ['simple', 'blue', 'blue'],
    ['simple', list, 'blue,black,brown'],
    ['simple', color, 'R,100,G,200,B,150'],
    ['simple*', list, 'blue,black,brown'],
    ['simple*', color, 'R=100,G=200,B=150'],
    ['label', 'blue', '.blue'],
    ['label', list, '.blue,black,brown'],
    ['label', color, '.R,100,G,200,B,150'],
    ['label*', list, '.blue.black.brown'],
    ['label*', color, '.R=100.G=200.B=150'],
    ['matrix', '', ';color'],
    ['matrix', 'blue', ';color=blue'],
    ['matrix', list, ';color=blue,black,brown'],
    ['matrix', color, ';color=R,100,G,200,B,150'],
    ['matrix*', list, ';color=blue;color=black;color=brown'],
    ['matrix*', color, ';R=100;G=200;B=150'],
    ['simple', ['a,b', 'c/d', 'e;f'], 'a%2Cb,c%2Fd,e%3Bf'],
    ['simple', { 'a,b': 'c=d' }, 'a%2Cb,c%3Dd'],
    ['matrix*', ['a;b', ''], ';color=a%3Bb;color'],
    ['json', { a: [1] }, '%7B%22a%22%3A%5B1%5D%7D'],
  ] as const)('the style %s writes %j in a path as %s', (style, value, expected) => {
    const paramStyles = { color: style };
    const address = { baseUrl: 'https://a.example/v1', path: '/x/{color}/y', params: { color: value } };
    expect(requestUrl({ ...address, paramStyles }).href).toBe(`https://a.example/v1/x/${expected}/y`);
  });

  it.each([
    ['simple', []],
    ['simple', ['']],
    ['simple', ['.']],
    ['label', ''],
    ['label', '.'],
    ['label', ['%2e']],
    ['matrix', []],
  ] as const)('the style %s refuses %j, which would be another path', (style, value) => {
    const address = { baseUrl: 'https://a.example', path: '/x/{id}/y', params: { id: value } };
    expect(() => requestUrl({ ...address, paramStyles: { id: style } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENTS' }),
    );
  });

  it.each([
    ['simple', 'Mon, 1 Jan', 'Mon, 1 Jan'],
    ['simple', ['a,b', 'c d'], 'a%2Cb,c d'],
    ['simple', color, 'R,100,G,200,B,150'],
    ['simple*', color, 'R=100,G=200,B=150'],
    ['json', { a: ['b,c'] }, '{"a":["b,c"]}'],
  ] as const)('the style %s writes %j in a header as %s', async (style, value, expected) => {
    const { api, received } = await source(always({}));
    await api.get('/x', { headers: { 'X-Color': value }, headerStyles: { 'X-Color': style } });
    expect(received[0]?.headers['x-color']).toBe(expected);
  });

  it('names such as constructor have no style of their own', () => {
    const named = { constructor: ['a', 'b'] };
    const address = { baseUrl: 'https://a.example', path: '/{constructor}', params: named, query: named };
    expect(requestUrl(address).href).toBe('https://a.example/a,b?constructor=a&constructor=b');
  });

  // RFC 7578 §4.2: only a file has a file name. OpenAPI 3.0 and 3.1, "Special Considerations for multipart Content".
  it('a part of a form is a file with a name, a text without a type, or JSON without a name', async () => {
    const { api, received } = await source(always({}));
    await api.post('/x', {
      multipart: {
        doc: 'aGVsbG8=',
        note: 'two\nlines',
        'a "name"': 1,
        meta: { a: [1] },
        rows: [{ b: 2 }, { b: 3 }],
        patch: { op: 'add' },
        raw: '{"c":4}',
        none: null,
      },
      files: { doc: { name: 'a "b"\r\n.png', type: 'image/png' } },
      partTypes: { patch: 'application/json-patch+json', raw: 'application/json' },
    });
    const [request] = received;
    const [, boundary = ''] =
      /^multipart\/form-data; boundary=(\S+)$/.exec(request?.headers['content-type'] ?? '') ?? [];
    expect(request?.body.replaceAll(boundary, 'BOUNDARY')).toBe(
      [
        '--BOUNDARY',
        'Content-Disposition: form-data; name="doc"; filename="a %22b%22%0D%0A.png"',
        'Content-Type: image/png',
        '',
        'hello',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="note"',
        '',
        'two',
        'lines',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="a %22name%22"',
        '',
        '1',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="meta"',
        'Content-Type: application/json',
        '',
        '{"a":[1]}',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="rows"',
        'Content-Type: application/json',
        '',
        '{"b":2}',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="rows"',
        'Content-Type: application/json',
        '',
        '{"b":3}',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="patch"',
        'Content-Type: application/json-patch+json',
        '',
        '{"op":"add"}',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="raw"',
        'Content-Type: application/json',
        '',
        '{"c":4}',
        '--BOUNDARY--',
        '',
      ].join('\r\n'),
    );
  });

  it('a key in the query leaves the commas of the others, and replaces an argument of its name', async () => {
    const { api, received } = await source(always({ gwei: 1 }), { query: { key: new Secret('K', key) } });
    await api.get('/x', { query: { ids: ['a,b', 'c'], key: 'mine', monkey: 1 }, styles: { ids: 'comma' } });
    expect(received[0]?.url).toBe(`/v1/x?ids=a%2Cb,c&monkey=1&key=${key}`);
  });

  it('a header that cannot be sent is refused without being printed', async () => {
    const { api, received } = await source(always({}));
    const error = await errorOf(api.get('/x', { headers: { 'x-note': 'a\r\nx-evil: 1' } }));
    expect(error.code).toBe('INVALID_ARGUMENTS');
    expect(error.message).not.toContain('evil');
    expect(received).toHaveLength(0);
  });
});

describe('redirects', () => {
  it('within the host are followed', async () => {
    const { api, received } = await source((request, response) =>
      request.url === '/v1/old'
        ? response.writeHead(301, { location: '/v1/new' }).end()
        : json(response, { gwei: 1 }),
    );
    expect(await api.get('/old', { schema: gas })).toEqual({ gwei: 1 });
    expect(received[1]?.headers['x-api-key']).toBe(key);
  });

  it('to another host are refused, so the key is not sent there', async () => {
    const other = await sourceServer(always({ gwei: 1 }));
    const { api } = await source((_, response) => response.writeHead(302, { location: other.url }).end());
    expect((await errorOf(api.get('/x', { schema: gas }))).code).toBe('SOURCE_MISCONFIGURED');
    expect(other.received).toHaveLength(0);
  });

  it('in a circle end', async () => {
    const { api, received } = await source((_, response) =>
      response.writeHead(302, { location: '/v1/x' }).end(),
    );
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MISCONFIGURED');
    expect(received).toHaveLength(4);
  });
});

describe('secrets', () => {
  it('appear in no text that is made from them', () => {
    const secret = new Secret('API_KEY', key);
    const texts = [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }),
      inspect(secret.after('Bearer ')),
      inspect(basic('me', secret)),
    ];
    for (const text of texts) {
      expect(text).toContain('[secret API_KEY]');
      expect(text).not.toContain(key);
    }
    expect(basic('me', secret).reveal()).toBe(`Basic ${Buffer.from(`me:${key}`).toString('base64')}`);
  });

  it.each([
    ['401', always({ message: `no such key ${key}` }, 401)],
    ['500', always({}, 500)],
    ['no JSON', (_: unknown, response: Parameters<Answer>[1]) => response.end(key)],
    ['another shape', always({ gwei: key })],
    ['a timeout', () => {}],
    [
      'a redirect',
      (_: unknown, response: Parameters<Answer>[1]) =>
        response.writeHead(302, { location: `https://x.example/?k=${key}` }).end(),
    ],
  ] as [string, Answer][])('reach no error, stack or log on %s, nor does the query', async (what, answer) => {
    const { api } = await source(answer, {
      timeoutMs: what === 'a timeout' ? 400 : 60_000,
      retries: 1,
      query: { apikey: new Secret('K', key) },
    });
    const error = await errorOf(
      api.get('/gas/{chain}', { params: { chain: 'base' }, query: { user: 'jane' }, schema: gas }),
    );
    const texts = [
      inspect(error, { depth: 20, showHidden: true }),
      error.stack,
      JSON.stringify(error),
      ...logged.mock.calls.map(String),
    ];
    expect(logged).toHaveBeenCalledOnce();
    for (const text of texts) {
      expect(text).not.toContain(key);
      expect(text).not.toContain('jane');
    }
  });

  it('are added to a copy, so that the request without keys can be sent again', () => {
    const baseUrl = 'https://api.example';
    const keylessRequest = buildRequest(baseUrl, 'post', '/search', {
      query: { q: 'a' },
      multipart: { b: 1 },
    });
    const { url, headers } = keylessRequest;
    const keylessParts = [url.href, ...headers];
    const keyedRequest = addKeys(keylessRequest, { baseUrl, headers: { 'x-key': key }, query: { key } });
    expect(keyedRequest.url.search).toBe(`?q=a&key=${key}`);
    expect(keyedRequest.headers.get('x-key')).toBe(key);
    expect([url.href, ...headers]).toEqual(keylessParts);
  });

  it('that are not set are named, and nothing is sent', async () => {
    const { api, received } = await source(always({}), {
      headers: { 'x-api-key': new Secret('API_KEY', null) },
    });
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MISCONFIGURED');
    expect(String(logged.mock.calls)).toContain('[secret API_KEY]');
    expect(received).toHaveLength(0);
  });

  it.each([
    [
      { headers: { a: new Secret('API_KEY', key), b: new Secret('API_KEY', key).after('x ') } },
      ' in API_KEY.',
    ],
    [{ headers: { a: new Secret('A', key) }, query: { b: new Secret('B', null, true) } }, ' in A and B.'],
  ])('that the API refuses are named in the log, %#', async (options, variables) => {
    const { api } = await source(always({}, 401), options);
    expect((await errorOf(api.get('/x', {}))).message).not.toMatch(/API_KEY|A and B/);
    const [[line]] = logged.mock.calls as [[string]];
    expect(JSON.parse(line)).toMatchObject({
      code: 'SOURCE_REFUSED',
      status: 401,
      hint: `The API refused this server: set a valid key${variables}`,
    });
    expect(line).not.toContain(key);
  });
});

describe('credentials by name', () => {
  const secret = (name: string, text: string | null) => new Secret(name, text, true);
  const credentials = {
    token: { headers: { authorization: secret('TOKEN', 'the-token-itself').after('Bearer ') } },
    user: { headers: { authorization: basic(secret('USER', null), secret('PASSWORD', null)) } },
    tenant: { query: { tenant: secret('TENANT', 'tenant-secret') }, headers: { 'x-kind': 'open' } },
    sid: { headers: { Cookie: secret('SID', 'abc').after('sid=') } },
    csrf: { headers: { cookie: secret('CSRF', 'def').after('csrf=') } },
  };
  const own = { 'x-api-key': new Secret('API_KEY', key), 'user-agent': 'me' };
  const sentWith = async (auth: readonly (readonly string[])[] | undefined, rest = {}) => {
    const { api, received } = await source(always({}), { headers: own, credentials, ...rest });
    const error = await api.get('/x', auth ? { auth } : {}).catch((thrown) => thrown.code);
    const { authorization, cookie, 'x-api-key': apiKey, 'user-agent': agent } = received[0]?.headers ?? {};
    return { error, url: received[0]?.url, authorization, cookie, apiKey, agent };
  };

  it('replace the secrets of the source, and leave its other headers', async () => {
    expect(await sentWith(undefined)).toMatchObject({ apiKey: key, agent: 'me' });
    expect(await sentWith([])).toMatchObject({ url: '/v1/x', apiKey: undefined, agent: 'me' });
    expect(await sentWith([['user'], ['token', 'tenant']])).toMatchObject({
      url: '/v1/x?tenant=tenant-secret',
      authorization: 'Bearer the-token-itself',
      apiKey: undefined,
      agent: 'me',
    });
    expect(await sentWith([['sid', 'csrf']])).toMatchObject({ cookie: 'sid=abc; csrf=def' });
    expect(await sentWith([['user'], []])).toMatchObject({ error: {}, authorization: undefined });
    expect(await sentWith(undefined, { auth: [['token']] })).toMatchObject({
      authorization: 'Bearer the-token-itself',
      apiKey: undefined,
    });
  });

  it('of which none is set end the call; the log names all that are missing, and no text', async () => {
    expect(await sentWith([['user'], ['user', 'token']])).toMatchObject({
      error: 'SOURCE_MISCONFIGURED',
      url: undefined,
    });
    expect(String(logged.mock.calls)).toContain('/x needs USER and PASSWORD, or USER and PASSWORD');
    expect(String(logged.mock.calls)).not.toContain('the-token-itself');
  });

  it('that the API refuses are named in the log, and no others', async () => {
    const { api } = await source(always({}, 401), { headers: own, credentials });
    await errorOf(api.get('/x', { auth: [['user'], ['token', 'tenant']] }));
    await errorOf(api.get('/x', { auth: [] }));
    const hints = logged.mock.calls.map(([line]) => JSON.parse(line).hint);
    expect(hints).toEqual([
      'The API refused this server: set a valid key in TOKEN and TENANT.',
      'The API refused this server: it may require a key.',
    ]);
  });

  it('that do not exist are an error of the author', async () => {
    const { api } = await source(always({}), { credentials });
    await expect(api.get('/x', { auth: [['tokn']] })).rejects.toThrow(
      'The source has no credentials "tokn".',
    );
  });

  it('are removed from every answer, also from those to requests that send others', async () => {
    const said = { a: 'the-token-itself', b: 'tenant-secret', c: key };
    const { api } = await source(always(said), { headers: own, credentials });
    expect(await api.get('/x', { auth: [] })).toEqual({ a: '[secret]', b: '[secret]', c: '[secret]' });
  });

  it('are part of what makes two requests equal', async () => {
    const { api, received } = await source(always({}), { credentials, cacheSeconds: 60 });
    for (const auth of [[['token']], [['tenant']], [['token']]]) await api.get('/x', { auth });
    expect(received).toHaveLength(2);
  });
});
