import { expect, it } from 'vitest';
import type { Problem, Report } from '../../packages/contract/src/model.ts';
import { checkServer } from '../broken/check.ts';
import { methodOf, where } from '../broken/variant.ts';

it('shows the data of a call, with a fix that matches its outcome', async () => {
  const report = await checkServer({
    call: (good) => async (params) => good({ ...params, arguments: { symbol: 'BTC' } }),
  });
  expect(problemOf(report, 'outcome.empty')).toMatchObject({
    tool: 'get_price',
    path: 'result (called with {"symbol":"XYZ"})',
    actual: '{"symbol":"BTC","price":64000}',
    fix: expect.stringContaining('set expect to "found"'),
  });
  expect(problemOf(report, 'outcome.fail')?.actual).toBe('{"symbol":"BTC","price":64000}');
});

it('shows the code and the message of a failure before its empty fields', async () => {
  const failure = { error: 'SOURCE_UNAVAILABLE', message: 'The data source did not answer.' };
  const fields = Array.from({ length: 8 }, (_, index) => [`empty_field_${index}`, null]);
  const report = await checkServer({
    result: () => () => ({
      isError: true,
      content: [{ type: 'text', text: failure.message }],
      structuredContent: { ...Object.fromEntries(fields), ...failure },
    }),
  });
  expect(problemOf(report, 'outcome.found')?.actual).toContain(JSON.stringify(failure).slice(0, -1));
});

it('says that an outputSchema is missing, not that its type is', async () => {
  const report = await checkServer({
    list: (good) => () => good().map(({ outputSchema, ...tool }) => tool),
  });
  expect(problemOf(report, 'output.object-root')).toMatchObject({
    path: 'outputSchema',
    expected: 'an object schema',
    actual: 'nothing',
  });
});

it('points to an outputSchema that admits no failure as the cause', async () => {
  const report = await checkServer({
    list: (good) => () => good().map((tool) => ({ ...tool, outputSchema: withoutRoom })),
    result: (good) => (outcome, tool) =>
      outcome.kind === 'found'
        ? good(outcome, tool)
        : { isError: true, content: [{ type: 'text', text: 'nothing to show' }] },
  });
  expect(problemOf(report, 'output.holds-failure')?.fix).toContain('Add "null"');
  expect(problemOf(report, 'outcome.failure-payload')?.fix).toContain('Fix output.holds-failure first');
  expect(problemOf(report, 'outcome.empty')).toMatchObject({
    actual: 'isError: true, nothing to show',
    fix: expect.stringContaining('Fix output.holds-empty first'),
  });
});

it.each([
  [{ status: 401, body: { error: 'Unauthorized' } }, 'Let this request pass without authentication'],
  [{ status: 200, body: 'Welcome' }, 'Check that the URL is that of the MCP endpoint'],
])('the fix of initialize depends on the answer: %o', async (answer, fix) => {
  const report = await checkServer(where((request) => methodOf(request) === 'initialize', answer));
  expect(problemOf(report, 'discovery.initialize')?.fix).toContain(fix);
});

const withoutRoom = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

function problemOf({ rules }: Report, id: string): Problem | undefined {
  return rules.find((rule) => rule.id === id)?.problems[0];
}
