import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { linkOf } from '../../src/marketplace/core/page-access.ts';
import { serveMarketplace } from '../../src/marketplace/web/serve.tsx';
import { startApi } from '../api-server.ts';
import { formFor, openMarketplace, startServer } from '../marketplace/support.ts';
import { freePort } from '../ports.ts';
import { openPage, views, withBrowser } from './browser.ts';

withBrowser();

/** A served marketplace that can be closed and served again. */
async function serve() {
  const endpoint = await startServer();
  const draft = { name: 'Coin prices', description: formFor(endpoint).description };
  const marketplace = await openMarketplace({ endpoint, draft });
  let serving = await serveMarketplace(marketplace, await freePort());
  onTestFinished(() => serving.close());
  const { secret, url: programs } = serving;
  const restart = async () => {
    await serving.close();
    serving = await serveMarketplace(marketplace, Number(new URL(programs).port), secret);
  };
  const link = linkOf(serving);
  return { endpoint, marketplace, url: new URL(link).origin, link, secret, programs, restart };
}

async function screenshot(page: { screenshot(options: object): Promise<unknown> }, name: string) {
  const { SCREENSHOTS } = process.env;
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
}

test('the link leads to the home page at a clean address, and everything works from there', async () => {
  const { url, link } = await serve();
  const { page, context, complaints } = await openPage(link);
  expect(page.url()).toBe(`${url}/`);
  await expect.poll(() => page.locator('h1').innerText()).toBe('Your tools');
  const [cookie, ...others] = await context.cookies();
  expect(others).toEqual([]);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/', expires: -1 });
  expect(await page.evaluate('document.cookie')).toBe('');
  await page.reload();
  await expect.poll(() => page.locator('h1').innerText()).toBe('Your tools');
  await page.goto(`${url}/try?tool=get_price`);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  expect((await page.locator('.verdicts').innerText()).match(/matches/g)).toHaveLength(3);
  const second = await context.newPage();
  await second.goto(`${url}/traffic`);
  await expect.poll(() => second.locator('tbody tr').count()).toBeGreaterThan(0);
  await second.goBack();
  expect(second.url()).not.toContain('secret');
  expect(complaints).toEqual([]);
});

test.each(views)(
  'without the cookie, a page names the fix and shows nothing else, %s at %d px',
  async (theme, width) => {
    const { url, link } = await serve();
    const { page, context, complaints } = await openPage(url, { theme, width });
    const refused = async () => {
      await expect.poll(() => page.locator('h1').innerText()).toBe('Open this page by its link');
      await expect.poll(() => page.locator('main').innerText()).toContain('npm run dev');
      await expect.poll(() => page.locator('nav, form, [data-live]').count()).toBe(0);
    };
    await refused();
    await screenshot(page, `not-admitted-${theme}-${width}`);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(0);
    await page.goto(`${url}/?secret=AAAAAAAAAAAAAAAAAAAAAA`);
    await refused();
    await page.goto(link);
    await expect.poll(() => page.locator('h1').innerText()).toBe('Your tools');
    await page.goto(`${url}/try`);
    await context.clearCookies();
    await page.getByRole('button', { name: /^Call / }).click();
    await refused();
    expect(complaints).toEqual([]);
  },
);

test('an open page keeps working when the marketplace starts again: live parts and forms', async () => {
  const { url, link, endpoint, marketplace, restart } = await serve();
  const { page } = await openPage(link);
  await page.goto(`${url}/traffic`);
  // EventSource connects again by itself.
  await Promise.all([page.waitForResponse(`${url}/events`), restart()]);
  await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'ETH' } });
  await page.getByRole('cell', { name: 'tools/call get_price' }).first().waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForLoadState();
  await expect.poll(() => page.locator('h1').innerText()).toBe('Traffic');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(0);
});

