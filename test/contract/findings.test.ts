import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Problem, Report, RuleText } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Probe } from '../../packages/contract/src/wire/probe.ts';
import { checkServer } from '../broken/check.ts';
import { runCall } from '../broken/servers/gate.ts';
import { serving } from '../broken/trust.ts';
import { instead, methodOf, where } from '../broken/variant.ts';

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
  expect(problemOf(report, 'output.holds-empty')?.fix).toContain('Add "null"');
  expect(problemOf(report, 'outcome.failure-payload')?.fix).toContain('Fix output.holds-empty first');
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

it('names each session and form in which a call runs without a token, with a command that sends it again', async () => {
  const deniesOnlyPlainCalls = instead((request, steps) => {
    const { headers, method, names = [], version } = request;
    const session = headers['mcp-session-id']?.toString();
    const isPlain =
      steps.isKnown(session) &&
      version === '1.1' &&
      headers.origin === undefined &&
      headers['content-length'] !== undefined &&
      names.filter((name) => name === 'authorization').length < 2 &&
      /^\{"jsonrpc":"2\.0","id":\d+,"method":"tools\/call","params":(?!.*_meta)/.test(request.body ?? '');
    if (isPlain || method !== 'POST' || !request.body?.includes('tools/call')) return undefined;
    return runCall(JSON.parse(request.body), steps);
  });
  await serving(deniesOnlyPlainCalls, async (url) => {
    const selects = ({ id }: RuleText) => id === 'gate.session-state' || id === 'gate.request-form';
    const { rules } = await runContract({ url, profile: context }, { selects });
    const problems = rules.flatMap((rule) => rule.problems);
    expect(problems.map(({ path }) => path?.replace('tools/call as a request ', ''))).toEqual([
      'without a session',
      'in an unknown session',
      'in an ended session',
      'with Origin: https://ctxprotocol.com',
      `with Origin: ${new URL(url).origin}`,
      'with Origin: http://localhost:6274',
      'in chunks',
      'by HTTP/1.0',
      'whose id is a text',
      'with _meta',
      'of over 6000 bytes',
      'with two invalid authorization headers',
    ]);
    const probe = new Probe({ url, profile: context });
    const env = { ...process.env, SESSION: await probe.session() };
    // The ended session is not printed, and the command of a large body refers to a file.
    const repeatable = problems.filter(({ path = '' }) => !/ended|bytes/.test(path));
    expect(repeatable).toHaveLength(problems.length - 2);
    for (const { request = '' } of repeatable) {
      const { stdout } = await promisify(execFile)('sh', ['-c', request], { env });
      expect(stdout, request).toContain('structuredContent');
    }
    await probe.close();
  });
});

const withoutRoom = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

function problemOf({ rules }: Report, id: string): Problem | undefined {
  return rules.find((rule) => rule.id === id)?.problems[0];
}
