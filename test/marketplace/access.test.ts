import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import {
  type Access,
  linkOf,
  newSecret,
  programLinkOf,
  proofHeader,
} from '../../src/marketplace/core/page-access.ts';
import { type Local, type LocalOptions, openLocalMarketplace } from '../../src/marketplace/local.ts';
import { findRunningMarketplace, requestJson } from '../../src/marketplace/running-marketplace.ts';
import { appOf, serveMarketplace } from '../../src/marketplace/web/serve.tsx';
import { saveSealed } from '../../src/project/write/state-directory.ts';
import { startApi } from '../api-server.ts';
import { directory, openMarketplace, serveHere, startServer } from './support.ts';

const isRoot = process.geteuid?.() === 0;
const nobody = 65_534;
const wrong = 'AAAAAAAAAAAAAAAAAAAAAA';

const noteOf = (place: string) => join(place, '.market-mcp/running.json');
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const textAt = (path: string) => readFileSync(path, 'utf8');

/** A new key takes half a second: all marketplaces share one. */
const keyDirectory = mkdtempSync(join(tmpdir(), 'marketplace-key-'));
afterAll(() => rmSync(keyDirectory, { recursive: true }));

/** The marketplace of a directory, closed when the test ends. */
async function openLocal(place: string, options: Partial<LocalOptions> = {}): Promise<Local> {
  const local = await openLocalMarketplace({
    directory: place,
    keyDirectory,
    profile: context,
    port: 0,
    ...options,
  });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await local.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...local, close };
}

/** The Host that a browser sends for the pages of a marketplace, which Node does not resolve. */
const pageHostOf = (access: Access) => new URL(linkOf(access)).host;

/** What an HTTP request is answered, as raw as curl sends it. */
async function ask(url: string, headers: Record<string, string> = {}, method = 'GET') {
  // Once there is an answer, `once` no longer listens for errors.
  const sent = request(url, { method, headers, agent: false }).on('error', () => {});
  sent.end(method === 'POST' ? '{}' : undefined);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  if (answer.headers['content-type']?.startsWith('text/event-stream')) answer.destroy();
  else for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, text };
}

const open = [
  '/.well-known/jwks.json',
  '/.well-known/market-mcp',
  '/assets/client.js',
  '/assets/icon.svg',
  '/assets/style.css',
];

