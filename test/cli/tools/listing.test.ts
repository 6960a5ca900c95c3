import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { createApp } from '../../../packages/runtime/src/app.ts';
import type { ListingFlags } from '../../../src/cli/command-flags.ts';
import { listing } from '../../../src/cli/commands/listing.ts';
import { serverJsonProblems } from '../../../src/marketplace/core/server-json.ts';
import { config, info } from '../../runtime/support.ts';
import { add, index, project, put, run, specOf, text } from './project.ts';

const endpoint = 'https://tools.example.com/mcp';
const category = 'Crypto & DeFi';
const complete: ListingFlags = { endpoint, category, summary: 'Gas prices of chains.' };
const listed = (root: string, flags: ListingFlags, json = false) =>
  run(root, json, (output) => listing(output, flags));
const serverIn = (root: string) => JSON.parse(readFileSync(join(root, 'server.json'), 'utf8'));

describe('listing', () => {
  it("writes the registry's server.json, named after the domain of the endpoint", async () => {
    const root = project();
    const { exitCode, stdout } = await listed(root, complete);
    expect(exitCode).toBe(0);
    expect(serverIn(root)).toMatchObject({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'com.example.tools/gas',
      title: 'Gas',
      description: 'Gas prices of chains.',
      version: '0.1.0',
      remotes: [
        { type: 'streamable-http', url: endpoint, headers: [{ name: 'Authorization', isSecret: true }] },
      ],
    });
    expect(serverJsonProblems(serverIn(root))).toEqual([]);
    expect(stdout).toContain('{\n  "$schema": "https://static.modelcontextprotocol.io/');
    expect(stdout).toMatch(/^description Gas: one tool\.\n\s*\n {12}Features:\n/m);
    expect(stdout).not.toContain('\\u{a}');
    expect(stdout).toContain('stake       10 USDC');
    expect(stdout).toContain('mcp-publisher publish');
  });

  it('describes all served tools in the form, also one whose definition is computed', async () => {
    const root = project();
    await add(root, { spec: specOf('get_rate', 'get_fee', 'get_tip') });
    const fee = text(root, 'src/tools/get-fee.ts');
    put(root, 'src/tools/get-fee.ts', fee.replace(/inputSchema: \{/, 'inputSchema: { ...{},'));
    put(root, index, text(root, index).replaceAll(/.*(get-tip|getTip).*\n/g, ''));
    const { form } = JSON.parse((await listed(root, complete, true)).stdout);
    expect(form.description).toMatch(/^Gas: 3 tools\.\n/);
    expect(form.description.match(/^- Returns the \w+/gm)).toEqual([
      '- Returns the gas',
      '- Returns the get_rate',
      '- Returns the get_fee',
    ]);
  });

  it('says who breaks by what differs from the recorded listing', async () => {
    const root = project();
    put(
      root,
      'listing.json',
      JSON.stringify({ tools: [{ name: 'gone_tool', inputSchema: {}, outputSchema: {} }] }),
    );
    const { stdout } = await listed(root, complete);
    expect(stdout).toContain('✗ breaks callers, loses disputes  gone_tool  the tool was removed');
    const { drift } = JSON.parse((await listed(root, complete, true)).stdout);
    expect(drift.changes).toMatchObject([
      { rule: 'tool.gone', breaksFor: ['caller', 'dispute'] },
      { rule: 'tool.new' },
    ]);
  });

  it('names the server after its GitHub account, and takes the rest from package.json', async () => {
    const root = project();
    const manifest = JSON.parse(text(root, 'package.json'));
    const repository = { type: 'git', url: 'git+https://github.com/ada/gas.git' };
    const own = { ...manifest, description: 'Gas.', homepage: 'https://gas.example.com', repository };
    put(root, 'package.json', JSON.stringify(own));
    put(root, '.env', `PLATFORM_AUDIENCE=${endpoint}\n`);
    const { stdout } = await listed(root, { category }, true);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      written: true,
      server: {
        name: 'io.github.ada/gas',
        description: 'Gas.',
        websiteUrl: 'https://gas.example.com',
        repository: { url: 'https://github.com/ada/gas', source: 'github' },
        remotes: [{ url: endpoint }],
      },
      form: { category, price: '0.01', endpoint },
    });
  });

  it.each([
    ['git+ssh://git@github.com/ada/gas.git', 'https://github.com/ada/gas', 'github'],
    ['git@github.com:ada/gas.git', 'https://github.com/ada/gas', 'github'],
    ['git://github.com/ada/gas.git', 'https://github.com/ada/gas', 'github'],
    ['github:ada/gas', 'https://github.com/ada/gas', 'github'],
    ['ada/gas', 'https://github.com/ada/gas', 'github'],
    ['gitlab:group/gas', 'https://gitlab.com/group/gas', 'gitlab'],
    ['https://gitlab.com/group/team/gas.git', 'https://gitlab.com/group/team/gas', 'gitlab'],
  ])('reads the repository %s of package.json', async (repository, url, source) => {
    const root = project();
    put(root, 'package.json', JSON.stringify({ ...JSON.parse(text(root, 'package.json')), repository }));
    await listed(root, complete);
    expect(serverIn(root).repository).toEqual({ url, source });
  });

  it('omits a repository in package.json that the registry refuses, and says so', async () => {
    const root = project();
    const repository = 'https://bitbucket.org/ada/gas.git';
    put(root, 'package.json', JSON.stringify({ ...JSON.parse(text(root, 'package.json')), repository }));
    const { exitCode, stdout, stderr } = await listed(root, complete);
    expect(exitCode).toBe(0);
    expect(serverIn(root).repository).toBeUndefined();
    expect(stdout + stderr).toContain('https://bitbucket.org/ada/gas of package.json is left out');
  });

  it('writes nothing in a dry run, and overwrites a different file only with --force', async () => {
    const root = project();
    expect((await listed(root, { ...complete, dryRun: true })).stdout).toContain('"streamable-http"');
    expect(existsSync(join(root, 'server.json'))).toBe(false);
    await listed(root, complete);
    expect((await listed(root, complete)).exitCode).toBe(0);
    writeFileSync(join(root, 'server.json'), '{"mine":true}');
    const refused = await listed(root, complete);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--force') });
    expect(serverIn(root)).toEqual({ mine: true });
    await listed(root, { ...complete, force: true });
    expect(serverIn(root)).toMatchObject({ title: 'Gas' });
  });

  it.each<[string, ListingFlags, string]>([
    ['no endpoint', { ...complete, endpoint: undefined }, '--endpoint'],
    [
      'an endpoint of this machine',
      { ...complete, endpoint: 'http://localhost:3000/mcp' },
      'is an address of this machine',
    ],
    ['an endpoint without https', { ...complete, endpoint: 'http://tools.example.com/mcp' }, 'https'],
    ['an endpoint at another path', { ...complete, endpoint: 'https://tools.example.com/api' }, '/mcp'],
    ['no category', { ...complete, category: undefined }, 'Choose a category'],
    ['a category that is none', { ...complete, category: 'Crypto' }, 'Crypto'],
    ['a price that is none', { ...complete, price: 'cheap' }, '--price'],
    ['a long summary', { ...complete, summary: 'x'.repeat(101) }, '--summary'],
    ['a long name', { ...complete, name: 'x'.repeat(101) }, '--name'],
    ['a name without a namespace', { ...complete, registryName: 'gas' }, '--registry-name'],
    ['a host without a domain', { ...complete, endpoint: 'https://10.0.0.1/mcp' }, '--registry-name'],
    ['a repository that is none', { ...complete, repository: 'somewhere' }, '--repository'],
    [
      'a repository elsewhere',
      { ...complete, repository: 'https://bitbucket.org/ada/gas' },
      'github.com or gitlab.com',
    ],
    ['a website that is no URL', { ...complete, website: 'gas.example' }, '--website'],
    ['a server name of one letter', { ...complete, registryName: 'com.example/g' }, '--registry-name'],
    ['a name of spaces', { ...complete, name: '   ' }, '--name'],
    [
      'an endpoint with a template',
      { ...complete, endpoint: 'https://{tenant}.example.com/mcp' },
      'Write --endpoint',
    ],
  ])('refuses %s, and writes nothing', async (_, flags, message) => {
    const root = project();
    const given = Object.entries(flags).filter(([, value]) => value !== undefined);
    const refused = await listed(root, Object.fromEntries(given));
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
    expect(existsSync(join(root, 'server.json'))).toBe(false);
  });
});

