import { describe, expect, it } from 'vitest';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { redactorOf } from '../../packages/runtime/src/source/redact.ts';
import { basic, Secret } from '../../packages/runtime/src/source/secret.ts';
import { always, errorOf, json, key, quiet, source, sourceServer } from './source-server.ts';

const awkward = 'k3y/of+the "author" 100% & <more>';
const utf8 = (text: string) => Buffer.from(text);
const percent = (text: string) => [...utf8(text)].map((byte) => `%${byte.toString(16)}`).join('');
const forms: { readonly [form: string]: (text: string) => string } = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  'lower case': (text) => text.toLowerCase(),
  'inside a text': (text) => `your key ${text}, is wrong`,
  'encoded for a URL': (text) => encodeURIComponent(text),
  'encoded for a form': (text) => new URLSearchParams({ text }).toString().slice('text='.length),
  'every byte encoded for a URL, lower case': (text) => percent(text),
  'encoded twice for a URL': (text) => encodeURIComponent(encodeURIComponent(text)),
  base64: (text) => utf8(text).toString('base64'),
  base64url: (text) => utf8(text).toString('base64url'),
  'base64 in a URL': (text) => encodeURIComponent(utf8(text).toString('base64')),
  'base64 of more': (text) => utf8(`${text}:`).toString('base64'),
  'base64 behind one byte': (text) => utf8(`:${text}`).toString('base64'),
  'base64 behind two bytes': (text) => utf8(`a:${text}:b`).toString('base64url'),
  'base64 in HTML': (text) =>
    utf8(`a:${text}`).toString('base64').replaceAll('+', '&#43;').replaceAll('/', '&#x2F;'),
  HTML: html,
  'HTML in HTML': (text) => html(html(text)),
  'HTML, every character as a number': (text) =>
    Array.from(text, (one) => `&#${one.codePointAt(0)};`).join(''),
  'HTML, every character in hex': (text) =>
    Array.from(text, (one) => `&#x00${one.codePointAt(0)?.toString(16)};`).join(''),
  hex: (text) => utf8(text).toString('hex'),
  'hex, upper case': (text) => utf8(text).toString('hex').toUpperCase(),
  'JSON in a text': (text) => JSON.stringify({ text }),
  'JSON in JSON in a text': (text) => JSON.stringify(JSON.stringify({ text })),
  'JSON with escaped slashes in a text': (text) => JSON.stringify({ text }).replaceAll('/', '\\/'),
  'JSON with every character escaped in a text': (text) => `"${unicode(text)}"`,
};

function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Each character as an escape of JSON. */
function unicode(text: string): string {
  return Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

/** What is left of a key in a text, whatever the form: runs of six of its characters. */
function partsOf(secret: string, text: string): readonly string[] {
  const lower = text.toLowerCase();
  return Object.values(forms)
    .map((form) => form(secret).toLowerCase())
    .flatMap((form) => (form.length <= secret.length * 12 && lower.includes(form) ? [form] : []));
}

quiet();

describe.each([key, awkward, 'ключ-автора', '\\\\server\\key', 'x'.repeat(3_000)])(
  'the key %.30s',
  (secret) => {
    const redact = redactorOf([secret]);

    it.each(Object.entries(forms))('is removed from an answer: %s', (_, form) => {
      const value = { before: 1, text: form(secret), list: [form(secret), null], [form(secret)]: 'é \n "' };
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        const left = redact(text);
        expect(partsOf(secret, left)).toEqual([]);
        const parsed = JSON.parse(left);
        expect(parsed.text).toContain('[secret]');
        expect(parsed.list[0]).toContain('[secret]');
        expect(Object.keys(parsed)[3]).toContain('[secret]');
        expect(parsed).toMatchObject({ before: 1, list: [expect.anything(), null] });
      }
    });

    it('is removed where the answer itself is escaped', () => {
      const parsed = JSON.parse(redact(`{"a":"${unicode(secret)}","b":"${unicode(percent(secret))}"}`));
      expect(parsed).toEqual({ a: '[secret]', b: '[secret]' });
    });
  },
);

it('a key is removed where the answer escapes the ampersands of HTML, as Go does', () => {
  const text = JSON.stringify({ text: html(awkward) }).replaceAll('&', '\\u0026');
  expect(JSON.parse(redactorOf([awkward])(text))).toEqual({ text: '[secret]' });
});

it('text that is not a key stays byte for byte', () => {
  const text = `{"a" : 1.50, "b":[1e400,"\\u0041\\/", 12345678901234567890],"c":"${key}","c":"\\"\\\\"}`;
  expect(redactorOf(['another-key'])(text)).toBe(text);
  expect(redactorOf([key])(text)).toBe(text.replace(key, '[secret]'));
  expect(redactorOf([key])('<html> ')).toBe('<html> ');
});

