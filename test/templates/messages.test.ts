import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { test } from 'vitest';
import { expectSameKinds } from './messages.ts';

test('agrees with the SDK on requests, notifications and responses', () => {
  expectSameKinds(
    { isJSONRPCRequest, isJSONRPCNotification, isJSONRPCResultResponse, isJSONRPCErrorResponse },
    5_000,
  );
});
