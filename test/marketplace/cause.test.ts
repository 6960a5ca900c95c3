import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { CallReport } from '../../src/marketplace/core/caller.ts';
import { causeIn, isLogged, resultFailure } from '../../src/marketplace/core/cause.ts';
import type { LogLine } from '../../src/marketplace/core/traffic.ts';
import { openMarketplace } from './support.ts';

const directory = '/p';

/** A failure as a server answers it. */
const failure = (error: string, message: string) => {
  const structuredContent = { error, message };
  const text = JSON.stringify(structuredContent);
  return {
    result: { isError: true, structuredContent, content: [{ type: 'text', text }] },
  } as unknown as CallReport;
};
const refusal = { result: null, error: { error: 'Unauthorized' } } as unknown as CallReport;
const out = (line: object): LogLine => ({ stream: 'stdout', text: JSON.stringify(line) });
const err = (text: string): LogLine => ({ stream: 'stderr', text });
const file = 'src/tools/get-gas.ts';

/** A line of the log about a request to an API. */
const source = (line: object) => err(JSON.stringify({ event: 'source', ...line }));
const refused = { code: 'SOURCE_REFUSED', method: 'get', host: 'a.example', path: '/b', hint: 'Set a key.' };
const refusedBySource = failure('SOURCE_REFUSED', 'The source refused this server.');
const [one, other] = ['tsrqpnmlkjhgfdcbtsrq', 'bcdfghjklmnpqrstbcdf'];
const incident = (id: string, detail: string) => out({ event: 'incident', id, detail });

/** Logs of a call, the report, and the cause. */
const cases: { readonly [name: string]: readonly [readonly LogLine[], CallReport, object | null] } = {
  'of two failed requests to APIs, that whose code the tool returned': [
    [
      source({ code: 'SOURCE_TOO_SLOW', detail: 'no answer within 5 ms', hint: 'Wait.' }),
      source({ ...refused, status: 403, detail: 'no' }),
      source({ code: 'SOURCE_UNAVAILABLE', detail: 'down', hint: 'Start it.' }),
    ],
    refusedBySource,
    { code: 'SOURCE_REFUSED', message: 'no', source: 'GET /b of a.example: HTTP 403', fix: 'Set a key.' },
  ],
  'a line of an earlier runtime, which has no detail': [
    [source({ ...refused, status: 401 })],
    refusedBySource,
    {
      message: 'The source refused this server.',
      source: 'GET /b of a.example: HTTP 401',
      fix: 'Set a key.',
    },
  ],
  'the incident whose id the caller got': [
    [
      incident(other, 'Error: another\n    at run (/p/src/tools/a.ts:1:1)'),
      incident(one, 'TypeError: x\n    at run (/p/src/tools/b.ts:7:1)'),
    ],
    failure('INTERNAL_ERROR', `The tool failed unexpectedly (incident ${one}).`),
    { message: 'TypeError: x', at: 'src/tools/b.ts:7', fix: 'Correct src/tools/b.ts:7.' },
  ],
  'an error that the code printed': [
    [err('get_gas RangeError: no gas\n    at read (/p/src/gas.ts:3:9)')],
    failure('SOURCE_UNAVAILABLE', 'Try again later.'),
    { code: 'SOURCE_UNAVAILABLE', message: 'RangeError: no gas', at: 'src/gas.ts:3', source: null },
  ],
  'a refused token': [
    [out({ event: 'refused', reason: 'aud: expected https://a.example/mcp' })],
    refusal,
    { code: null, message: 'aud: expected https://a.example/mcp', fix: expect.stringContaining('PLATFORM_') },
  ],
  'arguments that do not match': [
    [],
    failure('INVALID_ARGUMENTS', 'arguments.id: must be string, got 7'),
    {
      message: 'arguments.id: must be string, got 7',
      fix: 'Send arguments that match the inputSchema.',
    },
  ],
  'a deadline': [
    [out({ event: 'call', outcome: 'DEADLINE_EXCEEDED' })],
    failure('DEADLINE_EXCEEDED', 'The tool did not answer before the deadline of a call.'),
    { at: file, fix: expect.stringContaining('signal') },
  ],
  'in a log that is not here': [
    [],
    refusedBySource,
    { code: 'SOURCE_REFUSED', at: file, fix: 'Read the log of the server where it runs: it is not here.' },
  ],
  'a failure that the tool itself reports, with a name of an object': [
    [out({ event: 'call', outcome: 'fail', code: 'constructor' })],
    failure('constructor', 'There is no gas.'),
    { code: 'constructor', message: 'There is no gas.', at: file, source: null, fix: null },
  ],
  'a line whose members are no text, and frames that are no files': [
    [
      source({
        ...{ code: 'X', method: 'get', path: { toString: 1 }, host: [], status: {}, hint: {} },
        detail: 'd\n    at f (file://elsewhere/a.js:1:2)\n    at f (file:///a%2Fb.js:1:2)',
      }),
    ],
    failure('X', 'It failed.'),
    { code: 'X', message: 'd', source: null, stack: [] },
  ],
  'a server that says nothing': [[], refusal, null],
};

test.each(Object.entries(cases))('the cause is %s', (_, [logs, report, cause]) => {
  const found = causeIn(resultFailure(report.result), logs, directory, file);
  if (cause === null) expect(found).toBeNull();
  else expect(found).toMatchObject({ ...cause, lines: logs.flatMap(({ text }) => text.split('\n')) });
});

test('the place of an error that the server prints in colors is found', async () => {
  const error = new Error('boom');
  // Node colors the beginning of a path that is its working directory.
  error.stack = `Error: boom\n    at read (${process.cwd()}/${file}:3:1)\n    at run (node:internal/a:1:1)`;
  const text = inspect(error, { colors: true });
  expect(text).not.toContain(`${process.cwd()}/${file}`);
  const marketplace = await openMarketplace();
  marketplace.takeLog({ stream: 'stderr', text }, undefined);
  const { result } = failure('SOURCE_UNAVAILABLE', 'The data source did not answer.');
  const cause = causeIn(resultFailure(result), marketplace.serverLog, process.cwd(), undefined);
  expect(cause).toMatchObject({ message: 'Error: boom', at: `${file}:3`, fix: `Correct ${file}:3.` });
});

test('a frame as long as a log costs no time', () => {
  const detail = `x\n    at ${'('.repeat(1_000_000)}`;
  const cause = causeIn(
    resultFailure(failure('X', 'y').result),
    [out({ event: 'source', code: 'X', detail })],
    directory,
    file,
  );
  expect(cause?.message).toMatch(/^x at \(+$|^x {5}at \(+$/);
});

test('a call is logged when its own line has come, or that of its refusal', () => {
  expect(isLogged([err('a line'), out({ event: 'incident', id: 'x', detail: 'y' })])).toBe(false);
  expect(isLogged([{ stream: 'stdout', text: 'printed\n{"event":"call","tool":"a"}' }])).toBe(true);
  expect(isLogged([out({ event: 'refused', reason: 'no token' })])).toBe(true);
});
