import { expect, test } from 'vitest';
import type { Marketplace } from '../../src/marketplace/core/marketplace.ts';
import { newSecret } from '../../src/marketplace/core/page-access.ts';
import { appOf, type Serving, serveMarketplace } from '../../src/marketplace/web/serve.tsx';
import { formFor, openMarketplace, serveHere, startServer } from './support.ts';

const secrets = new Map<string, string>();

async function site(marketplace?: Marketplace): Promise<Serving> {
  const serving = await serveHere(marketplace);
  secrets.set(serving.url, serving.secret);
  return serving;
}

/** As whoever started the marketplace. */
const fetch = (url: string, init: RequestInit = {}) => {
  const authorization = `Bearer ${secrets.get(new URL(url).origin)}`;
  return globalThis.fetch(url, { ...init, headers: { authorization, ...(init.headers as object) } });
};

const json = { 'content-type': 'application/json' };
const post = (url: string, body: object, headers: object = json) =>
  fetch(url, { method: 'POST', headers: { ...headers }, body: JSON.stringify(body), redirect: 'manual' });

/** The members of the answers that this test reads. */
interface Told {
  readonly id: number;
  readonly state?: string;
  readonly result?: unknown;
  readonly steps?: readonly unknown[];
  readonly listings: readonly unknown[];
  readonly log: {
    readonly entries: readonly { readonly request: { readonly postData?: { text: string } } }[];
  };
}
const told = async (answer: Response | Promise<Response>) => (await (await answer).json()) as Told;

const paths = ['/', '/try', '/check', '/register', '/listings', '/disputes', '/traffic'];

test.each(paths)('%s has a page, which names its JSON form', async (path) => {
  const { url } = await site();
  const page = await fetch(url + path);
  const text = await page.text();
  expect(page.status).toBe(200);
  const [, twin] = /<link rel="alternate" type="application\/json" href="([^"]+)"/.exec(text) ?? [];
  const answer = await fetch(url + twin);
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(await answer.json()).toBeTypeOf('object');
});

test('answers JSON at / with the URL of every page', async () => {
  const { url } = await site();
  const answer = await fetch(url, { headers: { accept: 'application/json' } });
  expect(await answer.json()).toMatchObject({ endpoint: null, twins: { Register: '/register.json' } });
});

test('sends a strict policy, allows no other origin, and loads nothing from elsewhere', async () => {
  const { url } = await site();
  for (const path of [...paths, '/assets/style.css', '/.well-known/jwks.json', '/nowhere']) {
    const { headers } = await fetch(url + path);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
  const page = await (await fetch(url)).text();
  expect(page.match(/(src|href)="(?!\/|#)[^"]*"/g)).toBeNull();
  expect(page).not.toMatch(/ style=| on[a-z]+=|<script>/);
});

test('refuses a foreign Origin and a cross-site POST', async () => {
  const { url } = await site();
  const statusOf = async (name: string, value: string) =>
    (await post(`${url}/traffic/clear.json`, {}, { ...json, [name]: value })).status;
  expect(await statusOf('origin', 'https://evil.example')).toBe(403);
  expect(await statusOf('origin', 'null')).toBe(403);
  expect(await statusOf('sec-fetch-site', 'cross-site')).toBe(403);
  expect(await statusOf('origin', url)).toBe(200);
});

test('refuses a form that does not name its origin, and bodies that are neither a form nor JSON', async () => {
  const { url } = await site();
  const send = async (type: string, origin?: string) => {
    const headers = { 'content-type': type, ...(origin !== undefined && { origin }) };
    const init = { method: 'POST', headers, body: '{}', redirect: 'manual' } as const;
    return (await fetch(`${url}/traffic/clear`, init)).status;
  };
  const form = 'application/x-www-form-urlencoded';
  expect(await send(form)).toBe(403);
  expect(await send(form, 'null')).toBe(403);
  expect(await send(form, 'http://127.0.0.1:1')).toBe(403);
  expect(await send('text/plain', url)).toBe(403);
  expect(await send(form, url)).toBe(303);
});

test('answers no preflight', async () => {
  const { url } = await site();
  const headers = { origin: new URL(url).origin, 'access-control-request-method': 'POST' };
  const answer = await fetch(`${url}/register.json`, { method: 'OPTIONS', headers });
  expect(answer.status).toBe(404);
  expect(answer.headers.get('access-control-allow-methods')).toBeNull();
});

test('answers bad input with an error and its fix, as JSON and as a page', async () => {
  const { url } = await site();
  const answer = await post(`${url}/disputes.json`, { call: 7 });
  expect(answer.status).toBe(409);
  expect(await answer.json()).toMatchObject({ error: { code: 'NO_SUCH_CALL', hint: 'See Traffic.' } });
  expect((await post(`${url}/register.json`, [] as never)).status).toBe(403);
  const page = await fetch(`${url}/register/none`);
  expect(page.status).toBe(409);
  expect(await page.text()).toContain('this run no longer exists');
});

test('says that no tool was called, and which, where none may be', async () => {
  const called: unknown[] = [];
  const endpoint = await startServer({
    list: (good) => () =>
      good().map(({ annotations: _, _meta, ...bare }, at) => ({
        ...bare,
        name: ['price', 'coins'][at] ?? '',
      })),
    call: (good) => (params) => {
      called.push(params);
      return good(params);
    },
  });
  const { url } = await site();
  const started = await post(`${url}/register`, formFor(endpoint));
  const place = `${url}${started.headers.get('location')}`;
  await expect.poll(async () => (await told(fetch(`${place}.json`))).state).toBe('done');
  const { result, steps } = await told(fetch(`${place}.json`));
  expect(result).toMatchObject({ accepted: true, rehearsal: [], withheld: ['price', 'coins'] });
  expect(steps?.at(-1)).toMatchObject({
    status: 'advice',
    details: ['price: not called', 'coins: not called'],
  });
  const page = await (await fetch(place)).text();
  expect(page).toContain('Nothing failed, no tool called: Coin prices is listed');
  expect(page).not.toContain('Accepted');
  expect(called).toEqual([]);
});

test('refuses a requested port that is taken, and finds another one otherwise', async () => {
  const marketplace = await openMarketplace();
  const first = await site(marketplace);
  const port = Number(new URL(first.url).port);
  await expect(serveMarketplace(marketplace, port)).rejects.toMatchObject({ code: 'PORT_TAKEN' });
  const one = await serveMarketplace(marketplace);
  const two = await serveMarketplace(marketplace);
  expect(one.url).not.toBe(two.url);
  await Promise.all([one.close(), two.close()]);
});

test('refuses a body that is too large, with and without Content-Length', async () => {
  // Without sockets: a server that answers before it has read a body may close the connection before its client has read the answer.
  const access = { url: 'http://127.0.0.1:4400', secret: newSecret() };
  const app = appOf(await openMarketplace(), access);
  const body = `{"text":"${'x'.repeat(3 * 1024 * 1024)}"}`;
  const own = { ...json, host: '127.0.0.1:4400', authorization: `Bearer ${access.secret}` };
  for (const headers of [{ ...own, 'content-length': String(body.length) }, own]) {
    const answer = await app.request(`${access.url}/traffic/clear.json`, { method: 'POST', headers, body });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: { code: 'TOO_LARGE' } });
  }
});

