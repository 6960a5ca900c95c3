import { Ajv } from 'ajv';
import { describe, expect, test, vi } from 'vitest';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { CallResult } from '../../packages/runtime/src/server/call-result.ts';
import type { Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { createLargeWorkQueue } from '../../packages/runtime/src/server/large-work-queue.ts';
import { runCall } from '../../packages/runtime/src/server/run-call.ts';
import { compileTool } from '../../packages/runtime/src/server/schema.ts';
import { type CallOptions, callTool } from '../../packages/runtime/src/testing.ts';
import fc from '../fast-check.ts';
import { echo, heldTool, lying, price, rigid, textTool, throwing } from './tools.ts';

/** Calls a tool and asserts the properties of every result with structured content. */
async function call(tool = price, args?: JsonObject, options: CallOptions = {}): Promise<CallResult> {
  const result = await callTool(tool, args, { report: () => {}, ...options });
  expect(result.content).toHaveLength(1);
  expect(result.content[0]?.text).toBe(JSON.stringify(result.structuredContent));
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(tool.outputSchema);
  expect(validate(result.structuredContent)).toBe(true);
  return result;
}

describe('the three outcomes', () => {
  test('found: the data, with defaults for absent arguments', async () => {
    expect(await call()).toEqual({
      content: [{ type: 'text', text: '{"price":12.5,"rows":[{"bid":1}]}' }],
      structuredContent: { price: 12.5, rows: [{ bid: 1 }] },
    });
  });

  test('empty: empty values and the signal, no error', async () => {
    const { structuredContent, isError } = await call(price, { coin: 'nothing' });
    expect(structuredContent).toEqual({
      price: null,
      rows: [],
      searchExhausted: true,
      noResultsReason: 'No such coin',
    });
    expect(isError).toBeUndefined();
  });

  test('fail: empty values, code, message, and the hints that the schema admits', async () => {
    const { structuredContent, isError } = await call(price, { coin: 'broken' });
    expect(structuredContent).toEqual({
      price: null,
      rows: [],
      validCoins: ['btc'],
      retry: true,
      error: 'UPSTREAM_DOWN',
      message: 'The source is down',
    });
    expect(isError).toBe(true);
  });

  test('drops hints that a closed schema does not admit, and hints that would replace code or message', async () => {
    const closed = {
      ...textTool('closed', (_, { fail }) => fail('CODE', 'Why', { error: 'no', message: 'no', extra: 1 })),
      outputSchema: { ...echo.outputSchema, additionalProperties: false },
    };
    expect((await call(closed)).structuredContent).toEqual({ text: null, error: 'CODE', message: 'Why' });
  });

  test('sends text alone for a failure that the schema does not admit', async () => {
    expect(await callTool(rigid)).toEqual({
      content: [{ type: 'text', text: '{"error":"NO_ROOM","message":"Nowhere to put this"}' }],
      isError: true,
    });
  });
});

describe('arguments', () => {
  test.each<[JsonObject, string]>([
    [{ coin: 3 }, 'arguments.coin: must be string, got 3'],
    [{ depth: 9 }, 'arguments.depth: must be <= 5, got 9'],
    [{ depth: '2' }, 'arguments.depth: must be integer, got "2"'],
    [{ coin: null }, 'arguments.coin: must be string, got null'],
  ])('%j is refused with path, expected and actual', async (args, message) => {
    const { structuredContent, isError } = await call(price, args);
    expect(structuredContent).toMatchObject({ error: 'INVALID_ARGUMENTS', message });
    expect(isError).toBe(true);
  });

  const withInput = (properties: object, definitions = {}): Tool => ({
    ...textTool('demanding', (_, { found }) => found({ text: 'x' })),
    inputSchema: { type: 'object', properties, required: [], definitions } as Tool['inputSchema'],
  });
  const messageOf = async (tool: Tool, args: JsonObject) =>
    (await call(tool, args)).structuredContent?.message;

  test('name one problem', async () => {
    const tool = withInput({ list: { type: 'array', items: { type: 'string' } } });
    expect(await messageOf(tool, { list: Array(10_000).fill(1) })).toBe(
      'arguments.list[0]: must be string, got 1',
    );
  });

  const range = { type: 'object', properties: { min: { type: 'number' }, 'a/b~': { const: 1 } } };
  test.each<[JsonObject, string]>([
    [{ range: { min: '3' } }, 'arguments.range.min: must be number, got "3"'],
    [{ range: 3 }, 'arguments.range: must match a schema in anyOf, got 3'],
    [{ range: { 'a/b~': 2 } }, 'arguments.range.a~1b~0: must be equal to constant: 1, got 2'],
    [{ one: { min: '3' } }, 'arguments.one.min: must be number, got "3"'],
    [{ one: 'x' }, 'arguments.one: must match exactly one schema in oneOf, got "x"'],
    [{ some: [{ min: '3' }] }, 'arguments.some: must contain at least 1 valid item(s), got [{"min":"3"}]'],
    [{ chosen: { min: '3' } }, 'arguments.chosen.min: must be number, got "3"'],
    [{ plain: 'd' }, 'arguments.plain: must be equal to one of the allowed values: ["a",1,null], got "d"'],
  ])('%j: the problem is the deepest in the value', async (args, message) => {
    const tool = withInput({
      range: { anyOf: [range, { type: 'null' }] },
      one: { oneOf: [{ type: 'null' }, range] },
      some: { type: 'array', contains: range },
      chosen: { if: { type: 'null' }, else: range },
      plain: { enum: ['a', 1, null] },
    });
    expect(await messageOf(tool, args)).toBe(message);
  });

  const tooMany = 'arguments: takes too many steps to be compared with its schema';
  const one = { $ref: '#/definitions/one' };
  const tree = (levels: number): Json => (levels === 0 ? {} : { not: tree(levels - 1) });
  test.each([
    ['oneOf', { oneOf: [one, one] }],
    ['anyOf', { anyOf: [{ allOf: [one, false] }, one] }],
    ['allOf', { allOf: [one, one] }],
    ['if', { if: { allOf: [one, false] }, else: one }],
    ['not', { allOf: [{ not: { allOf: [one, false] } }, one] }],
  ])('end after a number of steps where a recursive schema branches by %s', async (_, branching) => {
    const inner = { type: 'object', properties: { not: { $ref: '#/definitions/branching' } } };
    const tool = withInput({ tree: { $ref: '#/definitions/branching' } }, { one: inner, branching });
    expect(await messageOf(tool, { tree: tree(4) })).not.toBe(tooMany);
    expect(await messageOf(tool, { tree: tree(200) })).toBe(tooMany);
  });

  const objects = Array.from({ length: 40_000 }, () => ({ a: 1 }));
  const members = Object.fromEntries(objects.map((value, index) => [`n${index}`, value]));
  const times = (one: (index: number) => JsonObject) => Array.from({ length: 100 }, (_, index) => one(index));
  test.each<[string, JsonObject, Json]>([
    ['items', { anyOf: times((least) => ({ type: 'array', items: { minProperties: 2 + least } })) }, objects],
    [
      'additionalItems',
      {
        allOf: times((least) => ({ items: [true], additionalItems: { type: 'object', title: `${least}` } })),
      },
      objects,
    ],
    [
      'additionalProperties',
      { allOf: times((most) => ({ additionalProperties: { title: `${most}`, type: 'object' } })) },
      members,
    ],
    ['propertyNames', { allOf: times((most) => ({ propertyNames: { maxLength: 100 + most } })) }, members],
    ['minProperties', { allOf: times((least) => ({ minProperties: least })) }, members],
    ['maxProperties', { allOf: times((more) => ({ maxProperties: 50_000 + more })) }, members],
  ])(
    'end after a number of steps where a hundred schemas read the same value: %s',
    async (_, schema, value) => {
      const tool = {
        ...price,
        inputSchema: { type: 'object', properties: { value: schema }, required: [] },
      } as unknown as Tool;
      const { structuredContent } = await call(tool, { value });
      expect(structuredContent).toMatchObject({ error: 'INVALID_ARGUMENTS', message: tooMany });
    },
  );

  test('and answers may be large where each value takes a few steps only', async () => {
    const value = { anyOf: [{ type: 'string' }, { $ref: '#/definitions/none' }] };
    const list = { type: 'array', items: value };
    const none = { type: 'null' };
    const asked = withInput({ list }, { none });
    expect(await messageOf(asked, { list: Array(50_000).fill(null) })).toBeUndefined();
    const answering: Tool = {
      ...textTool('rows', (_, { found }) => found({ list: Array(1_000_000).fill(null) })),
      outputSchema: { type: 'object', properties: { list }, required: [], definitions: { none } } as never,
    };
    expect(await messageOf(answering, {})).toBeUndefined();
  });

  test.each([
    ['a declared one', { depth: Number.POSITIVE_INFINITY }],
    ['one that no schema mentions', { further: { rows: [Number.NEGATIVE_INFINITY] } }],
  ])('refuse a number beyond the range: %s', async (_, args) => {
    const ran = vi.fn();
    const tool = {
      ...price,
      run: (...all: Parameters<typeof price.run>) => {
        ran();
        return price.run(...all);
      },
    };
    const context = { requestId: 'id', onDisconnect: () => () => {}, timeoutMs: 1000, onIncident: () => {} };
    const { result, outcome, code } = await runCall(compileTool(tool), args, context);
    expect({ outcome, code, error: result.structuredContent?.error }).toEqual({
      outcome: 'error',
      code: 'INVALID_ARGUMENTS',
      error: 'INVALID_ARGUMENTS',
    });
    expect(ran).not.toHaveBeenCalled();
  });

  test('check uniqueness by value, for 20,000 objects too', async () => {
    const tool: Tool = {
      ...textTool('rows', (_, { found }) => found({ text: 'ran' })),
      inputSchema: {
        type: 'object',
        properties: {
          rows: { type: 'array', uniqueItems: true },
          free: { type: 'array', uniqueItems: false },
        },
        required: [],
      },
    };
    const codeOf = async (args: JsonObject) => (await call(tool, args)).structuredContent?.error;
    for (const rows of [
      [
        { a: 1, b: [2, 3] },
        { b: [2, 3], a: 1 },
      ],
      [0, -0],
      [null, null],
      [[{ a: 'x' }], [{ a: 'x' }]],
    ]) {
      expect(await codeOf({ rows }), JSON.stringify(rows)).toBe('INVALID_ARGUMENTS');
    }
    const distinct: Json[] = [
      1,
      '1',
      true,
      null,
      'null',
      [],
      [1],
      ['1'],
      {},
      { a: 1 },
      { a: '1' },
      { b: 1 },
      '{}',
      [[]],
    ];
    expect(await codeOf({ rows: distinct, free: [1, 1] })).toBeUndefined();
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id, name: 'x' }));
    expect(await codeOf({ rows: many })).toBeUndefined();
    expect(await codeOf({ rows: [...many, { name: 'x', id: 7 }] })).toBe('INVALID_ARGUMENTS');
  });

  test('refuse any depth of nesting without a crash', async () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    const context = {
      requestId: 'id',
      onDisconnect: () => () => {},
      timeoutMs: undefined,
      onIncident: () => {},
    };
    const { result } = await runCall(compileTool(echo), { value: deep }, context);
    expect(result.structuredContent).toMatchObject({ error: 'INVALID_ARGUMENTS' });
  });

  test('do not change the caller’s object', async () => {
    const args = Object.freeze({ coin: 'btc' });
    await call(price, args);
    expect(args).toEqual({ coin: 'btc' });
  });

  test('may have a parameter that is named like a member of every object', async () => {
    const tool = {
      ...textTool('odd', (input, { found }) =>
        found({ text: Object.values(input).join() } satisfies JsonObject),
      ),
      inputSchema: {
        type: 'object' as const,
        properties: {
          constructor: { type: 'string', default: 'a' },
          toString: { type: 'string', default: 'b' },
          hasOwnProperty: { type: 'string' },
        },
        required: [],
      },
    };
    expect((await call(tool, {})).structuredContent).toEqual({ text: 'a,b' });
    expect((await call(tool, { constructor: 'c', hasOwnProperty: 'd' })).structuredContent).toEqual({
      text: 'c,d,b',
    });
  });
});

