import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { startApi } from '../api-server.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { trust } from '../broken/trust.ts';
import { bins, create, repository, run, scratch, succeeded } from './support.ts';

interface Action {
  readonly inputs: { readonly [name: string]: { readonly default: string } };
  readonly runs: { readonly steps: readonly Step[] };
}

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run: string;
  readonly env?: { readonly [name: string]: string };
}

/** A job of a runner: its temporary directory, which several uses of the Action share. */
interface Job {
  readonly temp: string;
  /** The command lines of `npx`, one a line. */
  readonly commands: string;
}

const action = load(readFileSync(join(repository, 'action.yml'), 'utf8')) as Action;
const root = scratch();

/** Whose token the steps have; GitHub answers questions and changes by account. */
const account = 'github-actions';
const stranger = { id: 1, body: '<!-- market-mcp -->\nNot by the Action.', author: 'eve' };
interface Comment {
  readonly id: number;
  body: string;
  readonly author: string;
}
let comments: Comment[] = [];

/** The part of GitHub's API that holds comments, two on a page, at a Unix socket: it is asked by the real `gh`. */
const api = createServer(async (request, response) => {
  const sent = JSON.parse((await text(request)) || '{}');
  const [status, answer] = answerOf(`${request.method} ${request.url}`, sent);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});

function answerOf(line: string, sent: { readonly body: string; readonly variables?: JsonObject }) {
  const { owner, name, number, endCursor } = sent.variables ?? {};
  const edited = /^PATCH \/repos\/ada\/gas\/issues\/comments\/(\d+)$/.exec(line)?.[1];
  const known = comments.find(({ id, author }) => id === Number(edited) && author === account);
  if (
    line === 'POST /graphql' &&
    `${owner}/${name}#${number}` === 'ada/gas#7' &&
    typeof number === 'number'
  ) {
    const from = Number(endCursor ?? 0);
    const nodes = comments
      .slice(from, from + 2)
      .map(({ id, body, author }) => ({ databaseId: id, body, viewerDidAuthor: author === account }));
    const pageInfo = { hasNextPage: from + 2 < comments.length, endCursor: String(from + 2) };
    return [200, { data: { repository: { pullRequest: { comments: { nodes, pageInfo } } } } }] as const;
  }
  if (line === 'POST /repos/ada/gas/issues/7/comments') {
    comments.push({ id: comments.length + 1, body: sent.body, author: account });
    return [201, comments.at(-1)] as const;
  }
  if (known) known.body = sent.body;
  return [known ? 200 : 404, known ?? { message: 'Not Found' }] as const;
}

const config = scratch();
const socket = join(config, 'github.sock');
beforeAll(async () => {
  writeFileSync(join(config, 'config.yml'), `http_unix_socket: ${socket}\n`);
  await once(api.listen(socket), 'listening');
});
afterAll(() => api.close());

function newJob(): Job {
  return { temp: scratch(), commands: join(scratch(), 'commands') };
}

/** Runs the steps of the Action in their order, with the files and variables of a runner. */
async function runAction(
  workspace: string,
  given: { readonly [input: string]: string },
  event: { readonly name: string; readonly payload?: object },
  { temp, commands }: Job = newJob(),
) {
  const tools = scratch();
  const bin = join(tools, 'bin');
  mkdirSync(bin);
  const contract = join(repository, 'packages/contract/bin/market-mcp-contract.js');
  // Of the registry's packages, the Action runs this one alone: the built one stands for it.
  const npx = `#!/bin/bash\nprintf '%s ' "$@" >> ${commands}\ncase "$2" in market-mcp-contract@*) exec ${process.execPath} ${contract} "\${@:3}" ;; esac\nPATH=\${PATH#*:} exec npx "$@"\n`;
  writeFileSync(join(bin, 'npx'), npx);
  chmodSync(join(bin, 'npx'), 0o755);
  const inputs = Object.fromEntries(Object.entries(action.inputs).map(([name, one]) => [name, one.default]));
  const github = {
    token: 'ghs_x',
    repository: 'ada/gas',
    server_url: 'https://github.com',
    event_name: event.name,
    event: event.payload ?? {},
  };
  const steps: Record<string, { outputs: Record<string, string> }> = {};
  const contexts = { inputs: { ...inputs, ...given, token: 'ghs_x' }, github, steps };
  const files = Object.fromEntries(
    ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'].map((name) => [name, join(tools, name)]),
  );
  const env = {
    ...process.env,
    ...files,
    PATH: [bin, process.env.PATH].join(delimiter),
    RUNNER_TEMP: temp,
    GITHUB_ACTION_PATH: repository.replace(/\/$/, ''),
    GH_CONFIG_DIR: config,
  };
  let log = '';
  let status = 0;
  for (const step of action.runs.steps) {
    if (status !== 0 || (step.if !== undefined && evaluated(step.if, contexts) !== 'true')) continue;
    for (const file of Object.values(files)) if (!existsSync(file)) writeFileSync(file, '');
    const own = Object.entries(step.env ?? {}).map(([name, text]) => [name, expanded(text, contexts)]);
    const script = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run];
    const ran = await run('bash', script, { cwd: workspace, env: { ...env, ...Object.fromEntries(own) } });
    log += ran.stdout + ran.stderr;
    status = ran.status ?? 1;
    const outputs = readFileSync(files.GITHUB_OUTPUT ?? '', 'utf8').matchAll(/^([\w-]+)=(.*)$/gm);
    if (step.id !== undefined)
      steps[step.id] = {
        outputs: Object.fromEntries([...outputs].map(([, name = '', value = '']) => [name, value])),
      };
  }
  return {
    status,
    log,
    summary: readFileSync(files.GITHUB_STEP_SUMMARY ?? '', 'utf8'),
    comments: comments.map(({ body }) => body),
  };
}

