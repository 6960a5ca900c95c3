import { expect, it } from 'vitest';
import { replayLines } from '../../../src/cli/check/format.ts';
import type { JsonObject } from '../../../src/contract/model.ts';
import { generic } from '../../../src/contract/platforms/generic.ts';
import { submissionCalls } from '../../../src/contract/probe/safety.ts';

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
