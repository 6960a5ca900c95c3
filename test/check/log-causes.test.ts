import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { causeOf, findCrash } from '../../src/check/log-causes.ts';
import { printedErrors, ServerLog } from '../../src/check/log-events.ts';
import { directory } from '../project/directory.ts';

/** What a program with these lines, compiled like a project's tool, writes to its standard error. */
function ran(...lines: readonly string[]): { readonly root: string; readonly errors: string } {
  const root = realpathSync(directory());
  mkdirSync(join(root, 'src/tools'), { recursive: true });
  mkdirSync(join(root, 'dist/src/tools'), { recursive: true });
  const source = lines.join('\n');
  writeFileSync(join(root, 'src/tools/price.ts'), source);
  const shifted = `type Gone = {\n  a: string;\n};\n${source}`;
  const { code, map } = transformSync('../../../src/tools/price.ts', shifted, { sourcemap: true });
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const file = join(root, 'dist/src/tools/price.js');
  writeFileSync(file, `${code}\n//# sourceMappingURL=price.js.map`);
  writeFileSync(`${file}.map`, JSON.stringify(map));
  const { stderr } = spawnSync(
    process.execPath,
    ['--enable-source-maps', '--trace-exit', '--max-old-space-size=40', file],
    { encoding: 'utf8', cwd: root },
  );
  return { root, errors: stderr };
}

/** The type before the source shifts every line by three. */
const shift = 3;

describe('the error that ended a process', () => {
  it.each([
    [
      'is thrown in a timer',
      "setTimeout(() => { throw new TypeError('the feed is gone'); });",
      'TypeError: the feed is gone',
    ],
    ['is an unhandled rejection', "Promise.reject(new Error('late'));", 'Error: late'],
    ['is not an Error', "setTimeout(() => { throw 'plain text'; });", 'plain text'],
    ['has more than one line', "setTimeout(() => { throw new Error('one\\ntwo'); });", 'Error: one two'],
    ['is an explicit exit', 'setTimeout(() => process.exit(7));', 'process.exit(7) was called'],
  ])('%s', (_, line, message) => {
    const { root, errors } = ran('const first = 1;', line);
    expect(findCrash(errors, root)).toMatchObject({ message, at: `src/tools/price.ts:${2 + shift}` });
  });

  it('includes the messages of its causes', () => {
    const line = "setTimeout(() => { throw new Error('outer', { cause: new Error('inner reason') }); });";
    const { root, errors } = ran(line);
    expect(findCrash(errors, root)?.message).toMatch(/^Error: outer \[cause\]: Error: inner reason/);
  });

  it('may be a lack of memory', () => {
    const { root, errors } = ran(
      'const all = []; for (;;) all.push(new Array(1e4).fill(String(Math.random())));',
    );
    expect(findCrash(errors, root)?.message).toContain('heap out of memory');
  });

  it('is unknown if a process ended without output', () => {
    const { root, errors } = ran("console.error('no way to go on'); process.exitCode = 3;");
    expect(findCrash(errors, root)).toBeUndefined();
  });
});

