import { describe, expect, it } from 'vitest';
import { valuesIn } from '../../../packages/contract/src/wire/events.ts';
import { Ledger } from '../../../packages/contract/src/wire/ledger.ts';
import type { Property } from '../../../packages/contract/src/wire/properties.ts';
import fc from '../../fast-check.ts';

const properties: readonly Property[] = [
  'utf8',
  'framing',
  'coding',
  'type',
  'envelope',
  'numbers',
  'surrogates',
  'secrets',
  'environment',
  'insides',
];

const sentRequest = { method: 'POST', url: new URL('http://127.0.0.1/mcp'), headers: {} };
const rest = { open: false, ms: 1, request: sentRequest };

function brokenBy(bytes: Uint8Array, type = 'application/json', status = 200): readonly string[] {
  const ledger = new Ledger();
  const body = Buffer.from(bytes).toString('utf8');
  ledger.record({
    ...rest,
    status,
    headers: { 'content-type': type },
    body,
    bytes,
    values: valuesIn(body, type),
  });
  return properties.flatMap((property) =>
    ledger.problemsOf(property).map(({ actual }) => `${property}: ${actual}`),
  );
}

const text = (value: string) => Buffer.from(value);

describe('an answer', () => {
  it('of any JSON value breaks no property', () => {
    const json = fc
      .json({ stringUnit: 'grapheme' })
      .map((value) => `{"jsonrpc":"2.0","id":1,"result":${value}}`);
    fc.assert(fc.property(json, (value) => brokenBy(text(value)).length === 0));
  });

  it.each([
    [
      'ids of events with digits and e',
      'id: 550e8400-e29b-41d4\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
      'text/event-stream',
    ],
    ['an escaped pair', '{"a":"\\ud83d\\ude00"}', undefined],
    ['a backslash before what looks like a half', '{"a":"\\\\ud83d"}', undefined],
    ['digits in a text', '{"a":"1e400"}', undefined],
    [
      'an address with a key as an example',
      '{"result":{"tools":[{"outputSchema":{"properties":{"error":{}}},"description":"GET /x?api_key=YOUR_API_KEY"}]}}',
      undefined,
    ],
  ])('with %s breaks none', (_what, body, type) => {
    expect(brokenBy(text(body), type)).toEqual([]);
  });

  it.each([
    ['utf8: not UTF-8 at byte 8', Buffer.from('{"a":"Größe"}', 'latin1')],
    ['utf8: not UTF-8 at byte 8', Buffer.concat([text('{"a":"Gr'), Buffer.from([0xc3])])],
    ['utf8: a byte order mark at byte 0', text('\ufeff{}')],
    ['numbers: a number that is read as Infinity', text('{"a":[1,{"b":1e400}]}')],
    ['numbers: a number that is read as -Infinity', text(`{"a":-${'9'.repeat(400)}}`)],
    ['surrogates: "Done \\ud83d"', text('{"a":"Done \\ud83d"}')],
    [
      'secrets: ?api_key=8f1… at character 35',
      text('{"error":{"message":"GET https://x/?api_key=8f1d2c3b4a"}}'),
    ],
  ])('breaks %s', (expected, bytes) => {
    expect(brokenBy(bytes)).toEqual([expected]);
  });

  it('as HTML with a JSON-RPC message breaks its type', () => {
    expect(brokenBy(text('{"jsonrpc":"2.0"}'), 'text/html')).toEqual(['type: "text/html"']);
  });
});

it('names few answers, and how many there are', () => {
  const ledger = new Ledger();
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '', values: [] };
  for (let count = 0; count < 9; count++)
    ledger.record({
      ...rest,
      ...answer,
      request: { ...sentRequest, target: `/${count}` },
      bytes: Buffer.from([0xff]),
    });
  const problems = ledger.problemsOf('utf8');
  expect(problems.map(({ path }) => path)).toEqual([
    'answer to POST /0',
    'answer to POST /1',
    'answer to POST /2',
  ]);
  expect(problems.at(-1)?.actual).toContain('(9 of 9 answers)');
});

describe('a secret of the check', () => {
  const secret = 'key "8f1d2c3b4a59"';

  function foundIn(body: string, request: string): number {
    const ledger = new Ledger();
    ledger.secrets.addHeader('x-api-key', secret);
    ledger.secrets.addHeader('x-tenant', 'north-4711');
    const values = valuesIn(body, 'application/json');
    const sent = { ...sentRequest, body: request };
    ledger.record({ ...rest, request: sent, status: 200, headers: {}, body, bytes: text(body), values });
    return ledger.problemsOf('credentials').length;
  }

  it('is found where JSON escapes it', () => {
    expect(foundIn(JSON.stringify({ note: `with ${secret}` }), '{}')).toBe(1);
  });

  it('may come back if the body of the request contains it', () => {
    expect(foundIn(JSON.stringify({ note: secret }), `{"query":${JSON.stringify(secret)}}`)).toBe(0);
  });

  it('is not the value of a header that is no key', () => {
    expect(foundIn('{"tenant":"north-4711"}', '{}')).toBe(0);
  });
});
