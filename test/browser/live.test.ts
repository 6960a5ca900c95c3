import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { ServerState } from '../../src/dev/state.ts';
import type { MarketplaceOptions } from '../../src/marketplace/core/marketplace-model.ts';
import { pageUrlOf } from '../../src/marketplace/core/page-access.ts';
import { requestJson } from '../../src/marketplace/running-marketplace.ts';
import { serveMarketplace } from '../../src/marketplace/web/serve.tsx';
import type { Breaks } from '../broken/good-server.ts';
import { formFor } from '../marketplace/support.ts';
import { openMarket, type View, views, violationsOn, withBrowser } from './browser.ts';

withBrowser();

/** A marketplace with the good server, and a page that shows a path of it. */
async function open(
  path: string,
  breaks: Breaks = {},
  { view = {}, ...options }: Partial<MarketplaceOptions> & { view?: View } = {},
) {
  const opened = await openMarket(breaks, view, () => options);
  const { page, url } = opened;
  const connected = view.scripts === false || page.waitForResponse(`${url}/events`);
  await Promise.all([page.goto(url + path), connected]);
  return opened;
}

const main = (page: Page) => page.locator('main').innerText();

/** A value that a reload of the page would remove. */
const stay = (page: Page) => page.evaluate('window.stayed = true');
const stayed = (page: Page) => page.evaluate('window.stayed === true');