describe('arguments that are objects', () => {
  const tool = {
    ...textTool('objects', (input, { found }) => found({ text: JSON.stringify(input) })),
    inputSchema: {
      type: 'object' as const,
      properties: {
        list: { type: 'array', uniqueItems: true },
        only: { const: { a: 1 } },
        one: { enum: [{ a: [{ c: 2 }] }, { a: [] }] },
        constructor: { type: 'object' },
      },
      required: [],
    },
  };

  test.each<JsonObject>([
    { list: [{ a: 1 }, { a: 2 }] },
    { only: { a: 1 } },
    { one: { a: [{ c: 2 }] } },
    { constructor: { constructor: 1, toString: { a: 1 } } },
    JSON.parse('{"__proto__":{"a":1},"constructor":{"__proto__":{"list":1}}}'),
  ])('%j is passed unchanged', async (args) => {
    expect((await call(tool, args)).structuredContent).toEqual({ text: JSON.stringify(args) });
  });

  test.each<[JsonObject, string]>([
    [{ list: [{ a: 1 }, { a: 1 }] }, 'duplicate items'],
    [{ only: { a: 2 } }, 'arguments.only: must be equal to constant: {"a":1}, got {"a":2}'],
    [
      { one: { a: 2 } },
      'arguments.one: must be equal to one of the allowed values: [{"a":[{"c":2}]},{"a":[]}], got',
    ],
    [{ list: [{ valueOf: 1 }, { valueOf: 1 }] }, 'duplicate items'],
  ])('%j is refused', async (args, message) => {
    const { structuredContent } = await call(tool, args);
    expect(structuredContent?.error).toBe('INVALID_ARGUMENTS');
    expect(structuredContent?.message).toContain(message);
  });
});

