import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { createSigner, type TokenVariant } from '../../packages/contract/src/wire/signer.ts';
import { listen } from '../listen.ts';
import { run as start } from '../runtime/built.ts';
import { installOnce } from './install-once.ts';
import { bins, compile, create, market, repository, run, scaffold, scratch } from './support.ts';

const root = scratch();
/** Only root may listen on this port, and no program does. */
const closedUrl = 'http://127.0.0.1:2/';
const file = 'src/tools/get-price.ts';
let project: string;
let original: string;

beforeAll(async () => {
  const said = ['--description', 'Returns a price. Use it when a question names a coin.'];
  const made = ['project', '--tool', 'get_price', '--input', 'symbol:string=BTC Symbol', ...said];
  project = (await scaffold(made, { cwd: root })).directory;
  original = readFileSync(join(project, file), 'utf8');
});

interface Mistake {
  readonly what: string;
  /** A statement at the start of `read`, or text before the whole file. */
  readonly line?: string;
  readonly top?: string;
  readonly env?: Record<string, string>;
  /** Where the server stops answering. */
  readonly timeoutMs?: number;
  /** The message that the author must see. */
  readonly told: RegExp;
}

const found = "return { name: 'x', value: 1, updatedAt: null }";

/** Mistakes that the compiler finds. */
const typed: readonly Mistake[] = [
  {
    what: 'A field that the schema does not declare',
    line: "return { nam: 'x' } as const;",
    told: /'nam'|Type '\{ readonly nam/,
  },
  {
    what: 'A `Date` where the schema has a text',
    line: found.replace('null', 'new Date()'),
    told: /Type 'Date' is not assignable to type/,
  },
  {
    what: '`undefined` in a required field',
    line: found.replace('null', 'undefined'),
    told: /Type 'undefined' is not assignable to type/,
  },
  {
    what: 'A list as the whole answer',
    line: 'return [1];',
    told: /Type 'number\[\]' is (not assignable|missing)/,
  },
  {
    what: 'An import without its ending',
    top: "import { x } from './helper';",
    told: /Relative import paths need explicit file extensions|Cannot find module/,
  },
];

/** Mistakes that appear when the tool runs. */
const running: readonly Mistake[] = [
  {
    what: 'A throw',
    line: "if (input.symbol) throw new Error('the feed is gone');",
    told: /error +Error: the feed is gone/,
  },
  {
    what: 'A throw in a timer',
    line: "setTimeout(() => { throw new TypeError('no feed'); }, 20);",
    told: /the server died .*TypeError: no feed at src\/tools\/get-price\.ts:\d+/,
  },
  {
    what: 'A rejection that nobody waits for',
    line: "void Promise.reject(new Error('lost feed'));",
    told: /an error outside any call: Error: lost feed at src\/tools\/get-price\.ts:\d+/,
  },
  {
    what: '`process.exit`',
    line: 'if (input.symbol) process.exit(0);',
    told: /the server died .*process\.exit\(0\) was called at src\/tools\/get-price\.ts:\d+/,
  },
  {
    what: 'A loop that never ends',
    line: 'while (input.symbol) Math.random();',
    timeoutMs: 4_000,
    told: /its process still runs, so something in it never ends/,
  },
  {
    what: 'A promise that never settles',
    line: 'if (input.symbol) await new Promise(() => {});',
    env: { CALL_TIMEOUT_MS: '1000' },
    told: /DEADLINE_EXCEEDED/,
  },
  {
    what: 'A `NaN` in a field that may be null',
    line: found.replace('1', 'Number.NaN'),
    told: /structuredContent\.value: JSON turns NaN into null/,
  },
  {
    what: 'A source that cannot be reached',
    line: `await fetch('${closedUrl}');`,
    told: /fetch failed.*ECONNREFUSED/,
  },
  {
    what: 'A variable that is not set',
    top: "if (!process.env.PRICE_KEY) throw new Error('PRICE_KEY is not set');",
    told: /^ *Error: PRICE_KEY is not set/m,
  },
  {
    what: '`require` in a project of ES modules',
    top: "const os = require('node:os'); os.platform();",
    told: /require is not defined/,
  },
];

const rows: string[] = [];

