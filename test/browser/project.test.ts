import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { developed, withBrowser, within } from './browser.ts';

withBrowser();

test('leads from a new project to a listing with the mouse: dev, try, change, check, register, refresh', async () => {
  const { page, complaints, starts, file, source, end } = await developed();
  const main = () => page.locator('main').innerText();

  await expect.poll(() => main()).toContain('Edit src/tools/get-price.ts');
  await page.getByRole('link', { name: 'Try get_price' }).click();
  await page.getByRole('button', { name: 'Call get_price' }).click();
  expect((await page.locator('.verdicts').innerText()).match(/matches/g)).toHaveLength(3);

  const thrown = "throw new Error('the exchange is down')";
  const lines = source.replace('return samples', `if (Date.now() > 0) ${thrown};\n    return samples`);
  const line = lines.split('\n').findIndex((text) => text.includes(thrown)) + 1;
  writeFileSync(file, lines);
  await starts(2);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await page.locator('.verdicts', { hasText: 'failed' }).waitFor();
  await page.getByRole('link', { name: 'See the request' }).click();
  const written = page.locator('section', { hasText: 'What the server wrote during this request' });
  await expect.poll(() => written.innerText()).toContain('the exchange is down');
  await expect.poll(() => written.innerText()).toContain(`src/tools/get-price.ts:${line}:`);
  writeFileSync(file, source);
  await starts(3);

  await page.getByRole('link', { name: 'Check', exact: true }).click();
  await page.getByRole('button', { name: 'Run the check' }).click();
  await page.locator('[data-done]').waitFor({ state: 'attached', timeout: 120_000 });
  await expect.poll(() => page.getByRole('status').first().innerText()).toContain('The check passed');

  await page.getByRole('link', { name: 'Register', exact: true }).click();
  await page.getByLabel('Category').selectOption('Financial Markets');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.locator('[data-done]').waitFor({ state: 'attached' });
  await expect.poll(() => page.getByRole('status').first().innerText()).toContain('Accepted');

  writeFileSync(file, source.replace("name: 'get_price'", "name: 'get_latest_price'"));
  await starts(4);
  await page.getByRole('navigation').getByRole('link', { name: 'My tools', exact: true }).click();
  await page.getByRole('button', { name: 'Refresh Skills' }).click();
  await expect.poll(() => main()).toContain('is refreshed');
  expect(complaints).toEqual([]);
  await end();
});

test('open pages follow the server: why it is down, its new tools, a check; what was entered stays', async () => {
  const { page: home, context, complaints, url: origin, file, source, end } = await developed();
  const [attempt, check] = [await context.newPage(), await context.newPage()];
  await attempt.goto(`${origin}/try`);
  await check.goto(`${origin}/check`);
  await attempt.getByLabel('symbol').fill('DOGE');
  await attempt.getByLabel('Call as').selectOption({ label: 'Expired token' });
  const pages = [home, attempt, check];
  for (const page of pages) await page.evaluate('window.stayed = true');

  writeFileSync(file, `${source}\nthrow new RangeError('no table of coins');\n`);
  const line = source.split('\n').length + 1;
  for (const page of pages) {
    const overlay = page.getByRole('dialog');
    await overlay.getByText('RangeError: no table of coins').waitFor({ timeout: within.timeout });
    const text = await overlay.innerText();
    expect(text).toContain('The server cannot start: an error is thrown while its code is loaded.');
    expect(text).toContain(`Correct src/tools/get-price.ts:${line}.`);
  }
  const currency =
    "currency: { type: 'string', description: 'The currency', default: 'USD' },\n    symbol: {";
  writeFileSync(
    file,
    source.replace('symbol: {', currency).replace('Returns the last', 'Returns the newest'),
  );
  for (const page of pages)
    await page.getByRole('dialog').waitFor({ state: 'detached', timeout: within.timeout });
  await home.getByText('Returns the newest price of one coin.').waitFor();
  await attempt.getByLabel('currency').waitFor();
  await expect.poll(() => attempt.getByLabel('currency').inputValue()).toBe('USD');
  await expect.poll(() => attempt.getByLabel('symbol').inputValue()).toBe('DOGE');
  await expect.poll(() => attempt.getByLabel('Call as').inputValue()).toBe('expired');
  await attempt.getByRole('button', { name: 'Call get_price' }).click();
  await attempt.getByText('The server answered correctly').waitFor();
  await home.getByText('last call: refused').waitFor();

  const other = await context.newPage();
  await other.goto(`${origin}/check`);
  await other.getByRole('button', { name: 'Run the check' }).click();
  await home.getByText(/\d+ rules (?:passed|failed)/).waitFor({ timeout: within.timeout });
  await check.getByRole('heading', { name: 'Last check' }).waitFor();
  await expect.poll(() => check.locator('main').innerText()).toContain('The check');
  for (const page of pages) expect(await page.evaluate('window.stayed')).toBe(true);
  expect(complaints).toEqual([]);
  await end();
});

test('a page of a marketplace beside another dev follows the server of that dev', async () => {
  const { page, complaints, file, source, end } = await developed({ isApart: true });
  await page.evaluate('window.stayed = true');
  writeFileSync(file, `${source}\nthrow new RangeError('no table of coins');\n`);
  await page
    .getByRole('dialog')
    .getByText('RangeError: no table of coins')
    .waitFor({ timeout: within.timeout });
  writeFileSync(file, source.replace('Returns the last', 'Returns the newest'));
  await page.getByText('Returns the newest price').waitFor({ timeout: within.timeout });
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  expect(await page.evaluate('window.stayed')).toBe(true);
  expect(complaints).toEqual([]);
  await end();
});
