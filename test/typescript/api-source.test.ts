import { describe, expect, it } from 'vitest';
import { readApiSource } from '../../src/typescript/api-source.ts';

const file = (options: string) => `import { httpSource } from 'market-mcp-runtime/source';
import { env } from '../env.ts';

/** The API: httpSource({ not this one }) */
export const api = httpSource(${options});
`;

describe('the keys in the file of an API', () => {
  it.each([
    [
      'as it is generated',
      "{\n  baseUrl: env.A_URL,\n  headers: { authorization: env.A_TOKEN.after('Bearer ') },\n}",
    ],
    ['on one line', "{ headers: { authorization: env.A_TOKEN.after('Bearer ') }, baseUrl: env.A_URL }"],
    ['with other brackets', '{ baseUrl: env["A_URL"], "headers": { "x": env["A_TOKEN"] /* } */ } }'],
    ['in a function', '{ baseUrl: env.A_URL, headers: { x: basic(env.A_TOKEN, `${f({ a: 1 })}`) } }'],
  ])('are read %s', (_, options) => {
    const source = readApiSource(file(options));
    expect([...(source?.shared ?? [])]).toEqual(['A_TOKEN']);
    expect([...(source?.named ?? [])]).toEqual([]);
    expect(file(options).slice(source?.options.bracket)).toBe('});\n');
  });

  it('with names are distinguished from those of every request', () => {
    const text = file(`{
      query: { key: env.A_KEY },
      credentials: {
        token: { headers: { authorization: env.A_TOKEN.after('Bearer ') }, query: { v: '1' } },
        'a b': { query: { headers: env.A_OTHER } }, // the last {one}
      },
      auth: [['token'], ["a b", 'token'], []],
      perMinute: env.A_RATE,
    }`);
    const source = readApiSource(text);
    expect([...(source?.shared ?? [])]).toEqual(['A_KEY']);
    expect([...(source?.named ?? [])].map(([name, said]) => [name, [...said]])).toEqual([
      ['token', ['headers authorization', 'A_TOKEN', 'query v']],
      ['a b', ['query headers', 'A_OTHER']],
    ]);
    expect(source?.auth).toEqual([['token'], ['a b', 'token'], []]);
    expect(text.slice(source?.credentials?.behind, source?.credentials?.bracket)).toBe(
      ' // the last {one}\n      ',
    );
  });

  it.each([
    ['a variable', 'options'],
    ['a spread', '{ ...common, headers: { x: env.A_TOKEN } }'],
    ['an end', '{ headers: { x: env.A_TOKEN }'],
    ['nothing', ''],
  ])('are not read from %s', (_, options) => {
    const text = file(options).replace(/\);\n$/, options.startsWith('{ headers') ? '' : ');\n');
    expect(readApiSource(text)).toBeUndefined();
  });
});
