import { isJSONRPCNotification, isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { test } from 'vitest';
import { expectSameKinds } from './messages.ts';

test('agrees with the SDK on requests and notifications', () => {
  expectSameKinds({ isJSONRPCRequest, isJSONRPCNotification }, 5_000);
});