/** Records the output without parts that differ between runs. */
function note(what: string, where: string, text: string, told: RegExp): void {
  expect(text).toMatch(told);
  const line = text.split('\n').find((one) => told.test(one)) ?? '';
  const shown = line
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/while \S+ ran(, in parallel with [^:;]*)?/g, 'while … ran')
    .replaceAll(/(\.ts)[:(]\d+(,\d+\))?(:\d+)?/g, '$1:…')
    .replaceAll(/127\.0\.0\.1:\d+|Port \d+|file:\S+\/|(?<=this is Node\.js )[\d.]+/g, '…')
    .replace(/, \d+ times$/, '')
    .replace(/"time":"[^"]*",/, '')
    .replace(/"request":"[^"]*"/, '"request":"…"')
    .replaceAll('|', '\\|');
  rows.push(`| ${what} | \`${where}\` | \`${shown.length > 220 ? `${shown.slice(0, 219)}…` : shown}\` |`);
}

function write({ line = '', top = '' }: Partial<Mistake>): void {
  const text = original.replace('return samples', `${line}\n    return samples`);
  writeFileSync(join(project, file), top === '' ? text : `${top}\n${text}`);
}

test.each(typed)('tsc reports $what', async (mistake) => {
  write(mistake);
  const { status, stdout } = await compile(project);
  expect(status).not.toBe(0);
  note(mistake.what, 'tsc', stdout, mistake.told);
});

test.each(running)('check reports $what', async (mistake) => {
  write(mistake);
  expect((await compile(project)).status).toBe(0);
  const args = ['check', '--no-build', '--only', 'endpoint,outcome,submission,call'];
  args.push('--timeout', String(mistake.timeoutMs ?? 60_000));
  const { stdout, stderr } = await market(args, {
    cwd: project,
    ...(mistake.env && { env: mistake.env }),
  });
  note(mistake.what, 'check', `${stdout}\n${stderr}`, mistake.told);
});

const issuer = 'https://platform.example';
const audience = 'http://localhost:3000/mcp';

test.each<[string, string, TokenVariant, RegExp]>([
  [
    'A token of another key',
    audience,
    { by: 'untrusted' },
    /"refused","reason":"not signed by the key in use: PLATFORM_PUBLIC_KEY/,
  ],
  [
    'A token for another audience',
    'http://localhost:9/mcp',
    {},
    /"ERR_JWT_CLAIM_VALIDATION_FAILED: aud","expected":"http:\/\/localhost:3000\/mcp","got":/,
  ],
])('%s is refused with its reason in development', async (what, named, forgery, told) => {
  write({});
  expect((await compile(project)).status).toBe(0);
  const signer = await createSigner(generic.token, named, { issuer });
  const env = { PORT: '0', HOST: '127.0.0.1', PLATFORM_ISSUER: issuer, PLATFORM_AUDIENCE: audience };
  const server = start(project, 'dist/src/main.js', { ...env, PLATFORM_PUBLIC_KEY: signer.publicKey });
  const listening = /"listening".*?"port":(\d+)/;
  await vi.waitUntil(() => listening.test(server.output.stdout), { timeout: 60_000 });
  const port = listening.exec(server.output.stdout)?.[1];
  const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await signer.token(forgery)}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_price' } }),
  });
  expect(status).toBe(401);
  await vi.waitUntil(() => told.test(server.output.stdout), { timeout: 60_000 });
  note(what, 'dev', server.output.stdout, told);
});

test('a port in use and a missing build are reported at the start', async () => {
  write({});
  expect((await compile(project)).status).toBe(0);
  const port = String(await listen(createServer()));
  const signer = await createSigner(generic.token, audience, { issuer });
  const env = {
    PORT: port,
    HOST: '127.0.0.1',
    PLATFORM_ISSUER: issuer,
    PLATFORM_PUBLIC_KEY: signer.publicKey,
  };
  const { stderr } = await start(project, 'dist/src/main.js', env).exit;
  note('A port in use', 'dev', stderr, /Port \d+ is already in use/);
  renameSync(join(project, 'dist'), join(project, 'dist.away'));
  const unbuilt = await start(project, 'dist/src/main.js', env).exit;
  note('No build', 'npm start', unbuilt.stderr.replaceAll(project, '…'), /Cannot find module/);
});