describe('errors of a tool', () => {
  test('an exception gives the caller only an id', async () => {
    const report = vi.fn();
    const result = await call(throwing, {}, { report });
    const [{ id, tool, detail }] = report.mock.calls[0] ?? [];
    expect(tool).toBe('throwing');
    expect(detail).toMatch(/^Error: secret detail\n {4}at /);
    expect(result.structuredContent).toMatchObject({ error: 'INTERNAL_ERROR' });
    expect(result.content[0]?.text).toContain(id);
    expect(result.content[0]?.text).not.toMatch(/secret|at Object/);
  });

  test.each([
    ['a value of the wrong type', lying, 'structuredContent.text: must be string,null, got 12'],
    [
      'a missing member',
      textTool('t', (_, { found }) => found({})),
      "structuredContent.text: must have required property 'text'",
    ],
    [
      'NaN',
      textTool('t', (_, { found }) => found({ text: Number.NaN })),
      'structuredContent.text: JSON turns NaN into null',
    ],
    ['a BigInt', textTool('t', (_, { found }) => found({ text: 1n })), 'structuredContent: Do not know how'],
    ['a bare object', textTool('t', () => ({ text: 'x' }) as never), 'run must return'],
    ['nothing', textTool('t', () => undefined as never), 'run must return'],
  ])('%s is not a success', async (_, tool, detail) => {
    const report = vi.fn();
    const result = await call(tool, {}, { report });
    expect(result.structuredContent).toMatchObject({ text: null, error: 'OUTPUT_MISMATCH' });
    expect(result.isError).toBe(true);
    expect(report.mock.calls[0]?.[0].detail).toContain(detail);
  });

  test('validates the serialized answer', async () => {
    const tool = textTool('dated', (_, { found }) =>
      found({ text: new Date(0), hidden: undefined, nothing: null }),
    );
    expect((await call(tool)).structuredContent).toEqual({ text: '1970-01-01T00:00:00.000Z', nothing: null });
  });

  test.each<[string, unknown, string]>([
    ['Infinity', { price: Number.POSITIVE_INFINITY, rows: [] }, 'price: JSON turns Infinity into null'],
    ['-Infinity', { price: Number.NEGATIVE_INFINITY, rows: [] }, 'price: JSON turns -Infinity into null'],
    [
      'NaN that no schema mentions, in a list',
      { price: null, rows: [{ bid: 1 }, { bid: 2, more: [0, Number.NaN] }] },
      'rows[1].more[1]: JSON turns NaN into null',
    ],
    [
      'an invalid date',
      { price: null, rows: [], at: new Date(Number.NaN) },
      'at: JSON turns Invalid Date into null',
    ],
    ['undefined in a list', { price: 1, rows: [], more: [undefined] }, 'more[0]: JSON turns undefined'],
    ['a function in a list', { price: 1, rows: [], more: [() => 1] }, 'more[0]: JSON turns [Function'],
  ])('%s is not null', async (_, data, detail) => {
    const report = vi.fn();
    const tool = { ...price, run: (...[, { found }]: Parameters<Tool['run']>) => found(data as object) };
    const { structuredContent, isError } = await call(tool, {}, { report });
    expect({ isError, code: structuredContent?.error }).toEqual({ isError: true, code: 'OUTPUT_MISMATCH' });
    expect(report.mock.calls[0]?.[0].detail).toContain(`structuredContent.${detail}`);
    expect(JSON.stringify(structuredContent)).not.toMatch(/NaN|Infinity|JSON turns/);
  });

  test('accepts null, and objects that serialize to null', async () => {
    const written = { secret: 'x', toJSON: () => ({ secret: null }) };
    const data = { price: null, rows: [{ bid: 1 }], more: [null, { a: null }], written };
    const tool = { ...price, run: (...[, { found }]: Parameters<Tool['run']>) => found(data) };
    expect((await call(tool)).structuredContent).toEqual({ ...data, written: { secret: null } });
  });

  test.each<[string, object, JsonObject]>([
    ['right', { price: 2 }, { price: 2, rows: [] }],
    ['wrong', { price: 'x' }, { error: 'OUTPUT_MISMATCH' }],
    ['NaN', { price: Number.NaN }, { error: 'OUTPUT_MISMATCH' }],
  ])('data that changes after found is sent and compared as it is then: %s', async (_, change, expected) => {
    for (const first of [1, null]) {
      const data = { price: first, rows: [] };
      const run: Tool['run'] = async (_, { found }) => {
        const outcome = found(data);
        Object.assign(data, change);
        return outcome;
      };
      expect((await call({ ...price, run })).structuredContent).toMatchObject(expected);
    }
  });

  test('drops a hint that JSON turns into null', async () => {
    const tool = textTool('t', (_, { fail }) => fail('CODE', 'Why', { rate: Number.NaN, more: 1 }));
    expect((await call(tool)).structuredContent).toEqual({
      text: null,
      error: 'CODE',
      message: 'Why',
      more: 1,
    });
  });

  test('names a schema that does not compile', async () => {
    const broken = { ...echo, inputSchema: { ...echo.inputSchema, properties: { a: { type: 'text' } } } };
    await expect(callTool(broken)).rejects.toThrow(/^Tool echo: its inputSchema does not compile: /);
  });
});

