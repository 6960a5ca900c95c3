import { describe, expect, it } from 'vitest';
import { CommandError, unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { BodyParts } from '../../packages/runtime/src/source/request-body.ts';
import { requestBody } from '../../packages/runtime/src/source/request-body.ts';
import { argumentsInSchema } from '../../src/changes/send-requests.ts';
import { fieldsSchema } from '../../src/fields/shape.ts';
import { requestOf } from '../../src/import/api-recordings.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { harRequests } from '../../src/import/request/har.ts';
import { keylessCurl } from '../../src/import/request/keyless-line.ts';
import { type ParsedRequest, parseRequest } from '../../src/import/request/parse-request.ts';
import { type CallContext, requestLiteral } from '../../src/render/request-code.ts';
import fc from '../fast-check.ts';

const large = '1234567890123456789';
const huge = '-987654321098765432109876543210';

function curlWith(body: string): string {
  const quoted = body.replaceAll("'", "'\\''");
  return `curl https://x.test/ -H 'content-type: application/json' -d '${quoted}'`;
}

function read(body: string, constants: readonly string[] = []): ParsedRequest {
  return unwrap(parseRequest(curlRequest(curlWith(body)), { input: [], constants }));
}

/** What the trial sends, and what the generated code sends, for the arguments that the request shows. */
function bodiesOf({ call, input }: ParsedRequest): readonly (string | undefined)[] {
  const values = argumentsInSchema(fieldsSchema(input));
  const { json } = requestOf(call, values);
  const { integers } = call.body ?? {};
  const parts: CallContext = {
    ...call,
    isReadOnly: true,
    takesInput: true,
    isReduced: false,
    takesNoData: false,
    hasMirrors: false,
  };
  const code = new Function('input', 'outputSchema', 'signal', `return (${requestLiteral(parts, 0)});`);
  const bodies: readonly BodyParts[] = [{ json, ...(integers && { integers }) }, code(values)];
  return bodies.map((body) => requestBody(body)?.content as string | undefined);
}

/** JSON with its numbers by value: each integer of 16 digits or more by its digits. */
function exactValue(text = ''): unknown {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    if (token.startsWith('"')) return token.replace('"', '"text ');
    return /^-?\d{16,}$/.test(token) ? `"integer ${token}"` : token;
  });
  return JSON.parse(marked);
}

const rpc = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"get_order","params":${params}}`;
const graphql = (type: string, value: string) =>
  `{"query":"query Order($id: ${type}) { order(id: $id) { id } }","variables":{"id":${value}}}`;

describe('an integer beyond 2^53 in the body of a request', () => {
  it.each([
    ['at the root', `{"recipient_id":${large}}`],
    ['with a sign and 30 digits', `{"recipient_id":${huge}}`],
    ['with 400 digits', `{"modulus":${'7'.repeat(400)}}`],
    ['that a double holds', '{"wei":1000000000000000000}'],
    ['in an object', `{"order":{"recipient_id":${large}}}`],
    ['in a list, beside a small one', `{"ids":[${large},5]}`],
    ['in a list with a decimal', `{"mixed":[${large},1.5]}`],
    ['in a list with the same text', `{"mixed":["${large}",${large}]}`],
    ['in a list of objects', `{"items":[{"id":"a"},{"id":${large}}]}`],
    ['below the second level', `{"filter":{"range":{"from":${large},"text":"${large}"}}}`],
    [
      'under names with points, brackets and quotes',
      `{"term":{"user.id":${large},"a[0]":${large},"\\"":${huge}}}`,
    ],
    ['under an empty name', `{"":${large}}`],
    ['in the params of JSON-RPC by position', rpc(`["${large}",${large},{"id":${huge}}]`)],
    ['in the params of JSON-RPC by name', rpc(`{"order":${large},"text":"${large}"}`)],
    ['as the id of JSON-RPC', `{"jsonrpc":"2.0","id":${large},"method":"get_order","params":[]}`],
    ['in a variable of GraphQL', graphql('Long!', large)],
    ['in a variable of GraphQL whose type is Int', graphql('Int!', large)],
    ['in a variable of GraphQL whose type is ID', graphql('ID!', large)],
    ['in a list of GraphQL', graphql('[Long!]!', `[${large},7]`)],
    [
      'in an object of GraphQL',
      graphql('Where!', `{"ids":[${large}],"text":"${large}","or":[{"id":${huge}}]}`),
    ],
    ['in the extensions of GraphQL', `{"query":"{ order { id } }","extensions":{"hash":${large}}}`],
  ])('%s is sent with its digits', (_, body) => {
    expect(bodiesOf(read(body))).toEqual([body, body]);
  });

  it('becomes an argument that is a text of digits, and this is reported', () => {
    const { input, notes, call } = read(`{"recipient_id":${large},"ids":[${large},5],"amount":5}`);
    const digits = { type: 'string', pattern: '^-?\\d+$' };
    expect(fieldsSchema(input).properties).toMatchObject({
      recipient_id: { ...digits, default: large },
      ids: { type: 'array', items: digits, default: [large, '5'] },
      amount: { type: 'integer', default: 5 },
    });
    expect(call.body?.integers).toEqual(['recipient_id', 'ids[]']);
    expect(notes.map(({ path }) => path)).toEqual([
      'inputSchema.properties.recipient_id',
      'inputSchema.properties.ids',
    ]);
  });

  it('is what the author says with --input, and is still sent with its digits', () => {
    const input = [{ name: 'recipient_id', type: 'integer' } as const];
    const body = `{"recipient_id":${large}}`;
    const stated = unwrap(parseRequest(curlRequest(curlWith(body)), { input, constants: [] }));
    expect(stated.notes).toEqual([]);
    expect(
      requestBody({ json: { recipient_id: 5 }, integers: stated.call.body?.integers ?? [] })?.content,
    ).toBe('{"recipient_id":5}');
  });

  it('keeps its digits as a constant', () => {
    const body = `{"recipient_id":${large},"amount":5}`;
    const asConstant = read(body, ['recipient_id']);
    expect(asConstant.input.map(({ name }) => name)).toEqual(['amount']);
    expect(asConstant.notes).toEqual([]);
    expect(bodiesOf(asConstant)).toEqual([body, body]);
  });

  it('keeps its digits in a body that a browser recorded', () => {
    const body = `{"recipient_id":${large},"order":{"lines":[{"sku":${huge}}]}}`;
    const headers = [{ name: 'Content-Type', value: 'application/json' }];
    const postData = { mimeType: 'application/json', text: body };
    const request = { method: 'POST', url: 'https://x.test/orders', headers, postData };
    const [recorded] = harRequests(
      JSON.parse(JSON.stringify({ log: { entries: [{ request, response: { status: 200, content: {} } }] } })),
    );
    if (!recorded) throw new Error('no request');
    const sent = bodiesOf(unwrap(parseRequest(recorded, { input: [], constants: [] })));
    expect(sent).toEqual([body, body]);
  });

  it('keeps its digits in the printed command, beside a key', () => {
    const given = curlRequest(
      curlWith(`{"api_key":"k1","recipient_id":${large},"modulus":${'7'.repeat(400)}}`),
    );
    const { call } = unwrap(parseRequest(given, { input: [], constants: [] }));
    const [, variable] =
      keylessCurl(given, call)
        .join(' ')
        .match(/"api_key":"(\$\w+)"/) ?? [];
    expect(variable).toBeDefined();
    expect(keylessCurl(given, call).join(' ')).toContain(
      `"recipient_id":${large},"modulus":${'7'.repeat(400)}}`,
    );
  });

  it('stays a text in a query, a form and a multipart form', () => {
    const lines = [
      `curl -G https://x.test/a -d 'id=${large}'`,
      `curl https://x.test/a -d 'id=${large}'`,
      `curl https://x.test/a -F 'id=${large}'`,
    ];
    for (const line of lines) {
      const { input } = unwrap(parseRequest(curlRequest(line), { input: [], constants: [] }));
      expect(argumentsInSchema(fieldsSchema(input))).toEqual({ id: large });
    }
  });
});

