import { expect, it } from 'vitest';
import { correctedSuccess, successMembersOf } from '../../src/import/success-signs.ts';

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

const [ok, okay] = [
  { status: 'OK', rows: [1] },
  { status: 'okay', rows: [2] },
];
it.each<[string, readonly object[], object | undefined, object | undefined]>([
  ['two answers name one', [ok, { ...ok, rows: [3] }], undefined, { status: 'OK' }],
  ['one answer is too little to name one', [ok], undefined, undefined],
  ['an answer agrees', [ok], { status: 'OK', 'info.code': 0 }, undefined],
  [
    'an answer says success otherwise',
    [okay],
    { status: 'OK', error: null },
    { status: 'okay', error: null },
  ],
  ['answers say success in two ways', [ok, okay], { status: 'OK' }, {}],
  ['nothing was found', [{ status: 'ZERO_RESULTS', rows: [] }, ok], { status: 'OK' }, undefined],
  ['a failure beside no data', [{ status: '0', message: 'x', result: [] }], { status: '1' }, undefined],
  ['a failure in an object', [{ status: { code: 0, message: 'x' } }], { 'status.code': 200 }, undefined],
  ['the author wants none', [ok, ok], {}, undefined],
])('corrected by recorded answers: %s', (_, answers, present, expected) => {
  expect(correctedSuccess(answers as never, present as never)).toEqual(expected);
});
