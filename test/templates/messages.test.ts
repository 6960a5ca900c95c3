import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { isQuiet, isRequest } from '../../templates/project/src/server/rpc.ts';
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

const message = fc.record(
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

test('requests, notifications and responses are those of the SDK', () => {
  const kinds = fc.oneof(
    message,
    ...[
      ['id', 'method', 'params'],
      ['method', 'params'],
      ['id', 'result'],
      ['id', 'error'],
    ].map((names) =>
      message.map((members) =>
        Object.fromEntries(Object.entries(members).filter(([name]) => ['jsonrpc', ...names].includes(name))),
      ),
    ),
  );
  fc.assert(
    fc.property(kinds, (value) => {
      const quiet =
        isJSONRPCNotification(value) || isJSONRPCResultResponse(value) || isJSONRPCErrorResponse(value);
      expect(isRequest(value)).toBe(isJSONRPCRequest(value));
      expect(isQuiet(value)).toBe(quiet);
    }),
    { numRuns: 5_000 },
  );
});
