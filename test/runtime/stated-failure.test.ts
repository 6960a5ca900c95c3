import { describe, expect, it, vi } from 'vitest';
import { always, errorOf, key, source } from './source-server.ts';

// Bodies of failures with the HTTP status 200, in the forms of public APIs.

const text = { type: ['string', 'null'] } as const;
const rows = { type: ['array', 'null'], items: { type: 'object', properties: { id: text } } } as const;
const schemaOf = (properties: object) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as never;

describe('what an answer says of its success', () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const number = { type: ['number', 'null'] };
  const flagged = schemaOf({
    success: { type: 'boolean' },
    errorCode: { type: ['number', 'null'] },
    id: number,
  });
  const nested = schemaOf({
    status: { type: 'object', properties: { code: number, message: text }, required: ['code', 'message'] },
    licenses: rows,
    results: rows,
  });
  const google = schemaOf({ status: text, results: rows });
  const known = [{ name: 'x' }];

  it.each<[string, object, object, object, boolean]>([
    [
      'another status without data',
      google,
      { status: 'OK' },
      { status: 'REQUEST_DENIED', results: [] },
      false,
    ],
    [
      'another status with data',
      google,
      { status: 'OK' },
      { status: 'PARTIAL', results: [{ id: 'a' }] },
      true,
    ],
    [
      'a status that says that nothing was found',
      google,
      { status: 'OK' },
      { status: 'ZERO_RESULTS', results: [] },
      true,
    ],
    ['no data with the same status', google, { status: 'OK' }, { status: 'OK', results: [] }, true],
    ['another status that nobody named', google, {}, { status: 'DENIED', results: [] }, true],
    [
      'the HTTP status of a failure',
      nested,
      { 'status.code': 200 },
      { status: { code: 401, message: 'invalid key' }, licenses: known, results: [] },
      false,
    ],
    ['false in place of true', flagged, { success: true }, { success: false, errorCode: 3, id: 0 }, false],
    [
      'an error in place of null',
      flagged,
      { errorCode: null },
      { success: true, errorCode: 3, id: 0 },
      false,
    ],
    [
      'an error that no success has',
      nested,
      {},
      { error: 'Market not found', status: { code: 0, message: '' }, licenses: known },
      false,
    ],
    ['an error beside data', google, {}, { error: 'old data', status: 'OK', results: [{ id: 'a' }] }, true],
  ])('%s', async (_, schema, success, value, isFound) => {
    const { api } = await source(always(value));
    const asked = api.get('/a', { schema: schema as never, success: success as never });
    if (isFound) expect(await asked).toMatchObject(value);
    else expect(await errorOf(asked)).toMatchObject({ code: 'SOURCE_MALFORMED' });
  });

  it('is looked for in the answer itself if that becomes result', async () => {
    const schema = schemaOf({ result: google });
    const { api } = await source(always({ status: 'DENIED', results: [] }));
    const asked = api.get('/a', { schema, wrap: 'result', success: { status: 'OK' } });
    expect(await errorOf(asked)).toMatchObject({ code: 'SOURCE_MALFORMED' });
  });

  const etherscan = schemaOf({ status: text, message: text, result: rows });
  it.each<[object, object, object, string | undefined]>([
    [
      google,
      { status: 'OK' },
      { error_message: 'The provided API key is invalid.', results: [], status: 'REQUEST_DENIED' },
      'The provided API key is invalid.',
    ],
    [
      google,
      { status: 'OK' },
      { error_message: `network timeout (429):\n\u0007${key} ${'x'.repeat(400)}`, status: 'UNKNOWN' },
      `… … (…): [secret] ${'x'.repeat(300 - `network timeout (429): [secret] `.length)}`,
    ],
    [google, { status: 'OK' }, { results: [], status: 'INVALID_REQUEST' }, 'INVALID_REQUEST'],
    [
      nested,
      { 'status.code': 200 },
      { status: { code: 401, message: 'invalid key' }, results: [], licenses: [] },
      'invalid key',
    ],
    [
      etherscan,
      { status: '1', message: 'OK' },
      { status: '0', message: 'NOTOK', result: 'Invalid API Key' },
      'NOTOK; Invalid API Key',
    ],
    [
      google,
      {},
      { error: { code: 12, info: 'no', message: 'Market not found' }, results: [] },
      'Market not found',
    ],
    [flagged, { success: true }, { success: false, errorCode: 3, id: 0 }, undefined],
  ])(
    'reaches the caller as detail, as the reason of a 400 does: %#',
    async (schema, success, value, detail) => {
      const { api } = await source(always(value));
      const error = await errorOf(api.get('/a', { schema: schema as never, success: success as never }));
      expect(error).toMatchObject({
        code: 'SOURCE_MALFORMED',
        message: 'The source answered that it failed.',
      });
      expect(error.hints).toEqual(detail === undefined ? {} : { detail });
    },
  );
});
