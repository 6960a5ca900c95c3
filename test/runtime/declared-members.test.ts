import { describe, expect, it } from 'vitest';
import { signals } from '../../packages/runtime/src/server/define-tool.ts';
import { keepDeclaredMembers } from '../../packages/runtime/src/source/declared-members.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { type Answer, always, errorOf, json, quiet, source, sourceServer } from './source-server.ts';

const text = { type: 'string' } as const;
const object = <const P extends { readonly [name: string]: object }>(properties: P) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as const;

quiet();

describe('keep: declared', () => {
  it.each([
    ['members of objects', object({ a: text }), { a: '1', b: '2' }, { a: '1' }],
    [
      'members inside lists',
      object({ l: { items: object({ a: text }) } }),
      { l: [{ a: '1', b: 2 }, 3] },
      { l: [{ a: '1' }, 3] },
    ],
    [
      'members inside lists of lists',
      object({ l: { items: { items: object({ a: text }) } } }),
      { l: [[{ b: 2 }]] },
      { l: [[{}]] },
    ],
    [
      'members of the values of maps',
      object({ m: { additionalProperties: object({ a: text }) } }),
      { m: { x: { a: '1', b: 2 } } },
      { m: { x: { a: '1' } } },
    ],
    [
      'members of no alternative',
      object({ u: { anyOf: [object({ a: text }), object({ b: text }), { type: 'null' }] } }),
      { u: { a: '1', b: '2', c: 3 } },
      { u: { a: '1', b: '2' } },
    ],
  ])('drops %s', (_, schema, value, expected) => {
    expect(keepDeclaredMembers(value, schema)).toEqual(expected);
  });

  it.each([
    ['an object without described members', object({ o: { type: 'object' } }), { o: { x: 1 } }],
    [
      'an open object',
      object({ o: { type: 'object', properties: { a: text }, additionalProperties: true } }),
      { o: { x: 1 } },
    ],
    ['a list without described items', object({ l: { type: 'array' } }), { l: [{ x: 1 }] }],
    ['what a reference describes', object({ t: { $ref: '#' } }), { t: { x: 1 } }],
    ['null, and values of another type', object({ o: object({ a: text }) }), { o: null }],
    ['a text instead of an object', object({ o: object({ a: text }) }), { o: 'x' }],
  ])('keeps %s', (_, schema, value) => {
    expect(keepDeclaredMembers(value, schema)).toEqual(value);
  });

  it('drops names of the prototype, and what stands for a signal of the tool', () => {
    const value = JSON.parse('{"a":"1","constructor":1,"__proto__":{"x":1},"error":"e","message":"m"}');
    expect(keepDeclaredMembers(value, object({ ...signals, a: text }))).toEqual({ a: '1' });
    expect(keepDeclaredMembers(value, object({ ...signals, message: text }))).toEqual({ message: 'm' });
  });

  it('validates only what is left', async () => {
    const { api } = await source(always({ id: 1, owner: { login: 'o', id: 'not a number' }, size: 'wrong' }));
    const schema = object({ id: { type: 'integer' }, owner: object({ login: text }) });
    expect(await api.get('/x', { schema, keep: 'declared' })).toEqual({ id: 1, owner: { login: 'o' } });
    const strict = object({ id: text });
    expect((await errorOf(api.get('/x', { schema: strict, keep: 'declared' }))).code).toBe(
      'SOURCE_MALFORMED',
    );
    const absent = object({ none: text });
    expect((await errorOf(api.get('/x', { schema: absent, keep: 'declared' }))).code).toBe(
      'SOURCE_MALFORMED',
    );
  });

  it('keeps what stands for a success without content', async () => {
    const { api } = await source((_, response) => void response.writeHead(204).end());
    const schema = { ...object({ id: { type: ['integer', 'null'] } }), required: ['id'] } as const;
    expect(await api.post('/x', { schema, keep: 'declared' })).toEqual({ id: null, done: true });
  });

  it('works inside a wrapped list and a wrapped value', async () => {
    const { api } = await source(always([{ id: 1, more: 2 }]));
    const item = { type: 'array', items: object({ id: { type: 'integer' } }) };
    const list = { schema: object({ items: item }), wrap: 'items', keep: 'declared' } as const;
    expect(await api.get('/x', list)).toEqual({ items: [{ id: 1 }] });
    const whole = { schema: object({ result: item }), wrap: 'result', keep: 'declared' } as const;
    expect(await api.get('/x', whole)).toEqual({ result: [{ id: 1 }] });
  });

  it('drops the rest of an answer of an MCP server, too', async () => {
    const answer: Answer = ({ body }, response) => {
      const { id, method } = JSON.parse(body);
      const structuredContent = {
        celsius: 5,
        place: { name: 'Oslo', lat: 'wrong' },
        error: 'not a failure',
        note: 'x',
      };
      const result =
        method === 'initialize' ? { protocolVersion: '2025-06-18' } : { content: [], structuredContent };
      if (id === undefined) response.writeHead(202).end();
      else json(response, { jsonrpc: '2.0', id, result });
    };
    const { url } = await sourceServer(answer);
    const api = mcpSource({ baseUrl: url });
    const schema = object({ ...signals, celsius: { type: 'number' }, place: object({ name: text }) });
    const lenient = { ...schema, required: ['celsius', 'place'] } as const;
    expect(await api.call('get_weather', { schema: lenient, keep: 'declared' })).toEqual({
      celsius: 5,
      place: { name: 'Oslo' },
    });
    const wrapped = object({ result: object({ celsius: { type: 'number' } }) });
    expect(await api.call('get_weather', { schema: wrapped, keep: 'declared', wrap: 'result' })).toEqual({
      result: { celsius: 5 },
    });
  });
});
