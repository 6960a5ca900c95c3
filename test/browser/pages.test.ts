import { expect, test } from 'vitest';
import { effects } from '../../packages/contract/src/definition/effect.ts';
import { pages } from '../../src/marketplace/web/layout.tsx';
import { type Breaks, resultOf } from '../broken/good-server.ts';
import { checking, formFor } from '../marketplace/support.ts';
import { openMarket, type View, views, violationsOn, withBrowser } from './browser.ts';

withBrowser();

const open = (breaks: Breaks, view: View = {}) => openMarket(breaks, view, checking);

/** The good server's list, and a tool of each effect that is not reading. */
const writing: Breaks = {
  list: (good) => () => {
    const [first = {}, ...others] = good();
    return [
      first,
      ...others,
      { ...first, name: 'create_alert', annotations: effects.adds },
      { ...first, name: 'cancel_alert', annotations: effects.changes },
      { ...first, name: 'send_alert', annotations: effects.acts },
    ];
  },
};

test('tools that change something wear a badge wherever tools are listed, and the others do not', async () => {
  const { page, url, marketplace, endpoint } = await open(writing);
  const submission = await marketplace.register(formFor(endpoint));
  expect(submission.accepted).toBe(true);
  const badges = (within: string) => page.locator(`${within} .effect`).allInnerTexts();
  const all = ['adds data', 'changes data', 'acts'];
  expect(await badges('article')).toEqual(all);
  await expect
    .poll(() => page.locator('article', { hasText: 'cancel_alert' }).locator('.effect').innerText())
    .toBe('changes data');
  await expect
    .poll(() => page.locator('article', { hasText: 'list_coins' }).locator('.effect').count())
    .toBe(0);
  await page.goto(`${url}/try?tool=send_alert`);
  await expect
    .poll(() => page.locator('select[name=tool] option').allInnerTexts())
    .toEqual([
      'get_price',
      'list_coins',
      'create_alert (adds data)',
      'cancel_alert (changes data)',
      'send_alert (acts)',
    ]);
  expect(await badges('main')).toEqual(['acts']);
  for (const path of ['/register', '/listings']) {
    await page.goto(url + path);
    expect([path, await badges('main')]).toEqual([path, all]);
  }
});

test.each([390, 320])(
  'the active tab is in view at %i px on every page, without the script',
  async (width) => {
    const { page, url } = await open({}, { width, scripts: false });
    for (const path of [...pages.map(([path]) => path), '/check/rules/gate.no-token']) {
      await page.goto(url + path);
      const {
        x = -1,
        width: wide = 0,
        y = -1,
      } = (await page.locator('nav [aria-current]').boundingBox()) ?? {};
      expect([path, x >= 0, x + wide <= width, y >= 0 && y < 200]).toEqual([path, true, true, true]);
    }
  },
);

test.each(views)(
  'axe finds no violation on a rejected submission and on the pages of writing tools, %s at %d px',
  async (theme, width) => {
    const { page, url, marketplace, endpoint } = await open(
      { ...writing, result: () => () => resultOf({ price: 'much' }) },
      { theme, width },
    );
    const { id, finished } = marketplace.jobs.start('register', 'Submitting', (onStep) =>
      marketplace.register(formFor(endpoint), onStep),
    );
    await finished;
    const violations: unknown[] = [];
    for (const path of ['/', '/try?tool=send_alert&arguments=5', '/register', `/register/${id}`]) {
      await page.goto(url + path);
      violations.push(...(await violationsOn(page, path, { theme, width })));
    }
    expect(violations).toEqual([]);
  },
);

const hostile = '<img src=x onerror=alert(1)></code></ul></p><script>alert(2)</script>" \u202eevil';

test('a report about a hostile server does no harm, and its links lead somewhere', async () => {
  const { page, url, complaints } = await open({
    list: (good) => () => good().map((tool) => ({ ...tool, name: `get_${hostile}`, description: hostile })),
    result: () => () => resultOf({ [hostile]: hostile }),
  });
  await page.goto(`${url}/check`);
  await page.getByRole('button', { name: 'Run the check' }).click();
  await page.locator('[data-done]').waitFor({ state: 'attached', timeout: 120_000 });
  for (const path of [
    new URL(page.url()).pathname,
    '/check',
    `/check/rules/${encodeURIComponent(hostile)}`,
  ]) {
    await page.goto(url + path);
    await expect.poll(() => page.locator('main img, main script').count()).toBe(0);
  }
  await page.goto(`${url}/check`);
  await expect.poll(() => page.locator('main').innerText()).toContain('<img src=x onerror=alert(1)>');
  const links = page.locator('main a[href^="/try"]');
  const paths = new Set(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href'))));
  expect(paths.size).toBeGreaterThan(0);
  for (const path of paths) expect((await page.goto(`${url}${path}`))?.status()).toBe(200);
  expect(complaints).toEqual([]);
});
