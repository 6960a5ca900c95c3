import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { createApp } from '../../../packages/runtime/src/app.ts';
import { listing } from '../../../src/cli/commands/listing.ts';
import type { ListingFlags } from '../../../src/cli/flags.ts';
import { type DirectoryName, directoryNames } from '../../../src/marketplace/core/model.ts';
import { serverJsonProblems } from '../../../src/marketplace/core/server-json.ts';
import { config, info } from '../../runtime/support.ts';
import { add, project, put, run, text } from './project.ts';

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

describe('listing --for', () => {
  const listedFor = async (directory: DirectoryName, flags: ListingFlags = {}, root = project()) => {
    const { stdout, stderr, exitCode } = await listed(root, { for: directory, endpoint, ...flags }, true);
    return { root, exitCode, stderr, ...JSON.parse(stdout || '{}') };
  };
  /** The description of package.json is longer than OpenAI's form takes. */
  const brief = (name: DirectoryName) => (name === 'openai' ? { summary: 'Gas prices' } : {});
  const valueIn = (fields: readonly { name: string; value: string | null }[], wanted: string) =>
    fields.find(({ name }) => name === wanted)?.value;

  it.each(directoryNames)('%s states what follows for calls, and its documents with a date', async (name) => {
    const root = project();
    const { exitCode, stdout } = await listed(root, { for: name, endpoint, ...brief(name) });
    expect(exitCode).toBe(0);
    const shown = stdout.replaceAll(/\s+/g, ' ');
    expect(shown).toContain('Discovery is open: anyone can list the tools. A call needs a token of Context');
    expect(shown).toMatch(/Read on \d{4}-\d\d-\d\d, not tried: https:/);
    expect(stdout).not.toContain('\\u{a}');
    const made = await listedFor(name, brief(name));
    expect(made).toMatchObject({
      ok: true,
      for: name,
      sources: expect.arrayContaining([expect.any(String)]),
    });
  });

  it.each(directoryNames)(
    '%s names a file under /.well-known/ that the runtime serves, or none',
    async (name) => {
      const { wellKnown } = await listedFor(name, brief(name));
      const written = new Function(`return { ${wellKnown ?? ''} }`)();
      expect(() => createApp({ ...config(), ...info, wellKnown: written }, [], () => {})).not.toThrow();
      const expected = {
        registry: ['mcp-registry-auth'],
        smithery: ['mcp/server-card.json'],
        glama: ['glama.json'],
        openai: ['openai-apps-challenge'],
        claude: [],
      };
      expect(Object.keys(written)).toEqual(expected[name]);
    },
  );

  it('registry writes the same server.json, without asking for a category', async () => {
    const both = project();
    await listed(both, complete);
    const { root, written, document } = await listedFor('registry', { summary: complete.summary });
    expect(written).toBe(true);
    expect(serverIn(root)).toEqual(serverIn(both));
    expect(document).toEqual(serverIn(both));
  });

  it.each([
    ['io.github.ada/gas', 'mcp-publisher login github,', null],
    ['com.example.tools/gas', 'login http --domain tools.example.com ', "'mcp-registry-auth': "],
    ['com.example/gas', 'login dns --domain example.com ', null],
  ])('registry says how the namespace of %s is proven', async (registryName, command, file) => {
    const { start, wellKnown } = await listedFor('registry', { registryName });
    expect(start).toContain(command);
    if (file === null) expect(wellKnown).toBeNull();
    else expect(wellKnown).toContain(file);
  });

  it('glama writes the maintainer, who is the owner of the repository unless stated', async () => {
    const document = { $schema: 'https://glama.ai/mcp/schemas/server.json', maintainers: ['ada'] };
    const repository = 'https://github.com/ada/gas';
    const owner = await listedFor('glama', { repository });
    expect(JSON.parse(text(owner.root, 'glama.json'))).toEqual(document);
    const stated = await listedFor('glama', { maintainer: 'ada', repository: 'https://gitlab.com/acme/gas' });
    expect(stated.document).toEqual(document);
    const nobody = await listedFor('glama');
    expect(nobody).toMatchObject({ ok: true, file: null, written: false, document: null });
    expect(existsSync(join(nobody.root, 'glama.json'))).toBe(false);
  });

  it('never replaces a file of the author, and writes nothing in a dry run', async () => {
    const dry = await listedFor('glama', { maintainer: 'ada', dryRun: true });
    expect(dry).toMatchObject({ ok: true, written: false });
    expect(existsSync(join(dry.root, 'glama.json'))).toBe(false);
    put(dry.root, 'glama.json', '{"mine":true}');
    const refused = await listedFor('glama', { maintainer: 'ada' }, dry.root);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('FILE_EXISTS') });
    expect(text(dry.root, 'glama.json')).toBe('{"mine":true}');
    const forced = await listedFor('glama', { maintainer: 'ada', force: true }, dry.root);
    expect(forced).toMatchObject({ ok: true, written: true });
  });

  it('openai and claude fill in what the project says, and leave the rest to the author', async () => {
    const root = project();
    await add(root, { tool: 'set_price' });
    const manifest = { ...JSON.parse(text(root, 'package.json')), homepage: 'https://gas.example.com' };
    put(root, 'package.json', JSON.stringify(manifest));
    const openai = await listedFor('openai', { summary: 'Gas prices' }, root);
    expect(openai.fields).toMatchObject([
      { name: 'server URL', value: endpoint },
      { name: 'package name', value: 'gas' },
      { name: 'version', value: '0.1.0' },
      { name: 'display name', value: 'Gas' },
      { name: 'short description', value: 'Gas prices' },
      { name: 'description', value: expect.stringMatching(/^Gas: 2 tools\.\n\nFeatures:(\n- .+){2}$/) },
      { name: 'website', value: 'https://gas.example.com' },
      ...Array.from({ length: 8 }, () => ({ value: null })),
    ]);
    expect(openai.check).toContain('check --platform openai-apps');
    const claude = await listedFor('claude', {}, root);
    expect(valueIn(claude.fields, 'reads or writes')).toBe('writes: set_price');
    expect(valueIn(claude.fields, 'test account')).toBeNull();
    expect(claude.check).toContain('check --platform claude-directory');
    expect(existsSync(join(root, 'server.json'))).toBe(false);
  });

  // The limits of https://developers.openai.com/plugins/deploy/submission-errors.
  it.each<[ListingFlags, string | null]>([
    [{ name: 'x'.repeat(30), summary: 'é'.repeat(30), description: 'x'.repeat(4000) }, null],
    [{ name: 'x'.repeat(31) }, 'expected up to 30 characters, got 31'],
    [{ summary: '🪙'.repeat(31) }, 'expected up to 30 characters, got 31'],
    [{ description: 'x'.repeat(4001) }, 'expected up to 4000 characters, got 4001'],
    [{ summary: 'two\nlines' }, 'is not a valid short description: expected one line'],
    [{ name: ' ' }, '--name: the display name is missing'],
    [{ website: `https://x.example/${'x'.repeat(1024)}` }, 'expected up to 1024 characters'],
  ])('openai checks the limits of its form (%#)', async (flags, message) => {
    const { exitCode, stderr } = await listedFor('openai', { summary: 'Gas prices', ...flags });
    expect(exitCode).toBe(message === null ? 0 : 2);
    expect(JSON.parse(stderr || '{"error":{}}').error.message ?? null).toEqual(
      message && expect.stringContaining(message),
    );
  });

  it.each<[DirectoryName, ListingFlags, string]>([
    ['smithery', { endpoint: 'http://tools.example.com/mcp' }, 'Expected https'],
    ['claude', { endpoint: 'https://tools.example.com/sse' }, 'ends with /mcp'],
    ['glama', { endpoint: 'https://u:p@tools.example.com/mcp' }, 'Remove the user'],
    ['openai', { endpoint: 'tools' }, 'Expected a URL'],
    ['claude', { endpoint: 'http://localhost:3000/mcp' }, 'is an address of this machine'],
    ['glama', { maintainer: 'a b' }, '\\"a b\\" is not the name of a GitHub account'],
    ['glama', { maintainer: '-a' }, 'is not the name of a GitHub account'],
    ['glama', { price: '1' }, '--price has no effect with --for glama'],
    ['smithery', { out: 'card.json' }, '--out has no effect with --for smithery'],
    ['claude', { registryName: 'a.b/c' }, '--registry-name has no effect with --for claude'],
    ['registry', { registryName: 'gas' }, '--registry-name'],
  ])('%s refuses %j', async (name, flags, message) => {
    const { root, exitCode, stderr } = await listedFor(name, flags);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    for (const file of ['server.json', 'glama.json']) expect(existsSync(join(root, file))).toBe(false);
  });

  it('refuses a project without an endpoint, and --maintainer without it', async () => {
    const none = await listed(project(), { for: 'claude' });
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('set PLATFORM_AUDIENCE') });
    const alone = await listed(project(), { ...complete, maintainer: 'ada' });
    expect(alone).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--maintainer has no effect without --for glama'),
    });
  });
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
