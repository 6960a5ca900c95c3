import { expect, test } from 'vitest';
import { compare } from './compare.ts';

const string = (limits: object) => ({ properties: { name: { type: 'string', ...limits } } });

test.each([
  ['a shorter name', string({ maxLength: 8 })],
  ['another name', string({ pattern: '^[a-z]+$' })],
  ['a member that is not written', { required: ['packages'] }],
  ['a format', { properties: { websiteUrl: { format: 'email' } } }],
  ['a part of a list', { properties: { remotes: { items: { required: ['headers'] } } } }],
])('a schema that requires %s finds documents that are accepted here', (_, schema) => {
  const { looser } = compare(schema, 1_000);
  expect(looser.length).toBeGreaterThan(0);
  expect(looser[0]?.errors).not.toBe('');
});

test('a schema without requirements finds none, and the random documents are of both kinds', () => {
  const { counts, looser } = compare({}, 1_000);
  expect(looser).toEqual([]);
  expect(counts['both accept']).toBeGreaterThan(100);
  expect(counts.stricter).toBeGreaterThan(20);
});