it('a short text is not a key in an answer', () => {
  expect(redactorOf(['base', '1234567', ''])('{"chain":"base","n":1234567}')).toBe(
    '{"chain":"base","n":1234567}',
  );
});

it('a key of digits is removed as a number, too', () => {
  const redact = redactorOf(['4815162342']);
  expect(redact('{"id":4815162342,"n":[-4815162342, 42]}')).toBe('{"id":"[secret]","n":["[secret]", 42]}');
});

it('the user and the password of basic authentication are keys, also as a pair', () => {
  const texts = basic(new Secret('USER', 'the-author'), new Secret('PASSWORD', 'open sesame')).texts();
  const echoes = ['the-author', 'open sesame', 'the-author:open sesame'].flatMap((text) => [
    text,
    utf8(text).toString('base64'),
  ]);
  for (const left of JSON.parse(redactorOf(texts)(JSON.stringify(echoes))))
    expect(left).toMatch(/^\[secret\](?::\[secret\])?$/);
});

it.each([
  ['beginnings of the key', `{"a":"${key.slice(0, -1).repeat(100_000)}"}`],
  ['backslashes', `{"a":"${'\\\\'.repeat(900_000)}"}`],
  ['ampersands', `{"a":"${'&amp;'.repeat(380_000)}"}`],
  ['percent signs', `{"a":"${'%25'.repeat(600_000)}"}`],
  ['a text that never ends', `"${'\\"'.repeat(900_000)}`],
  ['quotes', '"'.repeat(1_900_000)],
  ['digits', '-1'.repeat(900_000)],
  ['nesting', '['.repeat(1_900_000)],
])('an answer of %s is read in one pass', (_, text) => {
  expect(redactorOf([key, awkward])(text)).toBe(text);
  const withKey = `${text}"${key}"`;
  expect(redactorOf([key, awkward])(withKey).length).toBeLessThanOrEqual(withKey.length);
});

describe('an API that repeats the key', () => {
  const echo = (text: string) => ({
    type: 'object',
    properties: { text: { type: text } },
    required: ['text'],
  });

  it.each(Object.entries(forms))('answers callers without it: %s', async (_, form) => {
    const { api } = await source(always({ text: form(key) }));
    const answer = await api.get('/x', { schema: echo('string') as never });
    expect(JSON.stringify(answer)).toContain('[secret]');
    expect(partsOf(key, JSON.stringify(answer))).toEqual([]);
  });

  it('fails with a code where the answer without it has another form', async () => {
    const secret = new Secret('KEY', '4815162342');
    const { api } = await source(always({ text: 4815162342 }), { query: { key: secret } });
    const error = await errorOf(api.get('/x', { schema: echo('number') as never }));
    expect(error.code).toBe('SOURCE_MALFORMED');
    expect(JSON.stringify([error.message, error.hints])).not.toContain('4815162342');
  });

  it('tells it to nobody as a time to wait', async () => {
    const secret = new Secret('KEY', '48151623');
    const { api } = await source(always({}, 429, { 'retry-after': '48151623' }), { query: { key: secret } });
    expect((await errorOf(api.get('/x', {}))).hints).toEqual({ retryAfterSeconds: 86_400 });
  });

  it('is an MCP server: in results, in texts and in failures', async () => {
    const token = new Secret('TOKEN', key).after('Bearer ');
    const { url } = await sourceServer(({ body, headers }, response) => {
      const { id, method, params } = JSON.parse(body);
      if (method !== 'tools/call') return json(response, { jsonrpc: '2.0', id, result: {} });
      const said = forms[params.arguments.form]?.(String(headers.authorization)) ?? '';
      const { kind } = params.arguments;
      const content = [{ type: 'text', text: `${kind} ${said}` }];
      const found = { structuredContent: { text: said }, content };
      const results = new Map<string, object>([
        ['fail', { isError: true, content }],
        ['text', { content }],
      ]);
      json(response, { jsonrpc: '2.0', id, result: results.get(kind) ?? found });
    });
    const api = mcpSource({ baseUrl: url, headers: { authorization: token } });
    const schema = { type: 'object', properties: {}, required: [] } as const;
    for (const form of Object.keys(forms)) {
      const call = (kind: string, more = {}) =>
        api.call('x', { arguments: { kind, form }, schema, isReadOnly: true, ...more });
      const setResult = [
        await call('found'),
        await call('text', { wrap: 'text' }),
        (await errorOf(call('fail'))).message,
      ];
      for (const end of setResult) {
        expect(JSON.stringify(end), form).toContain('[secret]');
        expect(partsOf(key, JSON.stringify(end)), form).toEqual([]);
      }
    }
  });
});