it.each([
  ['io.github.ada/gas', 'mcp-publisher login github', null],
  [
    'com.example.tools/gas',
    'mcp-publisher login http --domain tools.example.com --private-key <key>',
    "'mcp-registry-auth'",
  ],
  ['com.example/gas', 'mcp-publisher login dns --domain example.com --private-key <key>', null],
])('listing prints how the namespace of %s is proven', async (registryName, login, file) => {
  const { stdout } = await listed(project(), { ...complete, registryName });
  expect(stdout).toContain(`submit it with: ${login}, then mcp-publisher publish`);
  const result = JSON.parse((await listed(project(), { ...complete, registryName }, true)).stdout);
  expect(result.login).toBe(login);
  if (file === null) expect(result.wellKnown).toBeNull();
  else expect(result.wellKnown).toContain(file);
});

it('listing prints a file under /.well-known/ that the runtime serves', async () => {
  const { stdout } = await listed(project(), { ...complete, registryName: 'com.example.tools/gas' }, true);
  const wellKnown = new Function(`return { ${JSON.parse(stdout).wellKnown} }`)();
  expect(Object.keys(wellKnown)).toEqual(['mcp-registry-auth']);
  expect(() => createApp({ ...config(), ...info, wellKnown }, [], () => {})).not.toThrow();
});

