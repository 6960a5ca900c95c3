import { describe, expect, it } from 'vitest';
import { resultOutcome } from '../../packages/contract/src/definition/outcomes.ts';
import { isBlank } from '../../packages/contract/src/json/blank.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import { exchangeOutcome } from '../../src/marketplace/core/call-verdict.ts';

describe('the outcome of a result', () => {
  it.each([
    ['found', { structuredContent: { price: 3 } }],
    ['found', { structuredContent: { searchExhausted: false, noResultsReason: ' ' } }],
    ['empty', { structuredContent: { searchExhausted: true } }],
    ['empty', { structuredContent: { items: [], noResultsReason: 'No such token.' } }],
    ['fail', { isError: true, structuredContent: { searchExhausted: true } }],
  ] as const)('is %s for %j, in the contract and in the traffic of the marketplace', (expected, result) => {
    expect(resultOutcome(result)).toBe(expected);
    const exchange = { status: 200, values: [{ id: 1, result }], id: 1, isCall: true, refusal: null };
    expect(exchangeOutcome(exchange).kind).toBe(expected === 'fail' ? 'failed' : expected);
  });
});

describe('a blank value', () => {
  const blankValues: readonly (Json | undefined)[] = [
    undefined,
    null,
    '',
    false,
    [],
    {},
    [[null]],
    { a: {} },
  ];

  it.each(blankValues)('%j has no content', (value) => expect(isBlank(value)).toBe(true));

  it.each([0, true, 'x', [0], { error: { code: 0 } }])('%j has content', (value) =>
    expect(isBlank(value)).toBe(false),
  );

  it('is what its caller counts as blank: zero is blank only where it is named', () => {
    expect(isBlank({ count: 0 }, [null, '', 0])).toBe(true);
    expect(isBlank({ isListed: false }, [null, '', 0])).toBe(false);
  });
});
