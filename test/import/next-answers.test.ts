import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { compileSchema } from '../../packages/contract/src/json/compile.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import type { ObjectSchema } from '../../packages/runtime/src/server/define-tool.ts';
import { fitToSchema } from '../../packages/runtime/src/source/fit-to-schema.ts';
import { findStatedFailure, type Success } from '../../packages/runtime/src/source/stated-failure.ts';
import { readSample } from '../../src/import/read-sample.ts';
import { toolOfSamples } from '../../src/import/sample.ts';
import { successMembersOf } from '../../src/import/success-signs.ts';
import { preparedOf } from './prepared.ts';

interface Pair {
  readonly api: string;
  /** A sample, or a list of samples. */
  readonly first: Json;
  readonly next: Json;
}

// One API for each of thirty subjects of public APIs that no other test has; the next answer is one for other arguments, with
// what such an answer has: null, an absent member, other keys, an empty list.
const file = join(import.meta.dirname, '../fixtures/next-answers.json');
const pairs: readonly Pair[] = JSON.parse(readFileSync(file, 'utf8').replaceAll(/\d{16,}/g, '"$&"'));

/** Bodies of failures with the status 200. */
const failures: readonly Json[] = [
  {},
  [{ error: 'limit' }],
  'error',
  null,
  0,
  { message: 'rate limited' },
  { error: 'Invalid API key' },
  { error: { code: 429, message: 'Too many requests' } },
  { errors: [{ title: 'Not found', status: '404' }] },
  { status: 'error', message: 'Unknown symbol' },
  { status: 0, message: 'NOTOK', result: 'Max rate limit reached' },
  { success: false, error: { code: 101, type: 'missing_access_key' } },
  { ok: false, description: 'Unauthorized' },
  { Note: 'Thank you for using our API! The limit is 5 calls a minute.' },
  { Information: 'The demo key is for demo purposes only.' },
  { 'Error Message': 'Invalid API call.' },
  { cod: '404', message: 'city not found' },
  { code: -1121, msg: 'Invalid symbol.' },
  { detail: 'Not found.' },
  { title: 'Unauthorized', status: 401, type: 'about:blank' },
  { exception: 'Error', message: 'bad', stack: [] },
  { data: null, errors: [{ message: 'Cannot query field' }] },
  { result: null, error: 'EQuery:Unknown asset pair' },
  { Response: 'False', Error: 'Movie not found!' },
  { fault: { faultstring: 'Rate limit quota violation' } },
  { statusCode: 500, message: 'Internal server error' },
  { request_id: 'a', error_message: 'limit', error_code: 12 },
  { meta: { code: 400, errorDetail: 'param' }, response: {} },
  { reason: 'Latitude must be in range', error: true },
  { type: 'error', info: 'maintenance', retry_after: 60 },
];

function toolOf({ first }: Pair) {
  const given = (Array.isArray(first) ? first : [first]) as readonly Json[];
  const samples = given.map((one, i) => {
    // Integers are texts in the parsed fixture, and numbers in the answers.
    const text = JSON.stringify(one).replaceAll(/"(\d{16,})"/g, '$1');
    return unwrap(readSample(text, `${i}.json`));
  });
  const description = 'Returns what the sample shows. Use it when a question asks for what the sample shows.';
  const made = unwrap(toolOfSamples(samples, { name: 'get_it', input: [] }, () => description));
  const schema = preparedOf([made]).tools[0]?.definition.outputSchema as unknown as ObjectSchema;
  const isMap = Object.hasOwn(schema.properties, 'result') && !Object.hasOwn(given[0] as object, 'result');
  const wrapped = (value: Json) => {
    if (Array.isArray(given[0])) return Array.isArray(value) ? { items: value, count: value.length } : value;
    return isMap ? { result: value } : value;
  };
  return { schema, wrapped };
}

function leavesIn(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${path}=${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([name, member]) => leavesIn(member, `${path}/${name}`));
}

describe('the next answer of thirty APIs', () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const tolerance = { drift: undefined, keepsDeclaredOnly: false, signal: undefined };
  const tools = pairs.map((pair) => ({ ...pair, ...toolOf(pair) }));

  it('is found in at least 95 %, with at least 98 % of its leaves, and never has a wrong type', () => {
    const missed: string[] = [];
    let [kept, all] = [0, 0];
    for (const { api, schema, wrapped, next } of tools) {
      const given = wrapped(next);
      const { value, mismatch } = fitToSchema(given, schema, 1_000, tolerance);
      if (mismatch) missed.push(`${api}: ${mismatch.path} ${mismatch.withoutValue}`);
      else {
        expect(compileSchema(schema as unknown as Parameters<typeof compileSchema>[0])(value)).toBe(true);
        const arrived = new Set(leavesIn(value));
        const leaves = leavesIn(given);
        all += leaves.length;
        kept += leaves.filter((leaf) => arrived.has(leaf)).length;
      }
    }
    expect(pairs).toHaveLength(30);
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(1);
    expect(kept / all).toBeGreaterThanOrEqual(0.98);
    const page = readFileSync(join(import.meta.dirname, '../../docs/evidence/next-answers.md'), 'utf8');
    expect(page).toContain(`| ${30 - missed.length} of 30 |`);
    expect(page).toContain(`| ${kept} of ${all} |`);
  });

  it('is no failure by the signs of the first one', () => {
    const failed = tools.filter(({ first, schema, wrapped, next }) => {
      const success = successMembersOf([first].flat() as readonly Json[]) as Success | undefined;
      const wrap = schema.properties.result === undefined ? undefined : 'result';
      return findStatedFailure(wrapped(next), success ?? {}, schema, wrap) !== null;
    });
    expect(failed.map(({ api }) => api)).toEqual([]);
  });

  it('is none of thirty failures with the status 200', () => {
    expect(failures).toHaveLength(30);
    const found = tools.flatMap(({ api, schema, wrapped }) =>
      failures
        // A map without entries is an answer.
        .filter((failure) => JSON.stringify(wrapped(failure)) !== '{"result":{}}')
        .filter((failure) => fitToSchema(wrapped(failure), schema, 1_000, tolerance).mismatch === null)
        .map((failure) => `${api} ${JSON.stringify(failure)}`),
    );
    expect(found).toEqual([]);
  });
});