test('a Node that is too old is reported with the required version', async () => {
  const modules = await installOnce('node-18', JSON.stringify({ dependencies: { node: '18' } }), [], true);
  const old = join(modules, 'node/bin/node');
  const told = /needs Node\.js 20\.12 or later, but this is Node\.js 18\.\d+\.\d+/;
  const created = await run(old, [bins.create, 'tool', '--yes', '--no-install'], { cwd: root });
  expect([created.status, created.stderr]).toEqual([2, expect.stringMatching(told)]);
  expect(created.stderr).not.toContain('    at ');
  const { status, stderr } = await run(old, [bins.market, 'check'], { cwd: project });
  expect(status).toBe(2);
  note('A wrong Node version', 'check', stderr, told);
  const build = await run(old, ['scripts/check-node.cjs'], { cwd: repository });
  expect(build.status).toBe(2);
  expect(build.stderr).toMatch(/needs Node\.js 20\.19 or 22\.12 or later, but this is Node\.js 18\./);
});

test('an installation without a network keeps the project and prints the command that continues', async () => {
  const env = {
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_fetch_retries: '0',
    npm_config_user_agent: 'npm',
  };
  const made = await create(['offline', '--tool', 'get_price', '--yes', '--no-git'], { cwd: root, env });
  expect(made.status).toBe(4);
  const cause = /^✘ npm install failed: npm could not reach its registry \(ECONNREFUSED\)\n {4}npm error /;
  expect(made.stderr).toMatch(cause);
  expect(made.stderr).toMatch(
    /All files are written\. To continue, run in \S+: npm install, then npm run self-check$/,
  );
  expect(existsSync(join(root, 'offline/src/tools/get-price.ts'))).toBe(true);
  note('No network during the installation', 'create', made.stderr, /could not reach/);
});

test('proxy variables do not affect the check of a local server', async () => {
  write({});
  expect((await compile(project)).status).toBe(0);
  const proxy = 'http://127.0.0.1:9';
  const env = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
  const check = (...args: string[]) => market(['check', ...args], { cwd: project, env });
  expect((await check('--no-build', '--only', 'gate')).status).toBe(0);
  const { status, stderr } = await check(`${closedUrl}mcp`);
  expect(status).toBe(3);
  note('Proxy variables are set', 'check', stderr, /it does not use the proxy in HTTPS_PROXY/);
});

test('docs/troubleshooting.md contains the printed messages', async () => {
  const text = `# Troubleshooting

This table lists common mistakes and the message that you see for each. \`test/e2e/troubleshooting.test.ts\` makes each mistake
in a new project and writes the table from the real output; \`…\` replaces line numbers, addresses and versions. \`npm run
self-check\` prints the same as \`check\`.

| mistake | found by | printed |
|---|---|---|
${rows.join('\n')}

For an error in your code, the report also shows the first stack frames and the place to change. See
[Checking a server](check.md).

## How do I…

### find a \`NaN\`

JSON turns \`NaN\`, \`Infinity\` and invalid dates into \`null\`. The server refuses an answer that contains one, even in a field that may
be null: the caller gets \`OUTPUT_MISMATCH\` and the id of an incident. \`check\` and the incident in the server's log name the
field. Test numbers with \`Number.isFinite\` in \`source.read\`, and return \`null\` where there is no number.

### work behind a proxy

- The installation uses the proxy settings of your package manager. npm reads \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\`.
- \`check\`, \`dev\` and the local marketplace connect directly. A check must see the server itself, not the answers of a proxy.
- The requests of \`create\` and \`add-tool\` also go directly. If one gets no answer, its error names the proxy. Give a saved file instead:
  \`--from-openapi\`, \`--from-sample\` and \`--spec\` read files.
- The generated server fetches the key set of the platform (\`PLATFORM_JWKS_URL\`) directly. If its network allows only a proxy, set
  \`PLATFORM_PUBLIC_KEY\` instead. No request is needed then.

### use Yarn on the day of a release

Yarn 4.10 and later refuse versions that are less than a day old. In a project, \`.yarnrc.yml\` approves \`create-market-mcp\` and
\`market-mcp-runtime\`. \`yarn dlx\` and \`yarn create\` read no such file outside of a project: on the day of a release they take the
version before, or refuse the new one by name. Wait a day, or use \`npx create-market-mcp --package-manager yarn\`.

### continue after an interruption

If you press Ctrl-C, or if the installation fails, all files of the project are already written. The last lines name the command
that continues. You can also run the same \`create-market-mcp\` command again: it continues with the existing project.
`;
  await expect(text).toMatchFileSnapshot(join(repository, 'docs/troubleshooting.md'));
});