describe('the format of the registry', () => {
  const good: JsonObject = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: 'io.github.ada/gas',
    description: 'Gas prices.',
    version: '1.0.2',
    remotes: [{ type: 'streamable-http', url: endpoint }],
  };

  it.each<[string, JsonObject]>([
    ['a name with two slashes', { name: 'a/b/c' }],
    ['a name of three characters at least', { name: '/a' }],
    ['a description of over 100 characters', { description: 'x'.repeat(101) }],
    ['a name that ends with a dot', { name: 'com.example/gas.' }],
    ['a namespace that begins with a hyphen', { name: '-example/gas' }],
    ['a title of spaces', { title: '   ' }],
    ['a range of versions', { version: '^1.0.0' }],
    ['a version with a wildcard', { version: '1.x' }],
    ['a version with a wildcard and a suffix', { version: '1.2.X-beta' }],
    ['a website with a space', { websiteUrl: 'https://gas.example/a b' }],
    ['a website with a stray percent sign', { websiteUrl: 'https://gas.example/%zz' }],
    ['a template as address', { remotes: [{ type: 'streamable-http', url: 'https://{host}/mcp' }] }],
    [
      'a repository of another host',
      { repository: { url: 'https://bitbucket.org/a/b', source: 'bitbucket' } },
    ],
    [
      'a repository whose source is another host',
      { repository: { url: 'https://github.com/ada/gas', source: 'gitlab' } },
    ],
    ['a repository without a name', { repository: { url: 'https://github.com/ada', source: 'github' } }],
    ['the version latest', { version: 'latest' }],
    ['no remote', { remotes: [] }],
    ['a remote of another kind', { remotes: [{ type: 'http', url: endpoint }] }],
    ['a repository without its source', { repository: { url: 'https://github.com/ada/gas' } }],
  ])('refuses %s', (_, change) => {
    expect(serverJsonProblems(good)).toEqual([]);
    expect(serverJsonProblems({ ...good, ...change })).not.toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['a version with a suffix', { version: '1.0.2-beta.1+build.x' }],
    ['a version by date', { version: '2026.11.22' }],
    [
      'a repository with a slash at its end',
      { repository: { url: 'https://github.com/a/b/', source: 'github' } },
    ],
    ['a website with a query', { websiteUrl: "https://gas.example:8443/~a?b=c%20d&e='f'#g" }],
  ])('accepts %s', (_, change) => expect(serverJsonProblems({ ...good, ...change })).toEqual([]));
});