describe('the end of a call', () => {
  test('at the deadline the signal aborts and the call fails', async () => {
    const { tool, held } = heldTool();
    const { structuredContent } = await call(tool, {}, { timeoutMs: 20 });
    expect(structuredContent).toMatchObject({ error: 'DEADLINE_EXCEEDED' });
    expect(held.signal?.aborted).toBe(true);
  });

  test('when the caller disconnects, the signal aborts and the call ends', async () => {
    const { tool, held } = heldTool();
    const caller = new AbortController();
    const running = call(tool, {}, { signal: caller.signal, timeoutMs: 60_000 });
    await expect.poll(() => held.signal).toBeDefined();
    caller.abort();
    expect((await running).structuredContent).toMatchObject({ error: 'CANCELLED' });
    expect(held.signal?.aborted).toBe(true);
    const late = await call(tool, {}, { signal: caller.signal });
    expect(late.structuredContent).toMatchObject({ error: 'CANCELLED' });
  });

  test('a signal that a tool first reads after the end is aborted', async () => {
    let ask = (): AbortSignal | undefined => undefined;
    const tool = textTool('late', (_, outcomes) => {
      ask = () => outcomes.signal;
      return new Promise(() => {});
    });
    await call(tool, {}, { timeoutMs: 20 });
    expect(ask()?.aborted).toBe(true);
  });

  test('ignores what a tool does after the end', async () => {
    const { tool, held } = heldTool();
    const report = vi.fn();
    await call(tool, {}, { timeoutMs: 20, report });
    held.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(report).not.toHaveBeenCalled();
  });
});

