import { subscribe } from 'node:diagnostics_channel';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type AnswerDrift, drifts } from '../../packages/runtime/src/server/log.ts';
import { always, errorOf, quiet, source } from './source-server.ts';

const text = { type: ['string', 'null'] };
/** As from samples: every member may be null, and those that every sample had are required. */
const schema = {
  type: 'object',
  properties: {
    id: { type: ['integer', 'null'] },
    name: text,
    rank: { type: 'integer' },
    owner: { type: ['object', 'null'], properties: { login: text, site: text }, required: ['login'] },
    items: {
      type: ['array', 'null'],
      items: { type: 'object', properties: { at: text, note: { type: 'string' } }, required: ['at'] },
    },
    rates: { type: ['object', 'null'], additionalProperties: { type: 'number' } },
    error: { type: 'string' },
  },
  required: ['id', 'name'],
} as const;

const seen: AnswerDrift[] = [];
subscribe(drifts.name, (message) => seen.push(message as AnswerDrift));

beforeEach(() => void seen.splice(0));
quiet();

async function answerOf(value: unknown, options: { readonly drift?: 'fail' } = {}, more = {}) {
  const { api } = await source(always(value), options);
  return api.get('/a', { schema, ...more });
}

describe('an answer that differs from its schema', () => {
  it.each<[string, object, object, readonly string[]]>([
    ['a missing member that may be null', { id: 1 }, { id: 1, name: null }, []],
    ['a wrong optional member that may be null', { owner: 7 }, { owner: null }, ['answer.owner']],
    ['a wrong optional member that may not be null', { rank: 'first' }, {}, ['answer.rank']],
    [
      'a nested one',
      { owner: { login: 'a', site: 1 } },
      { owner: { login: 'a', site: null } },
      ['answer.owner.site'],
    ],
    [
      'one in items',
      { items: [{ at: 'x', note: 1 }, { at: 'y' }, { at: 'z', note: 2 }] },
      { items: [{ at: 'x' }, { at: 'y' }, { at: 'z' }] },
      ['answer.items[*].note'],
    ],
    [
      'a text that spells a number',
      { rank: '12', rates: { a: '1.50' } },
      { rank: 12, rates: { a: 1.5 } },
      ['answer.rank', 'answer.rates.*'],
    ],
    ['a text that is no exact number', { rank: '007' }, {}, ['answer.rank']],
    [
      'an optional member without its required ones',
      { owner: { url: 'a' } },
      { owner: null },
      ['answer.owner'],
    ],
  ])('%s is found', async (_, given, expected, paths) => {
    const base = 'id' in given ? {} : { id: 1, name: 'a' };
    expect(await answerOf({ ...base, ...given })).toEqual({ ...base, ...expected });
    expect(seen.map(({ path }) => path)).toEqual(paths);
  });

  it('of an entry of a map is left out, and a map of which more is wrong is another object', async () => {
    const rates = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`C${i}`, i]));
    expect(await answerOf({ id: 1, name: 'a', rates: { ...rates, X: 'none' } })).toMatchObject({ rates });
    expect(await answerOf({ id: 1, name: 'a', rates: { message: 'limited', code: 429 } })).toMatchObject({
      rates: null,
    });
    expect(new Set(seen.map(({ path }) => path))).toEqual(new Set(['answer.rates.*', 'answer.rates']));
  });

  it('of a required object is found with one of its members, and never with none', async () => {
    const inner = {
      type: 'object',
      properties: { a: text, b: text, c: text },
      required: ['a', 'b', 'c'],
    } as const;
    const outer = { type: 'object', properties: { data: inner }, required: ['data'] } as const;
    const ask = async (data: object) => {
      const { api } = await source(always({ data }));
      return api.get('/a', { schema: outer });
    };
    expect(await ask({ b: 'x', d: 1 })).toEqual({ data: { a: null, b: 'x', c: null, d: 1 } });
    expect((await errorOf(ask({ message: 'limited' }))).code).toBe('SOURCE_MALFORMED');
    expect((await errorOf(ask({ b: 1 }))).code).toBe('SOURCE_MALFORMED');
  });

  it('of a required object without its members is found beside a list or an object that has arrived, and not alone', async () => {
    const inner = { type: 'object', properties: { a: text }, required: ['a'] } as const;
    const list = {
      type: 'array',
      items: { type: 'object', properties: { at: text }, required: ['at'] },
    } as const;
    const outer = {
      type: 'object',
      properties: { asked: inner, list, ok: text },
      required: ['asked', 'list', 'ok'],
    } as const;
    const ask = async (value: object) => {
      const { api } = await source(always(value));
      return api.get('/a', { schema: outer });
    };
    const rows = [{ at: 'x' }];
    expect(await ask({ asked: { b: 1 }, list: rows, ok: 'y' })).toEqual({
      asked: { a: null, b: 1 },
      list: rows,
      ok: 'y',
    });
    expect(seen.map(({ path }) => path)).toEqual(['answer.asked']);
    for (const value of [
      { asked: { b: 1 }, list: [], ok: 'y' },
      { asked: { b: 1 }, ok: 'y' },
    ])
      expect((await errorOf(ask(value))).code).toBe('SOURCE_MALFORMED');
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['a failure', { message: 'rate limited' }],
    ['a list', [1]],
    ['a wrong required member', { id: 'one', name: 'a' }],
  ])('%s is not found', async (_, value) => {
    expect(await errorOf(answerOf(value))).toMatchObject({ code: 'SOURCE_MALFORMED' });
    expect(seen).toEqual([]);
  });

  it('fails in each case where the source says so, or the author has chosen the members', async () => {
    const wrong = { id: 1, name: 'a', owner: 7 };
    expect(await errorOf(answerOf(wrong, { drift: 'fail' }))).toMatchObject({ code: 'SOURCE_MALFORMED' });
    expect(await errorOf(answerOf(wrong, {}, { keep: 'declared' }))).toMatchObject({
      code: 'SOURCE_MALFORMED',
    });
    const chosen = { type: 'object', properties: { a: text, b: text }, required: [] } as const;
    const { api } = await source(always({ message: 'rate limited' }));
    const options = { schema: chosen, keep: 'declared' } as const;
    expect(await errorOf(api.get('/a', options))).toMatchObject({ code: 'SOURCE_MALFORMED' });
  });

  it('is logged once a minute for each path', async () => {
    const lines = () => vi.mocked(console.error).mock.calls.filter(([line]) => /source-drift/.test(line));
    await answerOf({ id: 1, name: 'a', owner: { login: 'b', site: {} } });
    const before = lines().length;
    await answerOf({ id: 1, name: 'a', owner: { login: 'b', site: [] } });
    expect(lines()).toHaveLength(before);
    expect(seen).toHaveLength(2);
  });

  it('of a hostile API ends in bounded work: names of the prototype, depth, names and paths without end', async () => {
    const ask = async (json: string, given: object = schema) => {
      const { api } = await source((_, response) => response.end(json));
      return api.get('/a', { schema: given as typeof schema });
    };
    const entries = Array.from({ length: 20 }, (_, i) => `"C${i}":${i}`).join();
    const named = await ask(`{"id":1,"name":"a","__proto__":{"own":1},"rates":{${entries},"__proto__":"x"}}`);
    expect(Object.keys(named)).toEqual(['id', 'name', '__proto__', 'rates']);
    expect(Object.hasOwn(named.rates as object, '__proto__')).toBe(false);
    expect({}).not.toHaveProperty('own');

    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(await ask(`{"id":1,"name":"a","owner":${deep}}`)).toMatchObject({ owner: null });
    const many = Array.from({ length: 10_000 }, (_, i) => `"${'k'.repeat(50)}${i}":{"a":[${i}]}`).join();
    expect(Object.keys(await ask(`{"id":1,"name":"a","rank":{},${many}}`))).toHaveLength(10_002);
    expect((await errorOf(ask(`{"id":1,"name":"a","rates":{${many}},"rank":[]`))).code).toBe(
      'SOURCE_MALFORMED',
    );

    seen.length = 0;
    const wide = Array.from({ length: 300 }, (_, i) => [`m${i}`, { type: 'string' }] as const);
    const answer = JSON.stringify(Object.fromEntries(wide.map(([name], i) => [name, i])));
    await ask(answer, { type: 'object', properties: Object.fromEntries(wide), required: [] });
    expect(seen).toHaveLength(300);
    expect(new Set(seen.map(({ path }) => path)).size).toBeLessThanOrEqual(101);
    expect(seen.at(-1)?.path).toBe('_OTHER');
  });
});
