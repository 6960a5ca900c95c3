import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import { trust } from '../broken/check.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { bins, create, repository, run, scratch } from './support.ts';

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

const action = load(readFileSync(join(repository, 'action.yml'), 'utf8')) as Action;
const root = scratch();

/** GitHub's comments as a file: what `gh api` reads and writes. */
const gh = `#!/bin/bash
set -e
case "$*" in
  'api --paginate repos/ada/gas/issues/7/comments --jq '*) jq -r "$5" comments.json ;;
  'api --silent --method POST repos/ada/gas/issues/7/comments --field body=@'*) write='. + [{id: (length + 1), body: $body}]' ;;
  'api --silent --method PATCH repos/ada/gas/issues/comments/'*) write="map(if .id == \${5##*/} then .body = \\$body else . end)" ;;
  *) echo "gh $*" >&2; exit 64 ;;
esac
if [ -n "$write" ]; then jq --rawfile body "\${7#body=@}" "$write" comments.json > comments.new; mv comments.new comments.json; fi
`
  .replaceAll('comments.json', '"$COMMENTS"')
  .replaceAll('comments.new', '"$COMMENTS.new"');

/** Runs the steps of the Action in their order, with the files and variables of a runner. */
async function runAction(
  workspace: string,
  given: { readonly [input: string]: string },
  event: { readonly name: string; readonly payload?: object },
) {
  const temp = scratch();
  const bin = join(temp, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gh'), gh);
  const contract = join(repository, 'packages/contract/bin/market-mcp-contract.js');
  // Of the registry's packages, the Action runs this one alone: the built one stands for it.
  const npx = `#!/bin/bash\ncase "$2" in market-mcp-contract@*) exec ${process.execPath} ${contract} "\${@:3}" ;; esac\nPATH=\${PATH#*:} exec npx "$@"\n`;
  writeFileSync(join(bin, 'npx'), npx);
  for (const name of ['gh', 'npx']) chmodSync(join(bin, name), 0o755);
  const inputs = Object.fromEntries(Object.entries(action.inputs).map(([name, one]) => [name, one.default]));
  const github = {
    token: 'ghs_x',
    repository: 'ada/gas',
    event_name: event.name,
    event: event.payload ?? {},
  };
  const steps: Record<string, { outputs: Record<string, string> }> = {};
  const contexts = { inputs: { ...inputs, ...given, token: 'ghs_x' }, github, steps };
  const files = Object.fromEntries(
    ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'].map((name) => [name, join(temp, name)]),
  );
  const comments = join(workspace, '..', 'comments.json');
  if (!existsSync(comments)) writeFileSync(comments, '[]');
  const env = {
    ...process.env,
    ...files,
    PATH: [bin, process.env.PATH].join(delimiter),
    RUNNER_TEMP: temp,
    GITHUB_ACTION_PATH: repository.replace(/\/$/, ''),
    COMMENTS: comments,
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
    comments: JSON.parse(readFileSync(comments, 'utf8')) as readonly { readonly body: string }[],
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

describe('the Action at a URL', () => {
  it('annotates, writes a summary, and fails by the verdict of market-mcp-contract', async () => {
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
});

describe('the Action in a pull request', () => {
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
    const created = await create(['gas', '--yes', '--tool', 'get_gas', '--no-git', '--no-check'], {
      cwd: root,
    });
    expect(created.status, created.stderr).toBe(0);
    await git('init', '--quiet');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'base');
    payload = { base: { sha: await git('rev-parse', 'HEAD') } };
    await git('remote', 'add', 'origin', workspace);
    const words = [bins.market, 'rename-tool', 'get_gas', 'get_price', '--yes'];
    expect((await run(process.execPath, words, { cwd: workspace })).status).toBe(0);
  });

  it('says in one comment what the change does to buyers', async () => {
    const first = await runAction(workspace, {}, from('ada/gas'));
    expect(first.status, first.log).toBe(0);
    expect(first.comments).toHaveLength(1);
    expect(first.comments[0]?.body).toMatch(/^<!-- market-mcp -->\n# \S+ Contract check/);
    expect(first.comments[0]?.body).toContain(
      '| get\\_gas |  | the tool was removed | **breaks callers, loses disputes** | **lost** by the old schema |',
    );
    expect(first.comments[0]?.body).toContain('until you trigger "Refresh Skills"');
    expect(first.summary).toContain('| get\\_price |  | the tool is new | safe for callers | no |');
    rmSync(join(workspace, '.git/worktrees'), { recursive: true });
    const second = await runAction(workspace, { level: 'should' }, from('ada/gas'));
    expect([second.status, second.comments.length]).toEqual([1, 1]);
    expect(second.comments[0]?.body).not.toBe(first.comments[0]?.body);
  });

  it('writes no comment for a fork, whose token cannot, but the same summary', async () => {
    rmSync(join(workspace, '.git/worktrees'), { recursive: true, force: true });
    writeFileSync(join(root, 'comments.json'), '[]');
    const { status, summary, comments } = await runAction(workspace, {}, from('eve/gas'));
    expect([status, comments]).toEqual([0, []]);
    expect(summary).toContain('**breaks callers, loses disputes**');
  });
});
