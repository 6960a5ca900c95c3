import { readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { developed, views, violationsOn, withBrowser } from './browser.ts';

withBrowser();

async function check(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/check`);
  await page.getByRole('button', { name: 'Run the check' }).click();
  await page.locator('[data-done]').waitFor({ state: 'attached', timeout: 120_000 });
}

const thrown = "throw new Error('the exchange is down')";

test('lists what failed with links to the rule, the line and the failed call, and each link leads somewhere', async () => {
  const { page, url, file, complaints, end } = await developed({
    platform: 'generic',
    change: (source) =>
      source
        .replace('return samples', `if (Date.now() > 0) ${thrown};\n    return samples`)
        .replace(", description: 'Last price in US dollars'", ''),
  });
  await check(page, url);
  await expect.poll(() => page.getByRole('alert').first().innerText()).toContain('The check failed');
  const headings = (await page.locator('h2, summary').allInnerTexts()).map((text) =>
    text.replaceAll(/\d+/g, 'N'),
  );
  expect(headings).toEqual([
    'N rules failed',
    'N warnings',
    'N rules not run',
    'Submission rehearsal',
    'N rules passed',
  ]);
  await expect.poll(() => page.locator('details').getAttribute('open')).toBeNull();

  const paths = await page
    .locator('main a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  const follow = async (path: string | null) => {
    const [status, text] = await page.evaluate<[number, string]>(
      `fetch(${JSON.stringify(path)}).then(async (answer) => [answer.status, await answer.text()])`,
    );
    expect([path, status]).toEqual([path, 200]);
    const [, title = ''] = /<h1>([^<]*)</.exec(text) ?? [];
    const { pathname, searchParams } = new URL(`${url}${path}`);
    if (pathname.startsWith('/check/rules/')) expect(pathname).toBe(`/check/rules/${title}`);
    if (pathname === '/check/source') expect(title).toBe(searchParams.get('file'));
    return pathname.split('/').slice(0, 3).join('/');
  };
  const kinds = await Promise.all([...new Set(paths)].map(follow));
  expect(new Set(kinds)).toEqual(new Set(['/check/rules', '/check/source', '/try']));

  const found = page.locator('.findings > li', { has: page.getByRole('link', { name: 'outcome.found' }) });
  await expect.poll(() => found.innerText()).toContain('the exchange is down');
  const line =
    readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes(thrown)) + 1;
  await found.getByRole('link', { name: `src/tools/get-price.ts:${line}` }).click();
  await page.waitForURL(({ hash }) => hash === `#L${line}`);
  await expect.poll(() => page.locator(`#L${line}[aria-current]`).innerText()).toContain(thrown);
  await page.goBack();
  await found.getByRole('link', { name: 'outcome.found' }).click();
  await expect.poll(() => page.locator('h1').innerText()).toBe('outcome.found');
  await expect.poll(() => page.locator('main').innerText()).toMatch(/Fails[\s\S]*Passes/);
  await page.goBack();
  const empty = page.locator('.findings > li', { has: page.getByRole('link', { name: 'outcome.empty' }) });
  await empty.getByRole('link', { name: 'Try it with these arguments' }).click();
  const [, symbol] = /symbol: '(\w+)' }, expect: 'empty'/.exec(readFileSync(file, 'utf8')) ?? [];
  await expect.poll(() => page.getByLabel('symbol').inputValue()).toBe(symbol);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await expect.poll(() => page.locator('.verdicts').innerText()).toContain('failed');

  const violations: unknown[] = [];
  for (const path of [
    '/check',
    '/check/rules/output.described',
    `/check/source?file=src/tools/get-price.ts&line=${line}`,
  ]) {
    await page.goto(url + path);
    for (const [theme, width] of views) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
      violations.push(...(await violationsOn(page, path, { width, theme })));
    }
  }
  expect(violations).toEqual([]);
  expect(complaints).toEqual([]);
  await end();
});

test('the mark of a passed check goes when the file of a tool changes', async () => {
  const { page, url, file, source, starts, end } = await developed({ platform: 'generic' });
  const step = page.locator('.next li', { has: page.getByRole('link', { name: 'Check', exact: true }) });
  await check(page, url);
  await expect.poll(() => page.getByRole('status').first().innerText()).toContain('The check');
  await page.goto(url);
  await expect.poll(() => step.innerText()).toMatch(/✓[\s\S]*rules passed/);
  writeFileSync(file, `${source}\n// another line\n`);
  await page.reload();
  expect(await step.innerText()).not.toContain('✓');
  await expect.poll(() => step.innerText()).toContain('Your tools have changed since the last check.');
  await starts(2);
  await page.reload();
  expect(await step.innerText()).not.toContain('✓');
  await page.goto(`${url}/check`);
  await expect
    .poll(() => page.getByRole('status').first().innerText())
    .toContain('Your tools have changed since this check');
  await check(page, url);
  await page.goto(url);
  await expect.poll(() => step.innerText()).toContain('✓');
  await end();
});
