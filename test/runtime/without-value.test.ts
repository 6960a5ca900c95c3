import { expect, test } from 'vitest';
import type { ObjectSchema } from '../../packages/runtime/src/server/define-tool.ts';
import { problemFinder } from '../../packages/runtime/src/server/schema.ts';

const secret = 'sk-live-123456';

test.each<[object, unknown, string]>([
  [{ type: ['number', 'null'] }, secret, 'expected number or null, got string'],
  [{ type: 'string' }, [secret], 'expected string, got array'],
  [{ type: 'string' }, null, 'expected string, got null'],
  [{ type: 'integer' }, 1.5, 'expected integer, got number'],
  [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, secret, 'must match a schema in anyOf, got string'],
  [{ enum: ['a', 'b'] }, secret, 'must be equal to one of the allowed values: ["a","b"]'],
  [{ maxLength: 3 }, secret, 'must NOT have more than 3 characters'],
])('%j: a mismatch names the type that came, never the value', (member, value, expected) => {
  const schema = { type: 'object', properties: { member }, required: [] } as unknown as ObjectSchema;
  const problem = problemFinder(schema)({ member: value }, 'answer');
  expect(problem?.withoutValue).toBe(expected);
});
