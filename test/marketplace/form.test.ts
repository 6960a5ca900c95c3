import { expect, test } from 'vitest';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import { defaultCategory, formProblems, stakeOf } from '../../src/marketplace/core/listing-form.ts';
import type { ListingForm } from '../../src/marketplace/core/marketplace-model.ts';
import { formFor, questions } from './support.ts';

const good = formFor('https://tools.example/mcp');
const problemsOf = (more: Partial<ListingForm>, rules = context.listing) =>
  formProblems({ ...good, ...more }, rules);

test('accepts a form that the profile allows', () => {
  expect(problemsOf({})).toEqual([]);
});

test.each<[keyof ListingForm, string, string]>([
  ['name', '  ', 'Expected 1 to 255 characters, got 0.'],
  ['name', 'x'.repeat(256), 'got 256'],
  ['description', 'x'.repeat(5001), 'Expected 1 to 5000 characters'],
  ['category', '', 'Choose a category: Crypto & DeFi, Financial Markets'],
  ['category', 'Developer Tool', 'Did you mean Developer Tools?'],
  ['price', '1,50', 'Expected an amount in USD such as 0.01, got "1,50".'],
  ['price', '0.00001', 'Expected an amount'],
  ['price', '100.01', 'Expected at most 100 USD'],
  ['endpoint', 'tools.example/mcp', 'Expected a URL such as https://tools.example/mcp'],
  ['endpoint', 'http://tools.example/mcp', 'Expected https'],
  ['endpoint', 'https://tools.example/mcp/', 'ends with /mcp'],
  ['endpoint', 'https://tools.example/mcp?mode=1', 'ends with /mcp'],
  ['endpoint', 'https://tools.example/3f1c8a52-7d0e-4b69-9c35-e2a7b1d4f608/mcp', 'The URL contains a key'],
  ['endpoint', 'https://me:secret@tools.example/mcp', 'Remove the user and the password'],
])('%s %j is rejected', (field, value, message) => {
  const problems = problemsOf({ [field]: value }).filter(({ advice }) => !advice);
  expect(problems).toEqual([{ field, advice: false, message: expect.stringContaining(message) }]);
});

test.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000', '127.9.9.9'])(
  'plain http is accepted for this machine: %s',
  (host) => expect(problemsOf({ endpoint: `http://${host}/mcp` })).toEqual([]),
);

test.each([
  ['description', `Prices. ${questions(7)}`, 'Add the sections Features:, Try asking:, Agent tips:'],
  ['description', `Prices. Try asking: ${questions(7)} Features: Agent tips:`, 'in this order'],
  ['description', `Prices. Features: Try asking: ${questions(7)} Agent tips: **bold**`, 'Leave out "**".'],
  ['description', `Features: Try asking: ${questions(7)} Agent tips:`, 'Begin with one line of summary.'],
  ['description', `Prices. Features: Try asking: ${questions(6)} Agent tips:`, 'at least 7 questions'],
  ['endpoint', 'https://tools.example/assets/mcp', 'sse'],
])('%s %j gets advice, and is not rejected', (field, value, message) => {
  expect(problemsOf({ [field]: value })).toEqual([
    { field, advice: true, message: expect.stringContaining(message) },
  ]);
});

test('accepts any category if the profile lists none', () => {
  expect(problemsOf({ category: 'Weather', description: 'Anything.' }, generic.listing)).toEqual([]);
});

test.each([
  ['0', 10],
  ['0.05', 10],
  ['0.5', 50],
  ['nonsense', 10],
])('the stake for the price %s is %d', (price, stake) => {
  expect(stakeOf(price, context.listing)).toBe(stake);
});

test.each([
  [null, 'Other'],
  [['Weather', 'Other'], 'Other'],
  [['Weather', 'Music'], 'Weather'],
])('of the categories %j, a new form has %s', (categories, category) => {
  expect(defaultCategory({ ...generic.listing, categories })).toBe(category);
});