test('every route but the key set, the proof and the assets needs the secret', async () => {
  const marketplace = await openMarketplace({ endpoint: await startServer() });
  const serving = await serveHere(marketplace);
  const { url, secret } = serving;
  const host = pageHostOf(serving);
  const { port } = new URL(url);
  const routes = appOf(marketplace, serving).routes.filter(({ path }) => path !== '/*');
  expect(routes.length).toBeGreaterThan(40);
  const strangers: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${wrong}` },
    { authorization: `Basic ${Buffer.from(`market:${secret}`).toString('base64')}` },
    { authorization: `Bearer ${secret}A` },
    { authorization: `Bearer ${secret.slice(0, -1)}` },
    { authorization: 'Bearer ' },
    { 'x-secret': secret },
    // A cookie counts at the host of the pages alone.
    { cookie: `market-mcp=${secret}` },
    { cookie: `market-mcp=${secret}`, host: `localhost:${port}` },
    { host },
    { host, cookie: `market-mcp=${wrong}` },
    { host, cookie: 'market-mcp=' },
    { host, cookie: `other=${secret}` },
  ];
  const admitted: string[] = [];
  for (const { method, path } of routes) {
    const where = url + path.replaceAll(/:\w+/g, '1');
    for (const stranger of strangers) {
      const sent = { accept: 'text/html', ...stranger, 'content-type': 'application/json' };
      const { status, headers, text } = await ask(where, sent, method);
      if (status !== 401) admitted.push(path);
      // Whoever knows the host of the pages can serve a page at another port of it, which gets the cookie.
      expect(text + JSON.stringify(headers)).not.toContain(host.slice(0, 16));
    }
    const own = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    expect({ path, status: (await ask(where, own, method)).status }).not.toEqual({ path, status: 401 });
  }
  expect([...new Set(admitted)].toSorted()).toEqual(open);
  for (const path of [
    '/nowhere',
    '/traffic.json?secret=',
    `/?secret=${wrong}`,
    `/traffic?secret=${secret}`,
  ]) {
    expect({ path, status: (await ask(url + path)).status }).toEqual({ path, status: 401 });
  }
  expect((await ask(`${url}/.well-known/jwks.json`, {}, 'POST')).status).toBe(401);
  // What is open contains no secret.
  for (const path of open) {
    const { text, headers } = await ask(url + path);
    expect(text + JSON.stringify(headers)).not.toContain(secret);
  }
});

test('a refusal names the fix, as JSON and as a page that shows nothing of the marketplace', async () => {
  const { url } = await serveHere(await openMarketplace({ endpoint: await startServer() }));
  const asJson = await ask(`${url}/traffic.json`);
  expect(asJson.headers['www-authenticate']).toMatch(/^Bearer/);
  expect(JSON.parse(asJson.text)).toMatchObject({
    error: { code: 'NOT_ADMITTED', hint: expect.stringContaining('Open the link that npm run dev') },
  });
  expect(JSON.parse((await ask(url, { accept: '*/*' })).text)).toMatchObject({
    error: { code: 'NOT_ADMITTED' },
  });
  const page = await ask(url, { accept: 'text/html,*/*' });
  expect(page.status).toBe(401);
  expect(page.text).toContain('npm run dev');
  expect(page.text).not.toMatch(/<form|<nav|Context|mcp-session/);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
});

test('the link sets a cookie that scripts and other sites cannot use, and leads to a clean address', async () => {
  const serving = await serveHere();
  const { url } = serving;
  const host = pageHostOf(serving);
  const { status, headers, text } = await ask(programLinkOf(serving), { host });
  expect({ status, location: headers.location, text }).toEqual({ status: 303, location: '/', text: '' });
  const [cookie = ''] = headers['set-cookie'] ?? [];
  // No Domain: the cookie is of this host alone.
  expect(cookie).toMatch(/^market-mcp=[\w-]{22}; Path=\/; HttpOnly; SameSite=Strict$/);
  const [pair = ''] = cookie.split(';');
  const own = { host, cookie: `other=1; ${pair}` };
  expect((await ask(url, own)).status).toBe(200);
  expect((await ask(`${url}/events`, own)).status).toBe(200);
  const json = { ...own, 'content-type': 'application/json' };
  expect((await ask(`${url}/traffic/clear.json`, json, 'POST')).status).toBe(200);
  // The checks of Host and Origin are not replaced by the secret.
  expect((await ask(url, { ...own, host: 'evil.example' })).status).toBe(403);
  expect(
    (await ask(`${url}/traffic/clear.json`, { ...json, origin: 'http://evil.example' }, 'POST')).status,
  ).toBe(403);
});

test('answers under the host of the pages, 127.0.0.1 and localhost with its port, and no other name', async () => {
  const serving = await serveHere();
  const { url, secret } = serving;
  const { port } = new URL(url);
  const host = pageHostOf(serving);
  expect(host).toMatch(new RegExp(`^[0-9a-f]{16}\\.localhost:${port}$`));
  const statusAt = async (name: string) =>
    (await ask(`${url}/index.json`, { host: name, authorization: `Bearer ${secret}` })).status;
  for (const name of [host, `127.0.0.1:${port}`, `localhost:${port}`]) {
    expect([name, await statusAt(name)]).toEqual([name, 200]);
  }
  const [name = ''] = host.split(':');
  const others = [
    name,
    `${name}:${Number(port) + 1}`,
    `${name}.:${port}`,
    `x.${host}`,
    `0123456789abcdef.localhost:${port}`,
    `${name}.evil.example:${port}`,
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${Number(port) + 1}`,
    `127.0.0.2:${port}`,
    `[::1]:${port}`,
    'localhost',
  ];
  for (const other of others) expect([other, await statusAt(other)]).toEqual([other, 403]);
});