test('Try it shows that it calls, and sends a call once', async () => {
  const called: unknown[] = [];
  let isCalled = () => {};
  const call = new Promise<void>((resolve) => {
    isCalled = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { page, complaints } = await open('/try?tool=get_price', {
    call: (good) => async (params) => {
      called.push(params);
      isCalled();
      await released;
      return good(params);
    },
  });
  const button = page.locator('form[action="/try"][method="post"] button');
  await expect.poll(() => button.innerText()).toBe('Call get_price');
  await button.click();
  await call;
  await expect.poll(() => button.innerText()).toBe('Calling get_price…');
  await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
  await expect.poll(() => page.getByLabel('The result').innerText()).toContain('Calling get_price…');
  await button.click({ force: true });
  await page.getByLabel('symbol').press('Enter');
  release();
  await page.locator('.verdicts').waitFor();
  expect(called).toHaveLength(1);
  await expect.poll(() => button.innerText()).toBe('Call get_price');
  await button.click();
  await page.locator('.verdicts').waitFor();
  expect(called).toHaveLength(2);
  expect(complaints).toEqual([]);
});

test('a call that cannot be made says why, and what was entered stays', async () => {
  const { page, complaints } = await open('/try?tool=get_price');
  await page.getByText('Send other JSON instead').click();
  await page.getByLabel('Arguments as JSON').fill('{"symbol":');
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await page.getByLabel('The result').getByRole('alert').waitFor();
  await expect.poll(() => page.getByLabel('The result').innerText()).toContain('Arguments as JSON: ');
  await page.getByLabel('Arguments as JSON').fill('{"symbol":"ETH"}');
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await page.locator('.verdicts').waitFor();
  await expect.poll(() => page.getByLabel('Arguments as JSON').inputValue()).toBe('{"symbol":"ETH"}');
  expect(complaints).toEqual([]);
});

test('Home follows calls and listings without a reload', async () => {
  const { page, marketplace, serving, endpoint, complaints } = await open('/');
  await stay(page);
  const card = page.locator('article', { has: page.getByRole('heading', { name: 'get_price' }) });
  await requestJson(serving, '/try.json', { tool: 'get_price', arguments: { symbol: 'BTC' } });
  await card.getByText('last call: found').waitFor();
  await requestJson(serving, '/try.json', { tool: 'get_price', arguments: { symbol: 7 } });
  await card.getByText('last call: failed').waitFor();
  await requestJson(serving, '/try.json', { tool: 'get_price', arguments: {}, deliberate: 'no-token' });
  await card.getByText('last call: refused').waitFor();
  await page.locator('.next .done', { hasText: 'Try' }).waitFor();
  await marketplace.register(formFor(endpoint));
  await card.getByText('listed', { exact: true }).waitFor();
  await expect.poll(() => main(page)).toContain('Buyers see what your server serves');
  expect(await stayed(page)).toBe(true);
  expect(complaints).toEqual([]);
});

test('Check follows a check that another page has started', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { page, serving, complaints } = await open(
    '/check',
    {},
    {
      check: async (onRule) => {
        onRule('gate.no-token', 3, 7);
        await released;
        throw new Error('the server is gone');
      },
    },
  );
  await stay(page);
  const started = requestJson(serving, '/check.json', {}).catch(() => {});
  await page.getByText('3 of 7: gate.no-token').waitFor();
  release();
  await started;
  await page.getByText('the server is gone').waitFor();
  await expect.poll(() => page.getByRole('heading', { name: 'Last check' }).count()).toBe(1);
  expect(await stayed(page)).toBe(true);
  expect(complaints).toEqual([]);
});

test('Traffic follows the calls of one outcome, and keeps the order that the reader chose', async () => {
  const { page, marketplace, endpoint, complaints } = await open('/traffic?outcome=failed');
  await stay(page);
  const call = (tool: string, symbol: string) => marketplace.call({ endpoint, tool, arguments: { symbol } });
  await call('get_price', 'BTC');
  const first = await call('no_such_tool', 'B');
  await page.getByRole('cell', { name: 'no_such_tool' }).waitFor();
  await page.getByLabel('Search').fill('half a word');
  await page.getByRole('button', { name: '#' }).click();
  const second = await call('no_such_tool', 'A');
  const rows = page.locator('#rows tbody tr');
  await rows.nth(1).waitFor();
  await expect
    .poll(() => rows.locator('td:first-child').allInnerTexts())
    .toEqual([`${first.id}`, `${second.id}`]);
  await expect
    .poll(() => rows.locator('code .aside').allInnerTexts())
    .toEqual(['{"symbol":"B"}', '{"symbol":"A"}']);
  await expect.poll(() => rows.locator('.tag').allInnerTexts()).toEqual(['failed', 'failed']);
  await expect.poll(() => page.getByLabel('Search').inputValue()).toBe('half a word');
  expect(await stayed(page)).toBe(true);
  expect(complaints).toEqual([]);
});

test('the outcome filter, Try it and Check work without JavaScript', async () => {
  const { page, marketplace, endpoint, serving } = await open('/traffic', {}, { view: { scripts: false } });
  await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  await marketplace.call({ endpoint, tool: 'get_price', arguments: {}, deliberate: 'no-token' });
  await page.getByLabel('Outcome').selectOption({ label: 'refused as expected' });
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(({ searchParams }) => searchParams.get('outcome') === 'refused');
  const row = page.locator('#rows tbody tr');
  await expect.poll(() => row.count()).toBe(1);
  await expect.poll(() => row.innerText()).toMatch(/refused\s+as expected\s+401/);
  await page.goto(`${pageUrlOf(serving)}/traffic?outcome=lost`);
  await expect.poll(() => main(page)).toContain('Choose one of: found, empty, failed, refused, answered.');
  await page.goto(`${pageUrlOf(serving)}/try?tool=get_price`);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  expect((await page.locator('.verdicts').innerText()).match(/matches/g)).toHaveLength(3);
});

const url = 'http://localhost:3000/mcp';
const down: ServerState = {
  kind: 'load-error',
  url,
  message: 'The server cannot start: an error is thrown while its code is loaded.',
  details: ['TypeError: <b>no table</b>'],
  at: 'src/tools/get-price.ts:12',
  hint: 'Correct the table.',
};
const running: ServerState = {
  ...down,
  kind: 'running',
  message: 'It runs.',
  details: [],
  at: null,
  hint: '',
};

test.each(views)(
  'an overlay names why the server is down, and goes when it runs, %s at %d px',
  async (theme, width) => {
    let state = running;
    const view = { theme, width } as const;
    const { page, marketplace, serving, complaints } = await open(
      '/listings',
      {},
      {
        view,
        state: async () => state,
      },
    );
    const becomes = (next: ServerState) => {
      state = next;
      marketplace.emit('change', 'server');
    };
    const overlay = page.getByRole('dialog');
    await expect.poll(() => overlay.count()).toBe(0);
    await stay(page);

    becomes(down);
    await overlay.waitFor();
    const text = await overlay.innerText();
    for (const part of [down.message, ...down.details, down.at, down.hint]) expect(text).toContain(part);
    expect(await violationsOn(page, 'overlay', view)).toEqual([]);
    becomes({ ...running, kind: 'building', message: 'It is being built.' });
    await overlay.getByText('It is being built.').waitFor();
    becomes(running);
    await overlay.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByText(down.message).count()).toBe(0);

    becomes(down);
    await overlay.waitFor();
    await page.keyboard.press('Escape');
    await overlay.waitFor({ state: 'hidden' });
    await expect.poll(() => page.getByRole('alert').innerText()).toContain(down.hint);
    expect(await stayed(page)).toBe(true);
    await page.goto(`${pageUrlOf(serving)}/traffic`);
    await expect.poll(() => page.getByRole('alert').innerText()).toContain(down.hint);
    await expect.poll(() => overlay.count()).toBe(0);

    becomes({ ...down, details: ['TypeError: another one'] });
    await overlay.getByText('another one').waitFor();
    await overlay.getByRole('button', { name: 'Dismiss' }).click();
    await overlay.waitFor({ state: 'hidden' });
    becomes(running);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    becomes({ ...down, details: ['TypeError: another one'] });
    await overlay.waitFor();
    expect(complaints).toEqual([]);
  },
);

