import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Access, accessIn } from '../../src/marketplace/core/page-access.ts';
import { requestJson } from '../../src/marketplace/running-marketplace.ts';
import { startApi } from '../api-server.ts';
import { freePort } from '../ports.ts';
import { run } from '../runtime/built.ts';
import { generatedProject, market } from './project.ts';

let project: Awaited<ReturnType<typeof generatedProject>>;
beforeAll(async () => {
  project = await generatedProject({
    platform: 'context',
    tool: 'get_price',
    description: ['Returns the last price of one coin. Use it when a question names a coin.'],
    input: ['symbol:string=BTC Ticker of the coin'],
    output: ['price:number Last price in US dollars'],
  });
});
afterAll(() => project.remove());

const marketplace = async (args: readonly string[], env: Record<string, string> = {}) =>
  run(project.directory, market, { PORT: String(await freePort()), ...env }, args).exit;
/** The link of the marketplace in the output of a command. */
function linkIn(output: string): Access {
  const [link] = /http:\/\/\w+\.localhost:\d+\/\?\S*/.exec(output) ?? [];
  const access = accessIn(link);
  if (!access) throw new Error(`no link in ${output}`);
  return access;
}

const toolFile = () => join(project.directory, 'src/tools/get-price.ts');

/** The life of a listing as one shell script; CI could run each line. */
const journey = `set -e
market="${process.execPath} ${market}"
$market call get_price --expect found --json > call.json
$market call get_price '{"symbol": "BTC"}' --as no-token
$market call get_price --as dropped-session
printf '{"tools":[{"name":"gone_tool"}]}' > listing.json
$market register --name Prices --category Utility --price 0.05 --json > register.json
rm listing.json
if $market register --json > again.json; then exit 40; fi
$market call get_price --json > listed.json
$market marketplace dispute "$(sed -n 's/^{"id":\\([0-9]*\\),.*/\\1/p' listed.json)" --json > dispute.json
sed -i 's/Returns the last price/Returns the latest price/' src/tools/get-price.ts
attempt=0
while [ $((attempt += 1)) -le 120 ]; do
  sleep 1
  # The server is away for a moment while it starts again.
  if $market marketplace refresh --json > refresh.json && grep -q latest refresh.json && ! grep -q '"changes":\\[\\]' refresh.json; then exit 0; fi
done
exit 41
`;

test('runs the whole life of a listing headless, as one script', async () => {
  const original = readFileSync(toolFile(), 'utf8');
  onTestFinished(() => writeFileSync(toolFile(), original));
  writeFileSync(join(project.directory, 'journey.sh'), journey);
  const { code, stdout, stderr } = await marketplace([
    'marketplace',
    '--page-port',
    '0',
    '--exec',
    'sh journey.sh',
  ]);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('✔ expected HTTP 401');
  expect(stdout).toContain('✔ expected HTTP 400');
  const told = (name: string) => JSON.parse(readFileSync(join(project.directory, name), 'utf8'));
  expect(told('call.json')).toMatchObject({
    status: 200,
    verdict: { outcome: 'found', same: { status: 'pass' } },
  });
  expect(told('register.json')).toMatchObject({
    accepted: true,
    listing: { name: 'Prices', state: 'listed' },
    drift: { changes: [{ tool: 'gone_tool', breaksFor: ['caller', 'dispute'] }, { rule: 'tool.new' }] },
  });
  expect(told('again.json')).toMatchObject({ accepted: false });
  expect(told('dispute.json')).toMatchObject({ verdict: 'innocent', tool: 'get_price' });
  expect(told('refresh.json').changes).toMatchObject([{ tool: 'get_price', path: 'description' }]);
  const state = JSON.parse(readFileSync(join(project.directory, '.market-mcp/marketplace.json'), 'utf8'));
  expect(state.listings).toHaveLength(1);
  expect(readFileSync(join(project.directory, '.market-mcp/.gitignore'), 'utf8')).toBe('*\n');
});

