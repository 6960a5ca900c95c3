import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from '@babel/types';
import { expect, test, vi } from 'vitest';
import { slowness } from '../../packages/contract/src/json/pattern-cost.ts';
import {
  redact,
  redactText,
  redactTokens,
  redactUrl,
  redactValue,
} from '../../src/marketplace/core/redact-traffic.ts';
import { toHar } from '../../src/marketplace/core/traffic.ts';
import { nodesIn, treeOf } from '../../src/typescript/tree.ts';
import { startApi } from '../api-server.ts';
import { repository } from '../e2e/support.ts';
import { openMarketplace, serveHere } from './support.ts';

const token = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl';
const headersOf = (headers: Record<string, string>) =>
  redact({ headers, body: '', cut: 0 }, 'x-platform').headers;

test.each([
  'Authorization',
  'Proxy-Authorization',
  'X-Authorization',
  'x-auth',
  'Cookie',
  'set-cookie',
  'set-cookie2',
  'x-api-key',
  'apikey',
  'x-functions-key',
  'Ocp-Apim-Subscription-Key',
  'x-auth-token',
  'x-csrf-token',
  'x-amz-security-token',
  'PRIVATE-TOKEN',
  'x-client-secret',
  'x-password',
  'x-credentials',
  'x-session-id',
  'x-signature',
])('redacts the header %s', (name) => {
  expect(headersOf({ [name]: 'correct horse battery' })[name]).not.toMatch(/horse|battery/);
});

test.each([
  ['mcp-session-id', '1f2e'],
  ['mcp-protocol-version', '2026-07-28'],
  ['idempotency-key', 'order-7'],
  ['content-type', 'application/json'],
  ['www-authenticate', 'Bearer realm="x"'],
  ['access-control-allow-credentials', 'true'],
  ['access-control-allow-headers', 'authorization, x-api-key'],
  ['keep-alive', 'timeout=5'],
])('shows the header %s', (name, value) => {
  expect(headersOf({ [name]: value })).toEqual({ [name]: value });
});

test('keeps the scheme of a token, and nothing of any other secret', () => {
  expect(
    headersOf({ 'X-Platform': `Token ${token}`, authorization: `Bearer ${token}`, cookie: 'a b' }),
  ).toEqual({ 'X-Platform': 'Token [redacted]', authorization: 'Bearer [redacted]', cookie: '[redacted]' });
});

test.each([
  [`{"token":"${token}"}`, '{"token":"[redacted]"}'],
  [`https://x.example/${token}?a=1`, 'https://x.example/[redacted]?a=1'],
  [`my_${token}`, 'my_[redacted]'],
  // { "alg":"RS256"} with a space, with a line break; without a signature; of five parts.
  ['eyAiYWxnIjoiUlMyNTYifQ.e30.c2ln', '[redacted]'],
  ['ewogICJhbGciOiAiUlMyNTYiCn0.e30.c2ln', '[redacted]'],
  ['eyJhbGciOiJSUzI1NiJ9..c2ln', '[redacted]'],
  ['eyJhbGciOiJkaXIifQabc..iv.text.tag and more', '[redacted] and more'],
  ['keyJoin.test.ts and 1.2.3', 'keyJoin.test.ts and 1.2.3'],
  ['eyJhbGciOiJSUzI1NiJ9 is a header', 'eyJhbGciOiJSUzI1NiJ9 is a header'],
])('finds the tokens in %j', (text, shown) => {
  expect(redactTokens(text)).toBe(shown);
});