test('a page says that its marketplace has ended, and continues when it runs again', async () => {
  const { page, marketplace, serving, endpoint } = await open('/traffic');
  const notice = page.getByText('This marketplace does not answer');
  await serving.close();
  await notice.waitFor();
  const again = await serveMarketplace(marketplace, Number(new URL(serving.url).port), serving.secret);
  onTestFinished(() => again.close());
  await notice.waitFor({ state: 'hidden' });
  await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  await page.getByRole('cell', { name: 'tools/call get_price' }).waitFor();
});

test('a form that is being filled in keeps its text and focus when the tool gets a parameter', async () => {
  let extra: JsonObject = {};
  const { page, marketplace, complaints } = await open('/try?tool=get_price', {
    list: (good) => () =>
      good().map((tool) => {
        const inputSchema = tool.inputSchema as { readonly properties: JsonObject };
        return {
          ...tool,
          inputSchema: { ...inputSchema, properties: { ...extra, ...inputSchema.properties } },
        };
      }),
  });
  await page.getByText('Send other JSON instead').click();
  await page.getByLabel('Arguments as JSON').fill('{"symbol":');
  await page.getByLabel('currency').selectOption('EUR');
  await page.getByLabel('symbol').fill('DO');
  extra = { day: { type: 'string', default: 'today' } };
  marketplace.emit('change', 'server');
  await page.getByLabel('day').waitFor();
  await page.keyboard.type('GE');
  await expect.poll(() => page.getByLabel('symbol').inputValue()).toBe('DOGE');
  await expect.poll(() => page.getByLabel('day').inputValue()).toBe('today');
  await expect.poll(() => page.getByLabel('currency').inputValue()).toBe('EUR');
  await expect.poll(() => page.getByLabel('Arguments as JSON').inputValue()).toBe('{"symbol":');
  extra = {};
  marketplace.emit('change', 'server');
  await page.getByLabel('day').waitFor({ state: 'detached' });
  await expect.poll(() => page.getByLabel('symbol').inputValue()).toBe('DOGE');
  expect(complaints).toEqual([]);
});

test('a hidden page is not connected, and shows what has changed when it is visible again', async () => {
  const { page, marketplace, endpoint } = await open('/traffic');
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  const connections = () => marketplace.listenerCount('change');
  await expect.poll(connections).toBe(1);
  await setHidden(true);
  await expect.poll(connections).toBe(0);
  await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  await setHidden(false);
  await page.getByRole('cell', { name: 'get_price' }).waitFor();
});
