import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import {
  bins,
  compile,
  create,
  evaluated,
  expectProven,
  run,
  scaffold,
  scratch,
  succeeded,
  tree,
} from './support.ts';
import { answering, inPath, openApi, serveTools } from './upstreams.ts';

const root = scratch();
const text = { type: 'string' };
const repository = {
  type: 'object',
  required: ['id', 'name', 'owner', 'size', 'message'],
  properties: {
    id: { type: 'integer', description: 'Number of the repository' },
    name: { ...text, description: 'Name of the repository' },
    message: text,
    size: { type: 'integer' },
    owner: {
      type: 'object',
      required: ['login', 'site_admin'],
      properties: { login: { ...text, description: 'Name of the account' }, site_admin: { type: 'boolean' } },
    },
  },
};
const repositoryOf = (id: number) => ({
  id,
  name: `repository-${id}`,
  message: 'the last commit',
  size: 5,
  owner: { login: 'octocat', site_admin: false },
});
const operation = (operationId: string, summary: string, schema: object, example: unknown) => ({
  get: {
    ...{ operationId, summary, parameters: [inPath('owner', 'Name of the account', 'octocat')] },
    responses: answering(schema, example),
  },
});
const list = { type: 'array', items: repository };
const document = (url: string) =>
  openApi(url, 'Repositories', {
    '/owners/{owner}/repos': operation('listRepos', 'Lists the repositories of an account.', list, [
      repositoryOf(1),
    ]),
    '/owners/{owner}/latest': operation(
      'getLatest',
      'Returns the latest repository.',
      repository,
      repositoryOf(2),
    ),
  });

/** The API answers with members that its document does not know, and with a wrong type in a field that nobody chose. */
const real = (id: number) => ({ ...repositoryOf(id), size: 'unknown', private_note: 'only for the account' });

let directory: string;
let url: string;
let place: string;
const market = (...args: string[]) =>
  run(process.execPath, [bins.market, ...args], { cwd: directory, env: { REPOSITORIES_URL: url } });
const answersOf = () => JSON.parse(readFileSync(join(directory, 'market-mcp.json'), 'utf8')).answers;
const bodiesIn = (file: string) =>
  JSON.parse(readFileSync(join(directory, 'test/recordings', file), 'utf8')).map(
    ({ body }: { body: unknown }) => body,
  );
const source = (file: string) => readFileSync(join(directory, 'src/tools', file), 'utf8');

/** The answer of a built tool to a live call. */
const called = async (tool: string) =>
  (
    await evaluated(directory, `return callTool(named('${tool}'), { owner: 'octocat' })`, {
      REPOSITORIES_URL: url,
    })
  ).value.structuredContent;

beforeAll(async () => {
  ({ origin: url } = await startApi(({ target }) => ({
    body: target.endsWith('/repos') ? [real(11), real(12)] : real(13),
  })));
  place = join(root, 'repositories.json');
  writeFileSync(place, JSON.stringify(document(url)));
  const flags = ['--from-openapi', place, '--operation', 'listRepos', '--operation', 'getLatest'];
  const fields = ['--fields', 'listRepos:items[].id,items[].owner.login', '--fields', 'getLatest:name'];
  ({ directory } = await scaffold(['fields', ...flags, ...fields], { cwd: root }));
});