test('the host of the pages is as random as the secret, and as stable', () => {
  const url = 'http://127.0.0.1:4400';
  const secrets = [newSecret(), newSecret()];
  const hosts = secrets.map((secret) => pageHostOf({ url, secret }));
  expect(new Set(hosts).size).toBe(2);
  expect(secrets.map((secret) => pageHostOf({ url, secret }))).toEqual(hosts);
});

test('a browser at 127.0.0.1 gets the reason, and the link only if it has sent the secret; never a cookie', async () => {
  const serving = await serveHere();
  const { url } = serving;
  const link = linkOf(serving);
  for (const host of [new URL(url).host, `localhost:${new URL(url).port}`]) {
    const stranger = await ask(url, { host, accept: 'text/html' });
    expect(stranger.status).toBe(401);
    expect(stranger.text).toContain('Safari');
    expect(stranger.text).not.toContain('href="/"');
    const own = await ask(programLinkOf(serving), { host, accept: 'text/html' });
    expect(own.status).toBe(401);
    expect(own.text).toContain(`<a href="${link}">`);
    expect([stranger.headers['set-cookie'], own.headers['set-cookie']]).toEqual([undefined, undefined]);
  }
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

test.runIf(hasIpv6)('takes its port at ::1, too, where browsers look for the pages first', async () => {
  const other = createServer();
  await once(other.listen(0, '::1'), 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const marketplace = await openMarketplace();
  await expect(serveMarketplace(marketplace, port)).rejects.toMatchObject({ code: 'PORT_TAKEN' });
  const serving = await serveHere(marketplace);
  const at = `http://[::1]:${new URL(serving.url).port}/?secret=${serving.secret}`;
  expect((await ask(at, { host: pageHostOf(serving) })).status).toBe(303);
});

test('another user of the machine gets nothing: not from the page or the directory', async () => {
  const place = directory();
  chmodSync(place, 0o755);
  const endpoint = await startServer();
  const { url, secret, marketplace } = await openLocal(place, { endpoint });
  await marketplace.call({ endpoint, tool: 'get_price', arguments: {} });
  const kept = marketplace.traffic.totals.kept;
  expect(modeOf(noteOf(place))).toBe('600');
  expect(modeOf(join(place, '.market-mcp'))).toBe('700');
  // As nobody where these tests run as root: else as a process that knows no secret.
  const stranger = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { readFileSync, readdirSync } from 'node:fs';
      const told = [];
      const order = { tool: 'get_price', arguments: {}, endpoint: ${JSON.stringify(endpoint)} };
      for (const path of ['/', '/index.json', '/traffic.json', '/traffic/export.har', '/events', '/traffic/1']) {
        told.push((await fetch(${JSON.stringify(url)} + path)).status);
      }
      for (const path of ['/try.json', '/register.json', '/traffic/clear.json', '/traffic/1/replay.json']) {
        const headers = { 'content-type': 'application/json' };
        told.push((await fetch(${JSON.stringify(url)} + path, { method: 'POST', headers, body: JSON.stringify(order) })).status);
      }
      for (const read of [() => readFileSync('running.json'), () => readdirSync('.')]) {
        try { process.chdir(${JSON.stringify(join(place, '.market-mcp'))}); read(); told.push('read'); }
        catch ({ code }) { told.push(code); }
      }
      console.log(JSON.stringify(told));`,
    ],
    { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], ...(isRoot && { uid: nobody, gid: nobody }) },
  );
  const output = await textOf(stranger.stdout);
  const denied = isRoot ? 'EACCES' : 'read';
  expect(JSON.parse(output)).toEqual([...Array(10).fill(401), denied, denied]);
  expect(marketplace.traffic.totals.kept).toBe(kept);
  expect(output).not.toContain(secret);
});

test('finds the marketplace that runs, and none after it has ended', async () => {
  const place = directory();
  const local = await openLocal(place);
  expect(await findRunningMarketplace(place)).toEqual({ url: local.url, secret: local.secret });
  await local.close();
  expect(await findRunningMarketplace(place)).toBeUndefined();
});

test('keeps the secret for the next marketplace of the directory, and no secret that came with a copy', async () => {
  const place = directory();
  const first = await openLocal(place);
  await first.close();
  const second = await openLocal(place);
  expect(second.secret).toBe(first.secret);
  await second.close();
  const other = directory();
  execFileSync('cp', ['-a', join(place, '.market-mcp'), other]);
  expect(modeOf(noteOf(other))).toBe('600');
  expect((await openLocal(other)).secret).not.toBe(first.secret);
});

test('keeps no secret of a marketplace that had its pages at 127.0.0.1, whose cookie every port got', async () => {
  const place = directory();
  const first = await openLocal(place);
  await first.close();
  await saveSealed(noteOf(place), { link: programLinkOf(first), pid: process.pid });
  expect((await openLocal(place)).secret).not.toBe(first.secret);
});

/** A foreign server, which passes the questions for a proof on to the real marketplace. */
async function strangerBefore(real: string) {
  const { origin, requests } = await startApi(async ({ method, target }) => {
    const { headers } = await ask(real + target, {}, method);
    return { headers: { [proofHeader]: headers[proofHeader] ?? '' }, body: {} };
  });
  return { requests, url: origin };
}

const plants: [string, (place: string, local: Local) => unknown][] = [
  ['readable by others', (place) => chmodSync(noteOf(place), 0o644)],
  [
    'a link',
    (place) => {
      renameSync(noteOf(place), join(place, 'elsewhere.json'));
      symlinkSync(join(place, 'elsewhere.json'), noteOf(place));
    },
  ],
  [
    'a copy',
    (place) => {
      copyFileSync(noteOf(place), join(place, 'copy.json'));
      rmSync(noteOf(place));
      execFileSync('cp', ['-p', join(place, 'copy.json'), noteOf(place)]);
    },
  ],
  [
    'a named pipe',
    (place) => {
      rmSync(noteOf(place));
      execFileSync('mkfifo', ['-m', '600', noteOf(place)]);
    },
  ],
  ['not JSON', (place) => writeFileSync(noteOf(place), '{')],
  ['a list', (place) => writeFileSync(noteOf(place), '[]')],
  [
    'of a process that has ended',
    async (place, local) => {
      const child = spawn('true');
      await once(child, 'exit');
      await saveSealed(noteOf(place), { link: linkOf(local), pid: child.pid });
    },
  ],
  ['of all processes', (place, local) => saveSealed(noteOf(place), { link: linkOf(local), pid: -1 })],
  ['of no process', (place, local) => saveSealed(noteOf(place), { link: linkOf(local) })],
  [
    'with another secret',
    (place, { url }) => saveSealed(noteOf(place), { link: linkOf({ url, secret: wrong }), pid: process.pid }),
  ],
  [
    'with a URL elsewhere',
    (place, { secret }) =>
      saveSealed(noteOf(place), { link: `http://evil.example:80/?secret=${secret}`, pid: process.pid }),
  ],
];
if (isRoot) plants.push(['of another user', (place) => chownSync(noteOf(place), nobody, nobody)]);

test.each(plants)('does not believe a running.json that is %s, and replaces it', async (_, plant) => {
  const place = directory();
  const local = await openLocal(place);
  await plant(place, local);
  expect(await findRunningMarketplace(place)).toBeUndefined();
  const next = await openLocal(place);
  expect(await findRunningMarketplace(place)).toEqual({ url: next.url, secret: next.secret });
  expect(modeOf(noteOf(place))).toBe('600');
});

test('hands the secret to no stranger: not at a port that it has taken, not as a relay', async () => {
  const place = directory();
  const local = await openLocal(place);
  const { requests, url } = await strangerBefore(local.url);
  const link = linkOf({ url, secret: local.secret });
  await saveSealed(noteOf(place), { link, pid: process.pid });
  expect(await findRunningMarketplace(place)).toBeUndefined();
  vi.stubEnv('MARKET_MCP_URL', link);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(findRunningMarketplace(place)).rejects.toMatchObject({
    code: 'NO_MARKETPLACE',
    message: `${url} is not the marketplace of this secret`,
  });
  expect(requests).toHaveLength(2);
  expect(JSON.stringify(requests)).not.toContain(local.secret);
  expect(JSON.stringify(requests)).not.toContain('authorization');
});

test.each([
  'http://127.0.0.1:4400',
  'http://127.0.0.1:4400/',
  `http://evil.example:4400/?secret=${wrong}`,
  `http://127.0.0.1:4400@evil.example/?secret=${wrong}`,
  `http://127.0.0.1.evil.example:4400/?secret=${wrong}`,
  `https://127.0.0.1:4400/?secret=${wrong}`,
  `http://127.0.0.1:4400/?secret=${wrong}\nx`,
  `http://127.0.0.1:4400/path/?secret=${wrong}`,
  `http://0123456789abcdef.localhost:4400/?secret=${wrong}`,
  `http://localhost:4400/?secret=${wrong}`,
  'nothing',
])('MARKET_MCP_URL=%j is refused with the fix', async (link) => {
  vi.stubEnv('MARKET_MCP_URL', link);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(findRunningMarketplace(directory())).rejects.toMatchObject({
    code: 'BAD_LINK',
    hint: expect.stringContaining('http://….localhost:4400/?secret=…'),
  });
});

test.each([
  ['the printed link', linkOf],
  ['the link of programs', programLinkOf],
])('MARKET_MCP_URL takes %s from any directory', async (_, link) => {
  const local = await openLocal(directory());
  vi.stubEnv('MARKET_MCP_URL', link(local));
  onTestFinished(() => void vi.unstubAllEnvs());
  const access = await findRunningMarketplace(directory());
  expect(access).toEqual({ url: local.url, secret: local.secret });
  expect(await requestJson(access ?? { url: '', secret: '' }, '/index.json')).toMatchObject({ tools: [] });
});

test('follows no planted link: the files that they name stay as they are', async () => {
  const place = directory();
  const outside = directory();
  mkdirSync(join(place, '.market-mcp'));
  for (const name of ['.gitignore', 'running.json']) {
    const target = join(outside, name);
    writeFileSync(target, 'mine\n');
    symlinkSync(target, join(place, '.market-mcp', name));
  }
  const before = readdirSync(outside).map((name) => textAt(join(outside, name)));
  const { marketplace } = await openLocal(place);
  await marketplace.saveExample({ endpoint: 'x', tool: 'y', arguments: {}, expect: 'found' });
  expect(readdirSync(outside).map((name) => textAt(join(outside, name)))).toEqual(before);
  expect(textAt(join(place, '.market-mcp/.gitignore'))).toBe('*\n');
  expect(JSON.parse(textAt(join(place, '.market-mcp/marketplace.json'))).examples).toHaveLength(1);
});

test.each([
  ['.market-mcp', 'a directory', 'LINK_IN_THE_WAY'],
  ['.market-mcp/marketplace.json', 'a file', 'STATE_DAMAGED'],
  ['.local', 'a directory', 'LINK_IN_THE_WAY'],
  ['.local/platform-key.pem', 'a file', 'NOT_A_FILE'],
])('refuses a link %s, and writes nothing to where it leads', async (path, what, code) => {
  const place = directory();
  const outside = directory();
  const target = join(outside, 'target');
  if (what === 'a directory') mkdirSync(target);
  else {
    writeFileSync(target, 'a key of the author\n');
    mkdirSync(dirname(join(place, path)));
  }
  symlinkSync(target, join(place, path));
  await expect(openLocal(place, { keyDirectory: place })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(`${join(place, path)} is a link`),
  });
  if (what === 'a directory') expect(readdirSync(target)).toEqual([]);
  else expect(textAt(target)).toBe('a key of the author\n');
  expect(existsSync(join(place, '.market-mcp/running.json'))).toBe(false);
});

test('ends what it has started if its link cannot be stored', async () => {
  const place = directory();
  mkdirSync(join(place, '.market-mcp/running.json'), { recursive: true });
  const listening = () => process.getActiveResourcesInfo().filter((one) => one === 'TCPServerWrap').length;
  const before = listening();
  await expect(openLocal(place)).rejects.toMatchObject({ code: 'NOT_WRITABLE' });
  await expect.poll(listening).toBeLessThanOrEqual(before);
});
