import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { lacksData as lacksDataInContract } from '../../packages/contract/src/definition/no-data.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { ObjectSchema } from '../../packages/runtime/src/server/define-tool.ts';
import { lacksData as lacksDataInRuntime } from '../../packages/runtime/src/source/no-data.ts';
import { wrapAnswer } from '../../src/import/api-answer.ts';
import { toolOfSamples } from '../../src/import/sample.ts';

interface Case {
  readonly name: string;
  /** The response that the schema is made from. */
  readonly first: Json;
  readonly then: Json;
  /** The values that the request sent. */
  readonly sent?: readonly Json[];
  readonly isEmpty: boolean;
}

const file = join(import.meta.dirname, '../fixtures/no-data.json');
const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8'));

const implementations = [
  ['the contract', lacksDataInContract],
  [
    'the runtime',
    (schema: JsonObject, value: Json, sent?: readonly Json[]) =>
      lacksDataInRuntime(schema as unknown as ObjectSchema, value, sent),
  ],
] as const;

function toolOf(first: Json) {
  const sample = { name: 'first', value: first };
  return unwrap(
    toolOfSamples([sample], { name: 'get_it', input: [], returnsApiAnswers: true }, () => 'Returns it.'),
  );
}

describe.each(implementations)('the rule of %s for a response without data', (_, lacksData) => {
  it.each(cases)('holds for $name', ({ first, then, sent = [], isEmpty }) => {
    const { entry, wrap } = toolOf(first);
    const outputSchema = (entry as JsonObject).outputSchema as JsonObject;
    expect(lacksData(outputSchema, wrapAnswer(then, wrap), sent)).toBe(isEmpty);
    expect(lacksData(outputSchema, wrapAnswer(first, wrap))).toBe(false);
  });
});
