import { expect, it } from 'vitest';
import { successMembersOf } from '../../src/import/success.ts';

it.each<[string, readonly never[], object | undefined]>([
  [
    'one value in each answer',
    [
      { status: 'OK', at: 1 },
      { status: 'OK', at: 2 },
    ] as never,
    { status: 'OK' },
  ],
  ['two values', [{ status: 'OK' }, { status: 'ZERO_RESULTS' }] as never, undefined],
  [
    'data with such a name',
    [{ status: 'shipped', code: 'NL', message: 'Three parcels found', result: 7 }] as never,
    undefined,
  ],
  [
    'no error',
    [{ error: null, success: true, message: null, data: [] }] as never,
    { error: null, success: true },
  ],
  [
    'a member about the request',
    [
      { status: { code: 200, message: 'OK' }, info: { pages: 4, statuscode: 0 }, user: { ok: true } },
    ] as never,
    { 'status.code': 200, 'status.message': 'OK', 'info.statuscode': 0 },
  ],
  ['a list', [[{ status: 'OK' }]] as never, undefined],
])('%s', (_, answers, expected) => {
  expect(successMembersOf(answers)).toEqual(expected);
});