test('passes on any answer that JSON can represent, and fails for any other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null), fc.jsonValue()),
      async (text) => {
        const { structuredContent } = await call(textTool('any', (_, { found }) => found({ text })));
        if (typeof text === 'string' || text === null) expect(structuredContent).toEqual({ text });
        else expect(structuredContent).toMatchObject({ text: null, error: 'OUTPUT_MISMATCH' });
      },
    ),
  );
});

test("schemas may refer to their own root, and to each other's ids by chance", () => {
  const inputSchema = {
    $id: 'https://example.com/tree',
    type: 'object',
    properties: { next: { $ref: '#' }, name: { type: 'string' }, same: { $ref: '#/properties/name' } },
    required: [],
  } as const;
  const { $id: _, ...anonymous } = inputSchema;
  for (const schema of [inputSchema, inputSchema, anonymous, anonymous]) {
    const { applyInputSchema, findOutputProblem } = compileTool({
      ...echo,
      inputSchema: { ...schema },
      outputSchema: { ...schema },
    } as Tool);
    for (const check of [applyInputSchema, findOutputProblem]) {
      expect(check({ next: { next: { name: 'a', same: 'b' } } }, 'value')).toBeNull();
      expect(check({ next: { next: { name: 5 } } }, 'value')?.path).toBe('value.next.next.name');
      expect(check({ same: 5 }, 'value')?.path).toBe('value.same');
    }
  }
});

