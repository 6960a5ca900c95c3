import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { type Breaks, resultOf } from '../broken/good-server.ts';
import { formFor } from '../marketplace/support.ts';
import { openMarket, type View, views, violationsOn, withBrowser } from './browser.ts';

withBrowser();

const open = (breaks: Breaks = {}, view: View = {}) =>
  openMarket(breaks, view, (endpoint) => ({
    draft: { name: 'Coin prices', description: formFor(endpoint).description },
    sources: new Map([['get_price', 'src/tools/get-price.ts']]),
  }));

/** Fills in the form, submits it, and resolves when the submission has ended. */
async function register(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/register`);
  await page.getByLabel('Category').selectOption('Crypto & DeFi');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.locator('[data-done]').waitFor({ state: 'attached' });
}

const main = (page: Page) => page.locator('main').innerText();

const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

test('registers a server with the mouse: form, live steps, listing', async () => {
  const { page, url, complaints } = await open();
  await page.getByRole('link', { name: 'Register', exact: true }).first().click();
  await page.locator('#price').fill('0.5');
  await expect.poll(() => page.locator('#stake').innerText()).toBe('50');
  await register(page, url);
  await expect
    .poll(() => page.getByRole('status').first().innerText())
    .toContain('Accepted: Coin prices is listed');
  await expect.poll(() => page.locator('.steps').innerText()).toContain('Submission test');
  await page.locator('main').getByRole('link', { name: 'My tools' }).click();
  await expect.poll(() => main(page)).toContain('get_price');
  await expect.poll(() => main(page)).toContain('healthy');
  await page.goto(url);
  await expect.poll(() => main(page)).toContain('Buyers see what your server serves');
  expect(complaints).toEqual([]);
});

test('calls a tool from the form, judges and copies the result, and saves it as an example', async () => {
  const { page, url, complaints } = await open();
  await page.goto(`${url}/try?tool=get_price`);
  await expect.poll(() => page.getByLabel('symbol').inputValue()).toBe('BTC');
  await expect.poll(() => page.getByLabel('currency').inputValue()).toBe('USD');
  await page.getByLabel('symbol').fill('ETH');
  await page.getByRole('button', { name: 'Call get_price' }).click();
  const verdicts = await page.locator('.verdicts').innerText();
  expect(verdicts).toContain('found');
  expect(verdicts.match(/matches/g)).toHaveLength(3);
  await expect.poll(() => main(page)).toContain('3100');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await expect
    .poll(() => clipboard(page))
    .toContain('"name":"get_price","arguments":{"symbol":"ETH","currency":"USD"}');
  await page.getByRole('button', { name: 'Save as example' }).click();
  await expect.poll(() => page.getByRole('link', { name: '{"symbol":"ETH"' }).innerText()).toContain('ETH');
  await page.waitForLoadState();
  await page.locator('select[name=tool]').selectOption('list_coins');
  await page.getByLabel('after').fill('');
  await page.getByRole('button', { name: 'Call list_coins' }).click();
  const rows = page.getByRole('region', { name: 'coins' }).locator('tbody tr');
  await rows.first().waitFor();
  await expect.poll(() => rows.allInnerTexts()).toEqual(['BTC', 'ETH']);
  await page.getByRole('button', { name: 'symbol' }).click();
  await page.getByRole('button', { name: 'symbol' }).click();
  await expect.poll(() => rows.allInnerTexts()).toEqual(['ETH', 'BTC']);
  expect(complaints).toEqual([]);
});

test('disputes a call and judges it by the stored schema', async () => {
  let wrong = false;
  const { page, url } = await open({
    result: (good) => (outcome, tool) =>
      wrong ? resultOf({ symbol: 'BTC', price: '64000' }) : good(outcome, tool),
  });
  await register(page, url);
  wrong = true;
  await page.goto(`${url}/try?tool=get_price`);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await expect.poll(() => page.getByRole('alert').innerText()).toContain('structuredContent.price');
  await page.getByRole('button', { name: 'Dispute' }).click();
  const row = page.locator('tbody tr', { hasText: 'guilty' }).first();
  await expect.poll(() => row.innerText()).toContain('expected type number or null');
});

test('shows the traffic live, a request with its log lines, and replays an edited request', async () => {
  const { page, url, marketplace, endpoint, complaints } = await open();
  await page.goto(`${url}/traffic`);
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  marketplace.takeLog({ stream: 'stderr', text: 'Error: seen\n    at src/tools/get-price.ts:7' }, id);
  await page.getByRole('link', { name: String(id), exact: true }).click();
  await expect.poll(() => main(page)).toContain('tools/call get_price');
  await expect.poll(() => main(page)).toContain('Bearer [redacted]');
  await expect.poll(() => main(page)).toContain('at src/tools/get-price.ts:7');
  const body = page.getByLabel('Body');
  await body.fill((await body.inputValue()).replace('BTC', 'ETH'));
  await page.getByRole('button', { name: 'Replay' }).click();
  await expect.poll(() => main(page)).toContain('sent for replay');
  await expect.poll(() => main(page)).toContain('3100');
  expect(complaints).toEqual([]);
});

const hostile = [
  '<img src=x onerror=alert(1)>',
  '<script>document.title="taken"</script>',
  '"><svg onload=alert(2)>',
  "javascript:alert('3')",
  '{{constructor.constructor("alert(4)")()}}',
  '\u202eevil\u0000\u001b[31m',
  '</textarea></pre><h1>owned</h1>',
].join(' ');

test('renders the texts of a hostile server without harm on every page', async () => {
  const properties = { [hostile]: { type: 'string', description: hostile, default: hostile } };
  const tool: JsonObject = {
    name: 'get_price',
    description: hostile,
    inputSchema: {
      type: 'object',
      properties: { ...properties, __proto__x: { type: 'string', enum: [hostile] } },
      required: [],
    },
    outputSchema: { type: 'object', properties: { [hostile]: { type: 'string', description: hostile } } },
    annotations: { readOnlyHint: true },
  };
  const data = {
    [hostile]: hostile,
    link: 'javascript:alert(1)',
    image: 'https://elsewhere.example/pixel.png',
    svg: 'data:image/svg+xml;base64,PHN2Zy8+',
    rows: [{ [hostile]: hostile, at: 'data:text/html,<script>alert(1)</script>' }],
  };
  const { page, url, marketplace, endpoint, complaints } = await open({
    list: () => () => [tool, { ...tool, name: hostile }],
    result: () => () => resultOf(data),
  });
  const listing = {
    ...formFor(endpoint),
    id: 'hostile',
    state: 'listed' as const,
    registeredAt: '2026-01-01T00:00:00Z',
    refreshedAt: '2026-01-01T00:00:00Z',
    tools: [tool],
    name: hostile,
  };
  await marketplace.store.update((state) => ({ ...state, listings: [listing] }));
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { a: hostile } });
  await marketplace.dispute(id);
  marketplace.takeLog({ stream: 'stdout', text: hostile }, id);
  const seen = async () => {
    expect(await page.title()).toContain('Local marketplace');
    await expect.poll(() => page.locator('h1').count()).toBe(1);
    await expect.poll(() => page.locator('main img, main svg, main script, main iframe').count()).toBe(0);
    await expect
      .poll(() => page.locator('main a[href^="javascript:"], main a[href^="data:"]').count())
      .toBe(0);
    expect(complaints).toEqual([]);
  };
  for (const path of ['/', '/try', '/register', '/listings', '/disputes', '/traffic', `/traffic/${id}`]) {
    await page.goto(url + path);
    await seen();
  }
  await page.goto(`${url}/try?tool=get_price`);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await page.locator('.verdicts').waitFor();
  await expect.poll(() => main(page)).toContain('<img src=x onerror=alert(1)>');
  await seen();
  await marketplace.withdraw('hostile');
  await register(page, url);
  await expect.poll(() => main(page)).toContain('Rejected');
  await seen();
});

test.each(views)(
  'axe finds no violation on any page, %s at %d px, and no page scrolls sideways',
  async (theme, width) => {
    const { page, url, marketplace, endpoint } = await open({}, { theme, width });
    await register(page, url);
    const submission = page.url();
    const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
    await marketplace.dispute(id);
    const paths = [
      '/',
      '/try',
      '/check',
      '/register',
      '/listings',
      '/disputes',
      '/traffic',
      `/traffic/${id}`,
      '/nowhere',
      new URL(submission).pathname,
    ];
    const violations: unknown[] = [];
    const examine = async (where: string) =>
      violations.push(...(await violationsOn(page, where, { theme, width })));
    for (const path of paths) {
      await page.goto(url + path);
      await examine(path);
    }
    await page.goto(`${url}/try?tool=list_coins`);
    await page.getByRole('button', { name: 'Call list_coins' }).click();
    await page.locator('.verdicts').waitFor();
    await examine('/try with a result');
    expect(violations).toEqual([]);
  },
);