test('a command opens a marketplace if none runs, and starts the server', async () => {
  const reset = await marketplace(['marketplace', '--reset', '--page-port', '0', '--exec', 'exit 7']);
  expect(reset.code).toBe(7);
  const { code, stdout } = await marketplace(['call', 'get_price', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ tool: 'get_price', verdict: { outcome: 'found' } });
  const registered = await marketplace(['register', '--json']);
  expect(JSON.parse(registered.stdout)).toMatchObject({ accepted: true, listing: { category: 'Other' } });
});

test('refuses a damaged state and prints a command that resets it', async () => {
  const file = join(project.directory, '.market-mcp/marketplace.json');
  writeFileSync(file, '{');
  const damaged = await marketplace(['register']);
  expect(damaged).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/market-mcp(?:\.js)? marketplace --reset/),
  });
  expect((await marketplace(['marketplace', '--reset', '--exec', 'exit 0'])).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test.each([
  [['call', 'get_prise'], 2, 'Did you mean get_price?'],
  [['call', 'get_price', 'symbol=BTC'], 2, 'is not JSON'],
  [['call', 'get_price', '[1]'], 2, 'is not a JSON object'],
  [['call', 'get_price', '--as', 'nobody'], 2, 'no-token'],
  [['marketplace', 'dispute', 'one'], 2, 'is not the number of a call'],
  [['marketplace', 'dispute', '9999'], 2, 'there is no call 9999'],
  [['marketplace', 'refresh', 'Nothing'], 2, 'there is no listing "Nothing"'],
  [['marketplace', '--page-port', '70000'], 2, '--page-port'],
  [['marketplace', '--port', '4500'], 2, 'Write --page-port.'],
  [['marketplace', '--platform', 'contxt'], 2, 'context'],
])('%j is refused with a message', async (args, code, words) => {
  const ended = await marketplace(args as string[]);
  expect({ code: ended.code, words: ended.stderr.includes(words) ? words : ended.stderr }).toEqual({
    code,
    words,
  });
  expect(ended.stderr).not.toMatch(/\n {4}at /);
});

test('call exits with 1 after a failure and names its cause, and with 3 without an answer', async () => {
  const original = readFileSync(toolFile(), 'utf8');
  onTestFinished(() => writeFileSync(toolFile(), original));
  const thrown = "if (input.symbol === 'GONE') throw new Error('the feed is gone');";
  const [before = '', after = ''] = original.split('const answer = await source.read(input, signal);');
  writeFileSync(
    toolFile(),
    `${before}${thrown}\n    const answer = await source.read(input, signal);${after}`,
  );
  const at = `src/tools/get-price.ts:${before.split('\n').length}`;
  const failed = await marketplace(['call', 'get_price', '{"symbol":"GONE"}']);
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('the tool reported a failure') });
  expect(failed.stdout).toContain('Error: the feed is gone');
  expect(failed.stdout).toContain(at);
  const asJson = await marketplace(['call', 'get_price', '{"symbol":"GONE"}', '--json']);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    ok: false,
    objection: expect.stringContaining('failure'),
    cause: { message: 'Error: the feed is gone', at },
  });
  expect((await marketplace(['call', 'get_price', '{"symbol":"GONE"}', '--expect', 'fail'])).code).toBe(0);
  const elsewhere = await run(tmpdir(), market, {}, ['call', 'get_price']).exit;
  expect(elsewhere).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('name a server with --endpoint'),
  });
  const other = await marketplace(['call', 'get_price', '--expect', 'empty']);
  expect(other).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('expected the outcome empty, got found'),
  });
  const endpoint = `http://127.0.0.1:${await freePort()}/mcp`;
  const { code, stdout } = await marketplace(['call', 'get_price', '{}', '--endpoint', endpoint]);
  expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining('ECONNREFUSED') });
});