describe("the errors in a server's output", () => {
  it('are found in its log, in any chunks', () => {
    const log = new ServerLog();
    const line = JSON.stringify({ event: 'incident', id: 'abc', tool: 'get_price', detail: 'Error: x' });
    for (const piece of `{"event":"call"}\nno JSON "incident"\n${line}\n{"event":"inci`.match(
      /[\s\S]{1,7}/g,
    ) ?? []) {
      log.add(piece);
    }
    expect(log.incidents).toEqual([{ id: 'abc', tool: 'get_price', detail: 'Error: x' }]);
  });

  it('include the last failed request of each tool and code', () => {
    const log = new ServerLog();
    const line = (code: string, detail: string) => {
      log.add(`${JSON.stringify({ event: 'source', tool: 'get_price', code, detail, hint: 'Start it.' })}\n`);
    };
    line('SOURCE_UNAVAILABLE', 'no connection');
    line('SOURCE_UNAVAILABLE', 'HTTP 503');
    line('SOURCE_NOT_FOUND', 'HTTP 404');
    expect(log.failures).toEqual([
      { tool: 'get_price', code: 'SOURCE_UNAVAILABLE', detail: 'HTTP 503', hint: 'Start it.' },
      { tool: 'get_price', code: 'SOURCE_NOT_FOUND', detail: 'HTTP 404', hint: 'Start it.' },
    ]);
  });

  it('include the cause that a tool gave for its failure, which does not replace a failed request', () => {
    const log = new ServerLog();
    const request = { method: 'get', path: '/price', host: 'api.example.com', status: 503 };
    const add = (line: object) =>
      log.add(`${JSON.stringify({ tool: 'get_price', code: 'DOWN', ...line })}\n`);
    add({ event: 'source', detail: 'HTTP 503', ...request });
    add({ event: 'failure', detail: 'Error: no price' });
    add({ event: 'failure', code: 'NO_PRICE', detail: 'RangeError: no such day' });
    expect(log.failures).toEqual([
      {
        tool: 'get_price',
        code: 'DOWN',
        detail: 'HTTP 503',
        request: 'GET /price of api.example.com: HTTP 503',
      },
      { tool: 'get_price', code: 'DOWN', detail: 'Error: no price' },
      { tool: 'get_price', code: 'NO_PRICE', detail: 'RangeError: no such day' },
    ]);
  });

  it('are limited in number and length', () => {
    const log = new ServerLog();
    const line = JSON.stringify({ event: 'incident', id: 'abc', tool: 'x', detail: 'y'.repeat(20_000) });
    log.add(`${line}\n`.repeat(2_000));
    log.add('z'.repeat(1_000_000));
    expect(JSON.stringify(log.incidents).length).toBeLessThan(5_000_000);
  });

  it('are found in text that a tool prints with its name', () => {
    const { root, errors } = ran(
      "console.error('just a line');",
      "console.error('get_price', new RangeError('no such day'));",
    );
    const [printed, ...others] = printedErrors(errors);
    expect(others).toEqual([]);
    expect(printed?.tool).toBe('get_price');
    expect(causeOf(printed?.detail ?? '', root)).toMatchObject({
      message: 'RangeError: no such day',
      at: `src/tools/price.ts:${2 + shift}`,
    });
  });

  it('exclude the error that ended the process', () => {
    expect(printedErrors(ran("setTimeout(() => { throw new Error('x'); });").errors)).toEqual([]);
  });
});

it('names no place to change outside of the project', () => {
  const cause = causeOf('Error: x\n    at f (/elsewhere/a.js:1:2)\n    at node:internal/b:3:4', '/project');
  expect(cause).toEqual({ message: 'Error: x', stack: ['at f /elsewhere/a.js:1'] });
});

describe('the frames of the runtime', () => {
  const frames = (...files: readonly string[]) =>
    causeOf(`Error: x\n${files.map((file) => `    at f (${file}:1:2)`).join('\n')}`, '/project');
  const installed = '/project/node_modules/market-mcp-runtime/src/server/call.ts';
  const linked =
    '/project/node_modules/.pnpm/market-mcp-runtime@1.0.0/node_modules/market-mcp-runtime/dist/server/call.js';
  const tool = '/project/src/tools/price.ts';

  it.each([
    ['installed', installed],
    ['installed by pnpm', linked],
    ['hoisted above the project', '/node_modules/market-mcp-runtime/src/server/call.ts'],
  ])('are left out: %s', (_, file) => {
    expect(frames(file, tool, file)).toEqual({
      message: 'Error: x',
      at: 'src/tools/price.ts:1',
      stack: ['at f src/tools/price.ts:1'],
    });
  });

  it('are shown if there are no others of the project, and those of other packages always', () => {
    expect(frames(installed).stack).toEqual([`at f ${installed}:1`]);
    expect(frames(installed)).not.toHaveProperty('at');
    const other = '/project/node_modules/market-mcp-runtime-extras/index.js';
    expect(frames(other, tool).stack).toEqual([`at f ${other}:1`, 'at f src/tools/price.ts:1']);
  });
});