describe('another number in the body of a request', () => {
  it.each([
    ['1e400', 'cannot send'],
    ['-1e400', 'cannot send'],
    ['0.1000000000000000055', 'would send as 0.1'],
    ['1234567890123456.789', 'would send as 1234567890123456.8'],
    ['1e-400', 'would send as 0'],
    ['123456789012345678e1', 'would send as 1234567890123456800'],
  ])('%s would be changed, so it is rejected', (literal, reason) => {
    expect(() => read(`{"a":{"b":[${literal}]}}`)).toThrow(CommandError);
    expect(() => read(`{"a":{"b":[${literal}]}}`)).toThrow(reason);
  });

  it.each([
    ['1.0', '1'],
    ['1E22', '1e+22'],
    ['-0', '0'],
    ['-0.0e5', '0'],
    ['1.50', '1.5'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['5e-324', '5e-324'],
    ['9007199254740991', '9007199254740991'],
    [`${large}.0`, large],
    ['100000000000000000e3', '100000000000000000000'],
  ])('%s keeps its value and is sent as %s', (literal, sent) => {
    expect(bodiesOf(read(`{"a":${literal}}`))).toEqual([`{"a":${sent}}`, `{"a":${sent}}`]);
  });
});

it('any body of JSON is sent with the values that were pasted', () => {
  const text = fc.oneof(
    fc.constantFrom(large, '007', '', 'a', '-5', "it's"),
    fc.string({ unit: 'grapheme', maxLength: 4 }).map((value) => `text ${value}`),
  );
  const name = fc.oneof(
    fc.constantFrom('id', 'ids', 'user.id', 'a[0]', '[]', '0', '', 'a"b', 'a\\b', 'toString', '__proto__'),
    fc.string({ unit: 'grapheme', maxLength: 3 }).map((value) => `n ${value}`),
  );
  const number = fc.oneof(
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.integer().map(String),
  );
  const { value, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      number,
      text.map((one) => JSON.stringify(one)),
      fc.constantFrom('true', 'false', 'null'),
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
      fc.array(number, { maxLength: 3 }).map((items) => `[${items}]`),
      tie('object'),
    ),
    object: fc
      .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([own]) => own })
      .map((members) => `{${members.map(([own, one]) => `${JSON.stringify(own)}: ${one}`)}}`),
  }));
  const body = fc.oneof(
    object,
    value.map((one) => rpc(`[${one}]`)),
    object.map(rpc),
    // Null in place of a variable is an optional argument without a value.
    value.filter((one) => one !== 'null').map((one) => graphql('JSON', one)),
    object.map((one) => graphql('Where!', one)),
  );
  fc.assert(
    fc.property(body, (pasted) => {
      for (const sent of bodiesOf(read(pasted))) expect(exactValue(sent)).toEqual(exactValue(pasted));
    }),
    { numRuns: 300 },
  );
});