test('a signal ends --exec and call, with what they have started', async () => {
  const mark = join(project.directory, 'mark');
  onTestFinished(() => rmSync(mark, { force: true }));
  const marked = () =>
    vi.waitUntil(() => existsSync(mark) && readFileSync(mark, 'utf8'), { timeout: 120_000 });
  const original = readFileSync(toolFile(), 'utf8');
  onTestFinished(() => writeFileSync(toolFile(), original));
  const interrupted = async (args: readonly string[]) => {
    const PORT = String(await freePort());
    const program = run(project.directory, market, { PORT }, args);
    const started = Number(await marked());
    program.child.kill('SIGINT');
    expect(await program.exit).toMatchObject({ code: 130 });
    await vi.waitFor(() => expect(() => process.kill(started, 0)).toThrow('ESRCH'), { timeout: 60_000 });
    rmSync(mark);
    await vi.waitFor(() => expect(fetch(`http://127.0.0.1:${PORT}/health`)).rejects.toThrow(), {
      timeout: 60_000,
    });
  };
  await interrupted(['marketplace', '--page-port', '0', '--exec', `echo $$ > ${mark}; exec sleep 300`]);
  // The server never listens, so the command still waits for it.
  const hangs = `import { writeFileSync } from 'node:fs';
if (process.argv[1]?.endsWith('main.js')) {
  writeFileSync('mark', String(process.pid));
  await new Promise(() => setInterval(() => {}, 1_000));
}
`;
  writeFileSync(toolFile(), `${hangs}${original}`);
  await interrupted(['call', 'get_price']);
});

/** A `dev` whose server listens. */
async function serving(args: readonly string[], port?: string) {
  const env = { PORT: port ?? String(await freePort()), HOST: '127.0.0.1' };
  const dev = run(project.directory, market, env, ['dev', ...args]);
  await vi.waitUntil(() => dev.output.stdout.includes('listening'), { timeout: 60_000 });
  const end = async () => {
    dev.child.kill('SIGINT');
    expect(await dev.exit).toMatchObject({ code: 0 });
  };
  return { ...dev, env, end };
}

/** Starts a program that answers every request on a free port. @returns its port */
async function occupied(status: () => number): Promise<string> {
  const { origin } = await startApi(() => ({ status: status(), body: {} }));
  return new URL(origin).port;
}

test.each([
  ['call', 200, 'another program answers at', ['call', 'get_price']],
  ['call', 404, 'is already in use', ['call', 'get_price']],
  ['marketplace --exec', 404, 'is already in use', ['marketplace', '--page-port', '0', '--exec', 'exit 0']],
])(
  '%s at a port where another program answers with %d ends with 3 and says so',
  async (_, status, words, args) => {
    const env = { PORT: await occupied(() => status), HOST: '127.0.0.1' };
    const { code, stdout, stderr } = await marketplace(args, env);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(words) });
    expect(stdout).not.toContain('found');
  },
);

test('call does not mistake a program that takes the port while the server starts for the server', async () => {
  const statuses = [404, 200];
  const env = { PORT: await occupied(() => statuses.shift() ?? 200), HOST: '127.0.0.1' };
  const { code, stdout, stderr } = await marketplace(['call', 'get_price'], env);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringMatching(`Port ${env.PORT} is taken by .* \\(pid ${process.pid}\\)\\.`),
  });
  expect(stdout).toBe('');
});

test('call takes another port if a program takes the free one before the server listens', async () => {
  const main = join(project.directory, 'src/main.ts');
  const original = readFileSync(main, 'utf8');
  const mark = join(project.directory, 'taken');
  onTestFinished(() => {
    writeFileSync(main, original);
    rmSync(mark, { force: true });
  });
  // The first start finds its port taken, however early it is.
  writeFileSync(
    main,
    `import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
if (!existsSync('taken')) {
  writeFileSync('taken', '');
  await new Promise<void>((resolve) => createServer().listen(Number(process.env.PORT ?? 3000), resolve));
}
${original}`,
  );
  const { code, stdout, stderr } = await run(project.directory, market, {}, ['call', 'get_price']).exit;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('✘') });
  expect(stdout).toContain('get_price  found');
  expect(existsSync(mark)).toBe(true);
});

test('dev --port overrides PORT, and dev prints the addresses of the page and of the server', async () => {
  const port = await freePort();
  const args = ['dev', '--port', String(port), '--page-port', '0'];
  const { child, exit, output } = run(project.directory, market, { PORT: String(await freePort()) }, args);
  while (!output.stdout.includes('"listening"')) await once(child.stdout, 'data');
  child.kill('SIGINT');
  expect((await exit).code).toBe(0);
  expect(output.stdout).toMatch(/^Marketplace {2}http:\/\/\S+$/m);
  expect(output.stdout).toContain(`\nServer       http://localhost:${port}/mcp\n`);
  expect(output.stdout).toContain(`"port":${port},`);
});

