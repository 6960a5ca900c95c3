import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { ObjectSchema } from '../../packages/runtime/src/server/define-tool.ts';
import { fitToSchema } from '../../packages/runtime/src/source/fit-to-schema.ts';
import { isEmptyAnswer } from '../../packages/runtime/src/source/no-data.ts';
import { findStatedFailure } from '../../packages/runtime/src/source/stated-failure.ts';
import { wrapAnswer } from '../../src/import/api-answer.ts';
import { readSample } from '../../src/import/read-sample.ts';
import { toolOfSamples } from '../../src/import/sample.ts';
import { successMembersOf } from '../../src/import/success-signs.ts';
import { preparedOf } from './prepared.ts';

const fixture = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../fixtures/${name}.json`), 'utf8'));

/** How a tool that is made from the first response ends with another one. */
function outcomeOf(first: string, next: string): 'found' | 'empty' | 'fail' {
  const sample = unwrap(readSample(first, 'first'));
  const description = 'Returns what the sample shows. Use it when a question asks for what the sample shows.';
  const made = unwrap(
    toolOfSamples([sample], { name: 'get_it', input: [], returnsApiAnswers: true }, () => description),
  );
  const schema = preparedOf([made]).tools[0]?.definition.outputSchema as unknown as ObjectSchema;
  const content = wrapAnswer(JSON.parse(next), made.wrap);
  const success = successMembersOf([sample.value]) as Parameters<typeof findStatedFailure>[1] | undefined;
  const tolerance = { drift: undefined, keepsDeclaredOnly: false, signal: undefined };
  const { value, mismatch } = fitToSchema(content, schema, next.length, tolerance);
  const failure = findStatedFailure(content, success ?? {}, schema, made.wrap ?? undefined);
  if (isEmptyAnswer(schema, { content, value, isWrapped: made.wrap === 'result', mismatch, failure }, []))
    return 'empty';
  return failure || mismatch ? 'fail' : 'found';
}

describe('of public APIs', () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const failures: readonly { readonly api: string; readonly first: Json; readonly error: JsonObject }[] =
    fixture('failures-with-status-200');

  /** Their reason says that nothing was found. */
  const empties = new Set(['Last.fm artist.getInfo', 'KuCoin level1', 'Steam vanity']);
  it.each(failures.filter(({ error }) => error.errors === undefined))(
    'a failure with the status 200 is no success: $api',
    ({ api, first, error }) => {
      const expected = empties.has(api) ? 'empty' : 'fail';
      expect(outcomeOf(JSON.stringify(first), JSON.stringify(error))).toBe(expected);
      expect(outcomeOf(JSON.stringify(first), JSON.stringify(first))).toBe('found');
    },
  );

  const next: readonly { readonly name: string; readonly first: string; readonly then: readonly string[] }[] =
    fixture('real-next-answers');
  const isEmpty = (answer: string) => /NO_DATA|symbol is not exist/.test(answer);

  it.each(next.flatMap(({ name, first, then }) => then.map((answer) => ({ name, first, answer }))))(
    'a next response is found, unless it is a failure: $name, $answer',
    ({ name, first, answer }) => {
      const failed = isEmpty(answer) ? 'empty' : 'fail';
      expect(outcomeOf(first, answer)).toBe(name === 'enum weather: next Snow' ? 'found' : failed);
    },
  );

  it.each<[string, object, object]>([
    [
      'a transaction that failed',
      { status: 'success', hash: '0x1', gas: 3, to: '0x2', logs: [{ data: '0x' }] },
      { status: 'failed', hash: '0x3', gas: 5, to: '0x4', logs: [] },
    ],
    ['another code of data', { code: 200, places: [{ name: 'a' }] }, { code: 201, places: [{ name: 'b' }] }],
    ['a message beside data', { rates: { usd: 1.5 } }, { rates: { usd: 2 }, message: 'delayed by a minute' }],
  ])('a response is no failure with %s', (_, first, answer) => {
    expect(outcomeOf(JSON.stringify(first), JSON.stringify(answer))).toBe('found');
  });
});
