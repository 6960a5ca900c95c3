import { expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { generic } from '../../../packages/contract/src/platforms/generic.ts';
import { submissionCalls } from '../../../packages/contract/src/wire/safety.ts';
import { replayLines } from '../../../src/cli/check/check-lines.ts';

const tool = (name: string, annotations: JsonObject) => ({
  ...{ name, annotations, inputSchema: { type: 'object', properties: {}, required: [] } },
});
const reading = tool('get_price', { readOnlyHint: true });
const writing = tool('place_order', { readOnlyHint: false, destructiveHint: true });

it('advises TOKEN_ONCE=strict for tools that write, and for no others', () => {
  expect(replayLines(submissionCalls([reading], generic.smoke))).toEqual([]);
  const [line, ...rest] = replayLines(submissionCalls([reading, writing], generic.smoke));
  expect(rest).toEqual([]);
  expect(line).toMatch(/TOKEN_ONCE=strict and STATE_URL \(place_order may change something\)/);
});