test('dev does not mistake another program for the server of the project', async () => {
  const env = { PORT: await occupied(() => 200), HOST: '127.0.0.1' };
  const { child, exit, output } = run(project.directory, market, env, ['dev', '--page-port', '0']);
  await vi.waitUntil(() => output.stdout.includes('The server ended with code 1'), { timeout: 60_000 });
  await vi.waitUntil(() => output.stderr.includes(`Port ${env.PORT} is already in use`), {
    timeout: 60_000,
  });
  child.kill('SIGINT');
  expect(await exit).toMatchObject({ code: 0 });
});

test('call uses the server that dev --no-marketplace runs', async () => {
  const { env, output, end } = await serving(['--no-marketplace']);
  expect(await marketplace(['call', 'get_price', '--expect', 'found'], env)).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect(output.stdout.split('"listening"')).toHaveLength(2);
  await end();
});

test('dev prints one link, and ends with the page', async () => {
  const { output, end } = await serving(['--page-port', '0']);
  const access = linkIn(output.stdout);
  const home = await requestJson(access, '/index.json');
  expect(home).toMatchObject({
    healthy: true,
    tools: [{ name: 'get_price', source: 'src/tools/get-price.ts' }],
  });
  await end();
  await expect(fetch(access.url)).rejects.toThrow();
});

test('the commands use the marketplace of dev by its stored link, and a restart of dev keeps the secret', async () => {
  // A port that no other program is given while it is free.
  const first = await serving(['--page-port', String(await freePort())]);
  const { env } = first;
  const access = linkIn(first.output.stdout);
  expect(await marketplace(['call', 'get_price', '--expect', 'found'], env)).toMatchObject({ code: 0 });
  const { exchanges } = await requestJson<{ readonly exchanges: readonly unknown[] }>(
    access,
    '/traffic.json',
  );
  expect(exchanges.length).toBeGreaterThan(0);
  // Prints the link again, and ends.
  const again = await marketplace(['marketplace', '--json'], env);
  expect(again.code).toBe(0);
  expect(accessIn(JSON.parse(again.stdout).link)).toEqual(access);
  expect(JSON.parse(again.stdout)).toMatchObject(access);
  await first.end();

  const second = await serving(['--page-port', new URL(access.url).port], env.PORT);
  expect(linkIn(second.output.stdout)).toEqual(access);
  await second.end();
});

test('--exec hands the link to the command, and a command refuses a link that is none', async () => {
  const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
  const printed = await marketplace(
    ['marketplace', '--page-port', '0', '--exec', 'echo "got $MARKET_MCP_URL"'],
    env,
  );
  expect(printed.code).toBe(0);
  const [, link] = /got (\S+)/.exec(printed.stdout) ?? [];
  expect(accessIn(link)).toEqual(linkIn(printed.stdout));
  // Node and Python do not resolve the host of the pages.
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect(await marketplace(['call', 'get_price'], { MARKET_MCP_URL: 'http://127.0.0.1:1' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected the link that the marketplace printed'),
  });
  expect(await marketplace(['call', 'get_price'], { MARKET_MCP_URL: String(link) })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('does not answer as a marketplace'),
  });
});

test('call in a project with a planted .market-mcp writes to nothing outside, and says what to remove', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'outside-'));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  const own = join(project.directory, '.market-mcp');
  const kept = `${own}.kept`;
  if (existsSync(own)) renameSync(own, kept);
  symlinkSync(outside, own);
  onTestFinished(() => {
    rmSync(own);
    if (existsSync(kept)) renameSync(kept, own);
  });
  for (const args of [['call', 'get_price'], ['register'], ['marketplace', '--exec', 'true']]) {
    expect(await marketplace(args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('.market-mcp is a link'),
    });
  }
  expect(readdirSync(outside)).toEqual([]);
});