test('a check that ends with an error is an error in JSON, too', async () => {
  const check = async () => {
    throw new Error('the server is gone');
  };
  const { url } = await site(await openMarketplace({ endpoint: 'http://127.0.0.1:1/mcp', check }));
  const answer = await post(`${url}/check.json`, {});
  expect(answer.status).toBe(409);
  expect(await answer.json()).toMatchObject({
    error: { code: 'NOT_CHECKED', message: 'the server is gone' },
  });
});

test('filters the traffic by outcome, and names the outcomes there are', async () => {
  const endpoint = await startServer();
  const marketplace = await openMarketplace({ endpoint });
  const { url } = await site(marketplace);
  const order = { endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } };
  const found = await marketplace.call(order);
  const unpaid = await marketplace.call({ ...order, deliberate: 'no-token' });
  const unknown = await marketplace.call({ ...order, tool: 'no_tool' });
  const ids = async (query: string) => {
    const answer = await (await fetch(`${url}/traffic.json?${query}`)).json();
    return (answer as { exchanges: { id: number }[] }).exchanges.map(({ id }) => id);
  };
  expect(await ids('outcome=found')).toEqual([found.id]);
  expect(await ids('outcome=refused')).toEqual([unpaid.id]);
  expect(await ids('outcome=failed')).toEqual([unknown.id]);
  expect(await ids('outcome=empty')).toEqual([]);
  expect(await ids('outcome=failed&text=found')).toEqual([]);
  expect(await ids('text=no_tool&outcome=')).toEqual([unknown.id]);
  expect(await ids('text="symbol":"btc"')).toEqual([unknown.id, unpaid.id, found.id]);
  const page = await (await fetch(`${url}/traffic?outcome=refused`)).text();
  expect(page).toContain('<option value="refused" selected="">refused as expected</option>');
  expect(page).toMatch(/get_price<span class="aside soft">\{&quot;symbol&quot;:&quot;BTC&quot;\}/);
  const har = await told(fetch(`${url}/traffic/export.har?outcome=failed`));
  expect(har.log.entries).toHaveLength(1);
  const bad = await fetch(`${url}/traffic.json?outcome=lost`);
  expect(bad.status).toBe(409);
  expect(await bad.json()).toMatchObject({
    error: {
      code: 'BAD_FILTER',
      message: 'there is no outcome "lost"',
      hint: 'Choose one of: found, empty, failed, refused, answered.',
    },
  });
});