describe('a project with chosen fields', () => {
  it('has them in the sources, the recordings and the manifest, and passes its tests and the self-check', async () => {
    expect(answersOf().fields).toEqual({
      listRepos: ['items[].id', 'items[].owner.login'],
      getLatest: ['name'],
    });
    expect(source('list-repos.ts')).toContain("keep: 'declared'");
    const all = [...tree(join(directory, 'src')), ...tree(join(directory, 'test'))]
      .map(([, content]) => content)
      .join('');
    expect(all).not.toContain('site_admin');
    expect(bodiesIn('get-owners-owner-repos.json')[0]).toEqual([{ id: 1, owner: { login: 'octocat' } }]);
    await expectProven(directory);
  });

  it('drops the rest of a real answer, and validates only what is left', async () => {
    expect(await called('listRepos')).toEqual({
      items: [11, 12].map((id) => ({ id, owner: { login: 'octocat' } })),
    });
    expect(await called('getLatest')).toEqual({ name: 'repository-13' });
  });

  it('can have another tool with other fields of the same operation', async () => {
    const other = [
      'latest_size',
      '--from-openapi',
      place,
      '--operation',
      'getLatest',
      '--fields',
      'id,owner',
    ];
    const added = await succeeded(market('add-tool', ...other, '--yes', '--no-check'));
    expect(added.stdout).toMatch(
      /latest_size outputSchema: has \d of 7 fields: about \d+ tokens instead of \d+ \(chosen by --fields\)/,
    );
    expect(answersOf().fields).toMatchObject({ getLatest: ['name'], latest_size: ['id', 'owner'] });
    const again = await market('add-tool', ...other.slice(0, 5), '--yes', '--no-check');
    expect([again.status, again.stdout]).toEqual([
      0,
      expect.stringContaining('nothing to do for latest_size'),
    ]);
    const changed = await market('add-tool', ...other.slice(0, 5), '--fields', 'id', '--yes', '--no-check');
    expect([changed.status, changed.stderr]).toEqual([
      2,
      expect.stringContaining('latest_size already exists'),
    ]);
    expect((await compile(directory)).status).toBe(0);
  });

  it('records only what its tools keep, and passes with these recordings', async () => {
    await succeeded(market('record'));
    expect(bodiesIn('get-owners-owner-repos.json').at(-1)).toEqual(
      [11, 12].map((id) => ({ id, owner: { login: 'octocat' } })),
    );
    expect(bodiesIn('get-owners-owner-latest.json').at(-1)).toEqual({
      id: 13,
      name: 'repository-13',
      owner: { login: 'octocat', site_admin: false },
    });
    await expectProven(directory);
  });

  it('keeps them when tools are renamed and removed', async () => {
    expect((await market('rename-tool', 'latest_size', 'latest_owner', '--yes', '--no-check')).status).toBe(
      0,
    );
    expect(answersOf().fields).toMatchObject({ latest_owner: ['id', 'owner'], getLatest: ['name'] });
    expect((await market('remove-tool', 'latest_owner', '--yes', '--no-check', '--force')).status).toBe(0);
    expect(Object.keys(answersOf().fields)).toEqual(['listRepos', 'getLatest']);
    await succeeded(market('upgrade', '--no-check', '--no-install'));
    expect(Object.keys(answersOf().fields)).toEqual(['listRepos', 'getLatest']);
  });
});

const weather = {
  name: 'get_weather',
  description: 'Returns the weather of a city. Use it when a question asks for the weather.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city', examples: ['Oslo'] } },
    required: ['city'],
  },
  outputSchema: {
    type: 'object',
    properties: { celsius: { type: 'number' }, place: { $ref: '#/$defs/place' } },
    required: ['celsius', 'place'],
    $defs: { place: { type: 'object', properties: { name: text, note: text }, required: ['name', 'note'] } },
  },
  annotations: { readOnlyHint: true },
};
it('a project that forwards to a server has the chosen fields, in its recordings, too', async () => {
  const endpoint = await serveTools('Weather', [weather], () => ({
    content: [{ type: 'text', text: 'a private note' }],
    structuredContent: { celsius: 5, place: { name: 'Oslo', note: 'a private note' } },
  }));
  const made = await scaffold(['weather', '--from-url', endpoint, '--fields', 'place.name'], { cwd: root });
  const env = { WEATHER_URL: endpoint, API_URL: endpoint };
  await succeeded(run(process.execPath, [bins.market, 'record'], { cwd: made.directory, env }));
  const files = [...tree(join(made.directory, 'test/recordings'))].map(([, content]) => content).join('');
  expect(files).toContain('"from": "recorded"');
  expect(files).not.toContain('private note');
  await expectProven(made.directory);
});

it('a project from sample answers has the chosen fields', async () => {
  const file = join(root, 'gas.json');
  writeFileSync(
    file,
    JSON.stringify([{ gwei: 1.5, tiers: [{ name: 'fast', wei: 7 }], note: 'a private note' }]),
  );
  const flags = ['--tool', 'get_gas', '--from-sample', file, '--fields', 'items[].gwei,items[].tiers[].wei'];
  const made = await scaffold(['gas', ...flags], { cwd: root });
  const written = readFileSync(join(made.directory, 'src/tools/get-gas.ts'), 'utf8');
  expect(written).toContain('items: [{ gwei: 1.5, tiers: [{ wei: 7 }] }]');
  expect(written).not.toMatch(/private note|fast/);
});

describe('a choice that cannot be kept', () => {
  it.each([
    [['--fields', 'nme'], '--fields "nme" is not a field of getLatest.\n  Did you mean name?'],
    [['--fields', 'name,'], '--fields "name," contains an empty name.'],
    [['--fields', 'listRepos:id'], '--fields "listRepos:id"'],
  ])('%j is refused, and nothing is written', async (fields, error) => {
    const flags = ['refused', '--yes', '--no-install', '--from-openapi', place, '--operation', 'getLatest'];
    const refused = await create([...flags, ...fields], { cwd: root });
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining(error)]);
    expect(tree(join(root, 'refused')).size).toBe(0);
  });

  it('needs something that has fields', async () => {
    const refused = await create(['refused', '--yes', '--fields', 'id'], { cwd: root });
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--fields "id" applies only to the answer of an API, a server or a sample'),
    ]);
  });
});