describe('large answers', () => {
  const length = 300_000;

  test('are built one at a time, while small ones are built at once', async () => {
    const takeLargeWorkTurn = createLargeWorkQueue();
    const order: string[] = [];
    const context = {
      requestId: 'id',
      onDisconnect: () => () => {},
      timeoutMs: undefined,
      onIncident: () => {},
      takeLargeWorkTurn,
    };
    const large = compileTool(textTool('large', (_, { found }) => found({ text: 'x'.repeat(length) })));
    const small = compileTool(echo);
    const call = async (name: string, tool: typeof large) => {
      await runCall(tool, { value: 'x' }, context);
      order.push(name);
    };
    const all = [1, 2, 3].map((count) => call(`large ${count}`, large));
    await all[0];
    for (let count = 0; count < 20; count++) all.push(call('small', small));
    await Promise.all(all);
    expect(order).toEqual(['large 1', ...Array(20).fill('small'), 'large 2', 'large 3']);
    // No call waits after the pause of the last one.
    await takeLargeWorkTurn();
  });

  test.each([
    [length, true],
    [10, false],
  ])(
    'are handed over in another turn of the event loop than they are built: %d characters',
    async (size, late) => {
      let turned = false;
      const tool = textTool('sized', (_, { found }) => {
        setImmediate(() => {
          turned = true;
        });
        return found({ text: 'x'.repeat(size) });
      });
      await runCall(
        compileTool(tool),
        {},
        { requestId: 'id', onDisconnect: () => () => {}, timeoutMs: undefined, onIncident: () => {} },
      );
      expect(turned).toBe(late);
    },
  );

  test('are expected of a tool until several of its answers were small', async () => {
    const context = {
      requestId: 'id',
      onDisconnect: () => () => {},
      timeoutMs: undefined,
      onIncident: () => {},
    };
    const lengths = [8 * length, 0, 0, 0, 0];
    const tool = textTool('mixed', (_, { found }) => found({ text: 'x'.repeat(lengths.shift() ?? 0) }));
    const mixed = compileTool(tool);
    const expected: boolean[] = [];
    while (lengths.length > 0) {
      await runCall(mixed, {}, context);
      expected.push(mixed.lengthEstimate.current > 250_000);
    }
    expect(expected).toEqual([true, true, true, true, false]);
  });
});