/** The value of an expression, by the library with which GitHub's own tools evaluate them. */
function evaluated(expression: string, contexts: object): string {
  const { tokens } = new Lexer(expression).lex();
  const tree = new Parser(tokens, Object.keys(contexts), []).parse();
  const known = JSON.parse(JSON.stringify(contexts), data.reviver) as data.Dictionary;
  return new Evaluator(tree, known).evaluate().coerceString();
}

function expanded(text: string, contexts: object): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression) => evaluated(expression.trim(), contexts));
}

it('the Action at a URL annotates, writes a summary, and fails by the verdict of market-mcp-contract', async () => {
  const server = await serve(createSteps(trust, { authorized: () => async () => true }));
  const listing = join(root, 'before.json');
  writeFileSync(listing, '{"tools":[{"name":"gone_tool"}]}');
  const given = { url: server.url, platform: 'context', against: listing };
  const ended = await runAction(root, given, { name: 'push' });
  await server.stop();
  expect([ended.status, ended.comments]).toEqual([1, []]);
  expect(ended.log).toMatch(/^::error title=gate\.no-token::/m);
  expect(ended.summary).toMatch(/^# ❌ Contract check of/);
  expect(ended.summary).toContain(
    '| gone\\_tool |  | the tool was removed | **breaks callers, loses disputes** |',
  );
  const silent = await runAction(root, { url: server.url }, { name: 'push' });
  expect([silent.status, silent.summary]).toEqual([3, '']);
});

it('the headers, the token and the key of the inputs reach the check by the environment, and no argument has them', async () => {
  const { origin, requests } = await startApi(() => ({ status: 500 }));
  const url = `${origin}/mcp`;
  const header = 'X-Api-Key: k-4711\nX-Team: blue';
  const job = newJob();
  await runAction(root, { url, header }, { name: 'push' }, job);
  expect(requests.length).toBeGreaterThan(0);
  for (const { headers } of requests)
    expect(headers).toMatchObject({ 'x-api-key': 'k-4711', 'x-team': 'blue' });

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { issuer, audience } = trust;
  const trusted = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const server = await serve(createSteps({ publicKey: trusted, issuer, audience }));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signed = { url: server.url, platform: 'context', 'signing-key': key, issuer, audience };
  const withKey = await runAction(root, signed, { name: 'push' }, job);
  const jwt = await (await createSigner(context.token, audience, { issuer, privateKey })).token();
  const withToken = await runAction(
    root,
    { url: server.url, platform: 'context', jwt },
    { name: 'push' },
    job,
  );
  await server.stop();
  expect([withKey.status, withToken.status], withKey.log + withToken.log).toEqual([0, 0]);
  for (const { summary } of [withKey, withToken])
    expect(summary).not.toContain('no private key to sign platform tokens and no');
  const commands = readFileSync(job.commands, 'utf8');
  expect(commands).toMatch(
    /--header \$MARKET_MCP_HEADER .*--signing-key \$MARKET_MCP_SIGNING_KEY .*--token \$MARKET_MCP_JWT /s,
  );
  for (const text of ['k-4711', 'PRIVATE KEY', jwt]) expect(commands).not.toContain(text);
});

it('the Action leaves a full clone full, and fetches one commit into a shallow one', async () => {
  const origin = join(root, 'origin');
  const git = (cwd: string, ...args: readonly string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8' }).trim();
  };
  mkdirSync(origin);
  git(origin, 'init', '--quiet', '--initial-branch', 'main');
  git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  for (const message of ['first', 'second'])
    git(origin, 'commit', '--quiet', '--allow-empty', '--message', message);
  git(origin, 'checkout', '--quiet', '-b', 'base');
  git(origin, 'commit', '--quiet', '--allow-empty', '--message', 'base');
  const base = git(origin, 'rev-parse', 'base');
  const fetchStep = action.runs.steps.find(({ env = {} }) => 'TOKEN' in env && 'BASE' in env);
  const cloned = async (name: string, ...flags: readonly string[]) => {
    const clone = join(root, name);
    git(root, 'clone', '--quiet', '--single-branch', '--branch', 'main', ...flags, `file://${origin}`, clone);
    const env = { BASE: base, SERVER: 'https://github.com', TOKEN: 'x' };
    const script = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', fetchStep?.run ?? 'exit 9'];
    const { status, stderr } = await run('bash', script, { cwd: clone, env });
    expect(status, stderr).toBe(0);
    return [git(clone, 'rev-parse', '--is-shallow-repository'), git(clone, 'cat-file', '-t', base)];
  };
  expect(await cloned('full')).toEqual(['false', 'commit']);
  expect(await cloned('shallow', '--depth', '1')).toEqual(['true', 'commit']);
});

const hasGh = spawnSync('gh', ['--version']).error === undefined;

describe.skipIf(!hasGh)('the Action in a pull request (skipped without gh)', () => {
  const workspace = join(root, 'gas');
  const git = async (...args: readonly string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    const { status, stdout, stderr } = await run('git', [...identity, ...args], { cwd: workspace });
    expect(status, stderr).toBe(0);
    return stdout.trim();
  };
  let payload: object;
  const from = (full_name: string) => ({
    name: 'pull_request',
    payload: { pull_request: { ...payload, number: 7, head: { repo: { full_name } } } },
  });

  beforeAll(async () => {
    await succeeded(
      create(['gas', '--yes', '--tool', 'get_gas', '--no-git', '--no-check'], {
        cwd: root,
      }),
    );
    await git('init', '--quiet');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'base');
    payload = { base: { sha: await git('rev-parse', 'HEAD') } };
    await git('remote', 'add', 'origin', workspace);
    const words = [bins.market, 'rename-tool', 'get_gas', 'get_price', '--yes'];
    expect((await run(process.execPath, words, { cwd: workspace })).status).toBe(0);
  });

  it('says in one comment of its own what the change does to buyers, and for a fork in the summary alone', async () => {
    comments = [{ ...stranger }];
    const job = newJob();
    const first = await runAction(workspace, {}, from('ada/gas'), job);
    expect(first.status, first.log).toBe(0);
    const [before, written = ''] = first.comments;
    expect([before, first.comments.length]).toEqual([stranger.body, 2]);
    expect(written).toMatch(/^<!-- market-mcp [0-9a-f]+ -->\n# \S+ Contract check/);
    expect(written).toContain(
      '| get\\_gas |  | the tool was removed | **breaks callers, loses disputes** | **lost** by the old schema |',
    );
    expect(written).toContain('until you trigger "Refresh Skills"');
    expect(first.summary).toContain('| get\\_price |  | the tool is new | safe for callers | no |');
    comments.splice(1, 0, { ...stranger, id: 8 });
    // A second use in the same job.
    const second = await runAction(workspace, { level: 'should' }, from('ada/gas'), job);
    expect(second.summary).toContain('| get\\_price |  | the tool is new | safe for callers | no |');
    expect([second.status, ...second.comments.slice(0, -1)]).toEqual([1, stranger.body, stranger.body]);
    expect(second.comments).toHaveLength(3);
    expect(second.comments[2]).not.toBe(written);
    // The token of a fork cannot write. The runner has emptied its temporary directory.
    comments = [];
    rmSync(job.temp, { recursive: true });
    mkdirSync(job.temp);
    const fork = await runAction(workspace, {}, from('eve/gas'), job);
    expect([fork.status, fork.comments], fork.log).toEqual([0, []]);
    expect(fork.summary).toContain('**breaks callers, loses disputes**');
    expect(await git('worktree', 'list', '--porcelain')).not.toContain('base');
  });

  it('keeps a comment for each URL, takes over the comment of an earlier version once, and names no key', async () => {
    const earlier = '<!-- market-mcp -->\nBy an earlier version.';
    comments = [
      { ...stranger },
      { id: 2, body: '<!-- market-mcp -->x', author: account },
      { id: 3, body: earlier, author: account },
    ];
    const server = await serve(createSteps(trust));
    const urls = [`${server.url}?key=4711`, `${server.url}?key=4712`];
    for (const url of [...urls, ...urls])
      await runAction(workspace, { url, platform: 'context' }, from('ada/gas'));
    await server.stop();
    const bodies = comments.map(({ body }) => body);
    expect(bodies.slice(0, 2)).toEqual([stranger.body, '<!-- market-mcp -->x']);
    expect(bodies).toHaveLength(4);
    const marks = bodies.slice(2).map((body) => body.split('\n')[0]);
    expect(new Set(marks).size).toBe(2);
    for (const mark of marks) expect(mark).toMatch(/^<!-- market-mcp [0-9a-f]+ -->$/);
    expect(bodies.join()).not.toMatch(/471[12]/);
  });
});