test('at 127.0.0.1, a page says where the pages are, and leads there whoever has sent the secret', async () => {
  const { url, programs, secret } = await serve();
  for (const width of [390, 1280]) {
    const { page, context, complaints } = await openPage(programs, { width });
    await expect.poll(() => page.locator('main').innerText()).toContain('Safari');
    await expect.poll(() => page.locator('main a').count()).toBe(0);
    await screenshot(page, `not-admitted-address-${width}`);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(0);
    await page.goto(`${programs}/?secret=${secret}`);
    expect([complaints, await context.cookies()]).toEqual([[], []]);
    await page.getByRole('link').click();
    await page.getByRole('heading', { name: 'Your tools' }).waitFor();
    expect(page.url()).toBe(`${url}/`);
  }
});

test('no other port gets the secret: not of 127.0.0.1, not of localhost or a name under it', async () => {
  const { url, link, secret } = await serve();
  const seen: { at: string; cookie: string }[] = [];
  const { origin } = await startApi(({ headers, target }) => {
    seen.push({ at: `${headers.host}${target}`, cookie: headers.cookie ?? '' });
    return {
      headers: { 'set-cookie': 'own=1', 'content-type': 'text/html' },
      body: '<!doctype html><title>x</title><a href="/linked">go</a>',
    };
  });
  const { port } = new URL(origin);
  const { page, context } = await openPage(link);
  const foreign = await context.newPage();
  for (const name of ['127.0.0.1', 'localhost', 'other.localhost']) {
    const at = `${name}:${port}`;
    await foreign.goto(`http://${at}/`);
    await foreign.evaluate('fetch("/fetched", { credentials: "include" }).then((answer) => answer.text())');
    await foreign.locator('a').click();
    await foreign.waitForURL(`http://${at}/linked`);
    // Cookies are sent and seen.
    for (const path of ['/fetched', '/linked']) {
      expect(seen).toContainEqual({ at: at + path, cookie: expect.stringContaining('own=1') });
    }
  }
  expect(seen.filter(({ cookie }) => cookie.includes(secret))).toEqual([]);
  await page.goto(`${url}/try?tool=get_price`);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  expect((await page.locator('.verdicts').innerText()).match(/matches/g)).toHaveLength(3);
  await page.getByRole('link', { name: 'Traffic', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Traffic', exact: true }).waitFor();
});

/** A page of another website. @returns its URL. */
async function website(content: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>x</title>${content}`);
  });
  await once(server.listen(0, 'localhost'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

test('another website can open the page, but use nothing of it', async () => {
  const { url, link, marketplace } = await serve();
  const foreign = await website(`<a id="link" href="${url}/">go</a>
    <form id="form" method="post" action="${url}/traffic/clear"><input name="x" value="y"></form>`);
  const { page } = await openPage(link);
  const kept = marketplace.traffic.totals.kept;
  expect(kept).toBeGreaterThan(0);
  await page.goto(foreign);
  const [refusal] = await Promise.all([
    page.waitForResponse(`${url}/traffic/clear`),
    page.evaluate('setTimeout(() => document.getElementById("form").submit())'),
  ]);
  expect(refusal.status()).toBe(403);
  await page.waitForURL(`${url}/traffic/clear`);
  // Not cleared; the page that was left may still have asked the server.
  expect(marketplace.traffic.totals.kept).toBeGreaterThanOrEqual(kept);
  // A link on another website does not bring the cookie; a link on the page itself does.
  await page.goto(foreign);
  await page.locator('#link').click();
  await page.waitForURL(`${url}/`);
  await expect.poll(() => page.locator('h1').innerText()).toBe('Open this page by its link');
  await page.getByRole('link', { name: 'open the home page from here' }).click();
  await page.getByRole('heading', { name: 'Your tools' }).waitFor();
});

test('the printed link works on a page of another website, such as a terminal in a browser', async () => {
  const { url, link } = await serve();
  const foreign = await website(`<a id="link" href="${link}">go</a>`);
  const { page } = await openPage(foreign);
  await page.locator('#link').click();
  await page.getByRole('heading', { name: 'Your tools' }).waitFor();
  expect(page.url()).toBe(`${url}/`);
  await page.goBack();
  expect(page.url()).toBe(foreign);
});
