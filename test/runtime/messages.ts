import { expect } from 'vitest';
import { isNotification, isRequest } from '../../packages/runtime/src/server/json-rpc.ts';
import fc from '../fast-check.ts';

const object = fc.constantFrom({}, { a: 1 }, { a: { b: [] } });
const other = fc.constantFrom(null, true, 1.5, 2 ** 60, '', [], ['x'], { code: 1 }, { message: 'x' });
const error = fc.constantFrom(
  { code: -1, message: '' },
  { code: 1, message: 'x', data: 1 },
  { code: 1.5, message: '' },
);
const id = fc.oneof(fc.integer(), fc.string());
const mostly = <T>(right: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: right }, other);

const members = fc.record(
  {
    jsonrpc: mostly(fc.constant('2.0')),
    id: mostly(id),
    method: mostly(fc.string()),
    params: mostly(object),
    result: mostly(object),
    error: mostly(error),
    extra: other,
  },
  { requiredKeys: [] },
);

/** Objects that are JSON-RPC messages, or nearly. */
const message = fc.oneof(
  members,
  ...[
    ['id', 'method', 'params'],
    ['method', 'params'],
    ['id', 'result'],
    ['id', 'error'],
  ].map((names) =>
    members.map((every) =>
      Object.fromEntries(Object.entries(every).filter(([name]) => ['jsonrpc', ...names].includes(name))),
    ),
  ),
);

/** The kinds of messages as a version of the SDK distinguishes them. */
type Kinds = Record<'isJSONRPCRequest' | 'isJSONRPCNotification', (value: unknown) => boolean>;

/** Expects the runtime to distinguish random messages as the SDK does. */
export function expectSameKinds(sdk: Kinds, numRuns: number): void {
  fc.assert(
    fc.property(message, (value) => {
      expect(isRequest(value)).toBe(sdk.isJSONRPCRequest(value));
      expect(isNotification(value)).toBe(sdk.isJSONRPCNotification(value));
    }),
    { numRuns },
  );
}
