import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApiRequest, forwardRequest, startApi } from '../api-server.ts';
import { create, market, type Ran, scratch, succeeded, tree } from './support.ts';
import { serveTools } from './upstreams.ts';

const root = scratch();
const secret = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLE';
const token = 'mcp-t0ken-of-the-author-27';
const env = { AWS_SECRET_ACCESS_KEY: secret, MCP_SOURCE_TOKEN: token, API_KEY: secret };

/** Everything that any server has received from the programs: requests with their headers and bodies. */
const received: string[] = [];
const textOf = ({ method, target, headers, body }: ApiRequest) =>
  [`${method} ${target}`, JSON.stringify(headers), body].join('\n');

const { origin: api } = await startApi((request) => {
  received.push(textOf(request));
  return { body: { price: 1.5 } };
});

const listed = await serveTools('Weather', [
  {
    name: 'get_weather',
    description: 'Returns the weather of a city. Use it when a question asks for the weather.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
]);
/** An MCP server that lists its tools to whoever has the token. */
const { origin: upstream } = await startApi((request) => {
  received.push(textOf(request));
  const isAllowed = request.headers.authorization === `Bearer ${token}`;
  return isAllowed ? forwardRequest(request, listed) : { status: 401 };
});

const har = join(root, 'traffic.har');
const recorded = {
  request: {
    method: 'GET',
    url: `${api}/x?v=$AWS_SECRET_ACCESS_KEY`,
    headers: [{ name: 'x-api-key', value: '$AWS_SECRET_ACCESS_KEY' }],
  },
  response: { content: { mimeType: 'application/json' } },
};
writeFileSync(har, JSON.stringify({ log: { entries: [recorded] } }));

let count = 0;
/** Creates a project that calls no API. */
async function blankProject(): Promise<string> {
  count += 1;
  const directory = join(root, `blank${count}`);
  const described = [
    '--tool',
    'get_it',
    '--output',
    'a:string',
    '--description',
    'Returns it. Use it when asked.',
  ];
  await succeeded(create([directory, '--yes', '--no-install', '--no-git', ...described], { cwd: root }));
  return directory;
}
const project = await blankProject();

/** Runs a command in an environment with secrets: what it has printed, the directory, what the servers received. */
async function runs(program: 'create' | 'add-tool', flags: readonly string[], directory = project) {
  received.length = 0;
  count += 1;
  const name = `made${count}`;
  const ran: Ran =
    program === 'create'
      ? await create([name, '--no-install', '--no-git', ...flags], { cwd: root, env })
      : await market(['add-tool', '--no-check', ...flags], { cwd: directory, env });
  const sent = received.join('\n');
  return { ...ran, directory: program === 'create' ? join(root, name) : directory, sent };
}

const programs = ['create', 'add-tool'] as const;
/** Each way in which nobody can be asked; standard input is no terminal in any of them. */
const ways = [['--yes'], ['--yes', '--dry-run'], ['--yes', '--json'], ['--yes', '--json', '--dry-run'], []];
const cases = programs.flatMap((program) => ways.map((way) => [program, way] as const));

describe('without permission, no variable of the environment reaches a server', () => {
  it.each(cases)('%s %j: a curl command is refused by variable, origin and flag', async (program, way) => {
    const line = `curl '${api}/x' -H 'x-api-key: $AWS_SECRET_ACCESS_KEY'`;
    const ran = await runs(program, [...way, '--from-request', line]);
    expect({ status: ran.status, sent: ran.sent }, ran.stderr).toEqual({ status: 2, sent: '' });
    const printed = ran.stdout + ran.stderr;
    expect(printed).toContain(`would send AWS_SECRET_ACCESS_KEY from your environment to ${api}`);
    expect(printed).toContain('--env AWS_SECRET_ACCESS_KEY');
    expect(printed).not.toContain(secret);
    if (program === 'create') expect(existsSync(ran.directory)).toBe(false);
  });

  it.each(cases.filter(([, way]) => way.length > 0 && !way.includes('--json')))(
    '%s %j: a HAR file is sent as it is',
    async (program, way) => {
      const ran = await runs(program, [...way, '--from-request', har]);
      expect(ran.status, ran.stderr).toBe(0);
      expect(decodeURIComponent(ran.sent)).toContain('/x?v=$AWS_SECRET_ACCESS_KEY');
      expect(ran.sent).not.toContain(secret);
      const files = [...tree(ran.directory)].filter(([, text]) => text.includes(secret));
      expect(files).toEqual([]);
    },
  );

  it.each(cases)('%s %j: an MCP server gets no token', async (program, way) => {
    const ran = await runs(program, [...way, '--from-url', `${upstream}/mcp`]);
    expect(ran.status, ran.stderr).toBe(2);
    expect(ran.sent).not.toBe('');
    expect(ran.sent).not.toContain(token);
    const printed = ran.stdout + ran.stderr;
    for (const named of ['MCP_SOURCE_TOKEN', upstream, '--env MCP_SOURCE_TOKEN'])
      expect(printed).toContain(named);
    if (program === 'create') expect(existsSync(ran.directory)).toBe(false);
  });
});

it.each([
  [
    'that the request does not name',
    ['--env', 'AWS_SECRET_ACCESS_KEY'],
    'is no variable that the request names',
  ],
  [
    'that is no name, because the shell has replaced it',
    ['--env', `sk/${secret}`],
    'expects the name of a variable',
  ],
  ['whose name is the key itself', ['--env', secret], 'is no variable that the request names'],
])('--env with a variable %s is refused, and nothing is sent or repeated', async (_, flags, named) => {
  const line = `curl '${api}/x?v=$AWS_SECRET_ACCESS_KEY' -H 'x-api-key: $API_KEY'`;
  const ran = await runs('create', ['--yes', '--from-request', line, '--env', 'API_KEY', ...flags]);
  expect({ status: ran.status, sent: ran.sent }).toEqual({ status: 2, sent: '' });
  expect(ran.stderr).toContain(named);
  expect(ran.stdout + ran.stderr).not.toContain(secret);
});

it('--env without a request is refused', async () => {
  const ran = await runs('create', ['--yes', '--env', 'API_KEY']);
  expect({ status: ran.status, sent: ran.sent }).toEqual({ status: 2, sent: '' });
  expect(ran.stderr).toContain('there is no request');
});

describe('with --env', () => {
  it.each(programs)('%s sends the key once, and only .env has it', async (program) => {
    const line = `curl '${api}/prices' -H 'x-api-key: $API_KEY'`;
    const flags = ['--yes', '--from-request', line, '--env', 'API_KEY'];
    const place = await blankProject();
    const rehearsal = await runs(program, [...flags, '--dry-run'], place);
    expect(rehearsal.status, rehearsal.stderr).toBe(0);
    expect(rehearsal.sent).toContain(secret);
    const ran = await runs(program, flags, place);
    expect(ran.status, ran.stderr).toBe(0);
    expect(received).toHaveLength(1);
    expect(ran.sent).toContain(`"x-api-key":"${secret}"`);
    expect(rehearsal.stdout + rehearsal.stderr + ran.stdout + ran.stderr).not.toContain(secret);
    const files = [...tree(ran.directory)].filter(([, text]) => text.includes(secret)).map(([path]) => path);
    expect(files).toEqual(['.env']);
    expect(readFileSync(join(ran.directory, '.env'), 'utf8')).toContain(`API_KEY=${secret}\n`);
  });

  it.each(programs)('%s lists the tools of an MCP server, and no file has the token', async (program) => {
    const flags = ['--yes', '--json', '--from-url', `${upstream}/mcp`, '--env', 'MCP_SOURCE_TOKEN'];
    const ran = await runs(program, flags);
    expect(ran.status, ran.stderr).toBe(0);
    expect(ran.sent).toContain(`Bearer ${token}`);
    const files = [...tree(ran.directory)].filter(([, text]) => text.includes(token));
    expect(files).toEqual([]);
    expect(ran.stdout + ran.stderr).not.toContain(token);
    if (program === 'create') expect(ran.stdout).toContain('--env MCP_SOURCE_TOKEN');
  });
});

it('a variable of .env is sent only to the origin of the API that uses it', async () => {
  const line = `curl '${api}/prices' -H 'x-api-key: k-of-the-first-api'`;
  const { directory } = await runs('create', ['--yes', '--from-request', line]);
  const [name] = readFileSync(join(directory, '.env'), 'utf8').split('=');
  const added = async (origin: string, tool: string) => {
    received.length = 0;
    const request = `curl '${origin}/${tool}' -H 'x-api-key: $${name}'`;
    return market(['add-tool', tool, '--yes', '--no-check', '--from-request', request], { cwd: directory });
  };
  await succeeded(added(api, 'get_more'));
  expect(received.join('\n')).toContain('k-of-the-first-api');
  const other = await added(api.replace('127.0.0.1', 'localhost'), 'get_other');
  expect({ status: other.status, received }).toEqual({ status: 2, received: [] });
  expect(other.stderr).toContain(`has no value for ${name} at ${api.replace('127.0.0.1', 'localhost')}`);
});

it('the repeat line of a key that was written in the command names its variable with --env, and works', async () => {
  const line = `curl '${api}/prices?symbol=BTC' -H 'x-api-key: ${secret}'`;
  const { stdout, directory } = await runs('create', ['--yes', '--json', '--from-request', line]);
  const [name = ''] = readFileSync(join(directory, '.env'), 'utf8').split('=');
  const { repeat } = JSON.parse(stdout);
  expect(repeat).toContain(`--env ${name}`);
  received.length = 0;
  const elsewhere = scratch();
  const again = await succeeded(create(argumentsOf(repeat), { cwd: elsewhere, env: { [name]: secret } }));
  expect(received.join('\n')).toContain(secret);
  expect(again.stdout).not.toContain(secret);
  const files = (place: string) => [...tree(place)].filter(([path]) => path.startsWith('src/'));
  expect(files(join(elsewhere, directory.split('/').at(-1) ?? ''))).toEqual(files(directory));
});

/** The arguments of a printed command, without its program. */
function argumentsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\'/g, (_, text: string | undefined) => text ?? "'"),
  );
  const program = words.findIndex((word) => /create-market-mcp(?:\.js)?$/.test(word));
  return words.slice(program + 1);
}