test.each([
  ['{"password":"a b","q":"seen"}', '{"password":"[redacted]","q":"seen"}'],
  ['{ "api_key" : "a\\"b" , "q": 1 }', '{ "api_key" : "[redacted]" , "q": 1 }'],
  ['{"apiKey":12345678,"pin":1234}', '{"apiKey":"[redacted]","pin":"[redacted]"}'],
  [String.raw`{"pass\u0077ord":"x"}`, String.raw`{"pass\u0077ord":"[redacted]"}`],
  ['{"client_secret":"cut of', '{"client_secret":"[redacted]"'],
  ['data: {"accessToken":"x"}\n\n', 'data: {"accessToken":"[redacted]"}\n\n'],
  // The text of a result contains the same data as JSON.
  [
    JSON.stringify({ text: JSON.stringify({ secret: 'x', price: 1 }) }),
    JSON.stringify({ text: JSON.stringify({ secret: '[redacted]', price: 1 }) }),
  ],
  [
    JSON.stringify({ text: JSON.stringify({ secret: 'x' }) }).slice(0, -4),
    '{"text":"{\\"secret\\":\\"[redacted]\\""',
  ],
  [
    String.raw`{"text":"{\"secret\":\"x\"} isn\'t JSON"}`,
    '{"text":"{\\"secret\\":\\"[redacted]\\"} isn\'t JSON"}',
  ],
  // Schemas, words that contain another, assets, keys of a map.
  ['{"password":{"type":"string"}}', '{"password":{"type":"string"}}'],
  [
    '{"keyword":"x","token":"USDC","key":"a","tokens":[1]}',
    '{"keyword":"x","token":"USDC","key":"a","tokens":[1]}',
  ],
  ['{"password":null,"a":["password","x"]}', '{"password":null,"a":["password","x"]}'],
  ['no JSON: "password" and "x"', 'no JSON: "password" and "x"'],
])('hides the values of members with the name of a secret in %s', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

test('a value keeps all but its secrets', () => {
  const value = { a: [{ Password: 'x', b: [1, null, true, '\u2028"{'] }], 'auth-token': 'y' };
  expect(redactValue(value)).toEqual({
    a: [{ ...value.a[0], Password: '[redacted]' }],
    'auth-token': '[redacted]',
  });
});

test.each([
  ['https://x.example/mcp?api_key=abc&q=1', 'https://x.example/mcp?api_key=[redacted]&q=1'],
  ['https://x.example/?a=1&access_token=abc#x', 'https://x.example/?a=1&access_token=[redacted]#x'],
  ['https://x.example/#id_token=abc', 'https://x.example/#id_token=[redacted]'],
  ['https://s3.example/o?X-Amz-Signature=abc', 'https://s3.example/o?X-Amz-Signature=[redacted]'],
  ['https://blob.example/o?sig=a%2Fb%3D&se=1', 'https://blob.example/o?sig=[redacted]&se=1'],
  ['https://me:word@x.example/mcp', 'https://[redacted]@x.example/mcp'],
  ['https://x.example/a@b?keyword=', 'https://x.example/a@b?keyword=[redacted]'],
  ['<https://x.example/?key=abc>; rel="next"', '<https://x.example/?key=[redacted]>; rel="next"'],
  ['http://127.0.0.1:3000/mcp?q=1', 'http://127.0.0.1:3000/mcp?q=1'],
])('hides the secrets in the URL %s', (url, shown) => {
  expect(redactUrl(url)).toBe(shown);
});

test.each([
  'src/marketplace/core/redact-traffic.ts',
  // isSecretParameter
  'packages/contract/src/rules/fit-schema.ts',
])('every regular expression of %s takes linear time on a hostile text', (file) => {
  const tree = treeOf(readFileSync(join(repository, file), 'utf8'));
  const patterns: string[] = [];
  for (const node of nodesIn(tree as Node)) if (node.type === 'RegExpLiteral') patterns.push(node.pattern);
  expect(patterns).not.toEqual([]);
  // A string of JSON needs no closing quote, so the engine never tries again because of it.
  const closingQuote = '"?|';
  const slow = patterns.filter((pattern) => slowness(pattern.replace(closingQuote, '|')) !== undefined);
  expect(slow).toEqual([]);
});

/** Counts the characters that functions of texts read, each of them in linear time, while `task` runs. */
function charactersRead(task: () => void): number {
  let count = 0;
  for (const name of ['replace', 'replaceAll', 'search', 'split'] as const) {
    const original = String.prototype[name] as (...args: unknown[]) => unknown;
    vi.spyOn(String.prototype, name).mockImplementation(function (this: string, ...args: unknown[]) {
      count += this.length;
      return original.apply(this, args) as never;
    });
  }
  const { parse: parseJson } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text) => {
    count += text.length;
    return parseJson(text);
  });
  const { test: matches } = RegExp.prototype;
  vi.spyOn(RegExp.prototype, 'test').mockImplementation(function (this: RegExp, text) {
    count += text.length;
    return matches.call(this, text);
  });
  try {
    task();
  } finally {
    vi.restoreAllMocks();
  }
  return count;
}

