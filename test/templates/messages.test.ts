import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { isQuiet, isRequest } from '../../templates/project/src/server/mcp.ts';
import fc from '../fast-check.ts';
import { message } from './messages.ts';

test('agrees with the SDK on requests, notifications and responses', () => {
  fc.assert(
    fc.property(message, (value) => {
      const quiet =
        isJSONRPCNotification(value) || isJSONRPCResultResponse(value) || isJSONRPCErrorResponse(value);
      expect(isRequest(value)).toBe(isJSONRPCRequest(value));
      expect(isQuiet(value)).toBe(quiet);
    }),
    { numRuns: 5_000 },
  );
});