/** A string of JSON that contains a string of JSON, and so on: each level doubles the backslashes. */
function nestedJson(levels: number): string {
  return levels === 0 ? 'x' : JSON.stringify(nestedJson(levels - 1));
}

test('a string with 100,000 invalid escapes has one level of strings', () => {
  const text = '"\\'.repeat(100_000);
  expect(redactText(`${text}x`)).toBe(`${text}x`);
});

test.each([
  'eyJ',
  'eyJ-',
  '//',
  '?',
  '?a',
  'eyJhbGciOiJSUzI1NiJ9.',
  '.',
  '&;#',
  '//a',
  'ewo',
  '"',
  '\\"',
  '"\\',
  '"a" ',
  '"pin":',
  '{',
  '1-',
  nestedJson(5),
  nestedJson(5).slice(0, -1),
])('reads each character at most 40 times in a text that repeats %j', (part) => {
  const text = `${part.repeat(2_000)}${token}`;
  const count = charactersRead(() => redactText(redactUrl(redactTokens(text))));
  expect(count / text.length).toBeLessThan(40);
});

test('shows no secret of requests and responses anywhere, and replays to the real URL', async () => {
  const asked: string[] = [];
  const sent: unknown[] = [];
  const { origin } = await startApi(({ target, body }) => {
    if (target !== '/health') asked.push(target);
    const { id = null, params = {} } = JSON.parse(body || '{}');
    if (params.arguments) sent.push(params.arguments);
    const headers = {
      'mcp-session-id': 'seen',
      'x-refresh-token': 'hidden-response',
      location: '/elsewhere?client_secret=hidden-location',
    };
    return { headers, body: { jsonrpc: '2.0', id, result: { told: token, password: 'hidden-member' } } };
  });
  const endpoint = `${origin}/mcp?api_key=hidden-query&q=seen`;
  const marketplace = await openMarketplace({ endpoint });
  marketplace.takeLog({ stream: 'stdout', text: `got ${token}` }, undefined);
  const args = { api_key: 'hidden-argument', q: 'one' };
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: args });
  const before = asked.length;
  await marketplace.replay(id);
  const shown = marketplace.traffic.get(id)?.request.body ?? '';
  expect(shown).toContain('"api_key":"[redacted]"');
  await marketplace.replay(id, shown.replace('"one"', '"two"'));
  expect(sent).toEqual([args, args, { ...args, q: 'two' }]);
  expect(asked.slice(before)).not.toEqual([]);
  expect(new Set(asked)).toEqual(new Set(['/mcp?api_key=hidden-query&q=seen']));

  const { url, secret } = await serveHere(marketplace);
  const pages = [
    '/traffic.json',
    '/traffic',
    '/traffic/export.har',
    '/traffic/export.json',
    `/traffic/${id}`,
  ];
  for (const path of pages) {
    const text = await (await fetch(url + path, { headers: { authorization: `Bearer ${secret}` } })).text();
    expect(text).not.toMatch(/hidden-|eyJhbGciOi[\w-]*\.e/);
  }
  const har = JSON.stringify(toHar(marketplace.traffic.all(), '1'));
  expect(har).toContain('q=seen');
  expect(har).toContain('"name":"mcp-session-id","value":"seen"');
  expect(har).not.toMatch(/hidden-|eyJhbGciOi[\w-]*\.e/);
});
