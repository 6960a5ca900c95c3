import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { generatedProject, market } from '../dev/project.ts';
import { freePort, run } from '../runtime/built.ts';
import { openPage, withBrowser } from './browser.ts';

withBrowser();

const within = { timeout: 120_000, interval: 200 };

/** `dev` on a new project, and the link of the marketplace that it or `marketplace` opens. */
async function develop(...flags: readonly string[]) {
  const project = await generatedProject({
    platform: 'context',
    tool: 'get_price',
    description: ['Returns the last price of one coin. Use it when a question names a coin.'],
    input: ['symbol:string=BTC Ticker of the coin'],
    output: ['price:number Last price in US dollars'],
  });
  onTestFinished(() => project.remove());
  const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
  const dev = run(project.directory, market, env, ['dev', ...flags]);
  const { output } = dev;
  await vi.waitUntil(() => output.stdout.includes('listening'), within);
  const isApart = flags.includes('--no-marketplace');
  const beside = isApart ? run(project.directory, market, env, ['marketplace', '--port', '0']) : dev;
  const address = () => /http:\/\/\w+\.localhost:\d+\/\?secret=\S*/.exec(beside.output.stdout)?.[0];
  const link = await vi.waitUntil(address, within);
  const file = join(project.directory, 'src/tools/get-price.ts');
  return { ...dev, link, file, source: readFileSync(file, 'utf8') };
}

test('leads from a new project to a listing with the mouse: dev, try, change, check, register, refresh', async () => {
  const { child, exit, output, link, file, source } = await develop('--port', '0');
  const { page, complaints } = await openPage(link);
  const main = () => page.locator('main').innerText();

  await expect.poll(() => main()).toContain('Edit src/tools/get-price.ts');
  await page.getByRole('link', { name: 'Try get_price' }).click();
  await page.getByRole('button', { name: 'Call get_price' }).click();
  expect((await page.locator('.verdicts').innerText()).match(/matches/g)).toHaveLength(3);

  const thrown = "throw new Error('the exchange is down')";
  const lines = source.replace(
    'signal.throwIfAborted();',
    `signal.throwIfAborted();\n    if (Date.now() > 0) ${thrown};`,
  );
  const line = lines.split('\n').findIndex((text) => text.includes(thrown)) + 1;
  const starts = () => output.stdout.split('"listening"').length - 1;
  writeFileSync(file, lines);
  await vi.waitUntil(() => starts() === 2, within);
  await page.getByRole('button', { name: 'Call get_price' }).click();
  await page.locator('.verdicts', { hasText: 'failure of the tool' }).waitFor();
  await page.getByRole('link', { name: 'See the request' }).click();
  const written = page.locator('section', { hasText: 'What the server wrote during this request' });
  await expect.poll(() => written.innerText()).toContain('the exchange is down');
  await expect.poll(() => written.innerText()).toContain(`src/tools/get-price.ts:${line}:`);
  writeFileSync(file, source);
  await vi.waitUntil(() => starts() === 3, within);

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
  await vi.waitUntil(() => starts() === 4, within);
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Ask' }).waitFor();
  expect(await main()).not.toContain('get_latest_price');
  await page.getByRole('link', { name: 'My tools', exact: true }).click();
  await page.getByRole('button', { name: 'Refresh Skills' }).click();
  await expect.poll(() => main()).toContain('is refreshed');
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await expect.poll(() => main()).toContain('get_latest_price');
  expect(complaints).toEqual([]);
  child.kill('SIGINT');
  expect(await exit).toMatchObject({ code: 0 });
});

test('open pages follow the server: why it is down, its new tools, a check; what was entered stays', async () => {
  const { child, exit, link, file, source } = await develop('--port', '0');
  const { page: home, context, complaints } = await openPage(link);
  const { origin } = new URL(link);
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

  const [other] = [await context.newPage()];
  await other.goto(`${origin}/check`);
  await other.getByRole('button', { name: 'Run the check' }).click();
  await home.getByText(/\d+ rules (?:passed|failed)/).waitFor({ timeout: within.timeout });
  await check.getByRole('heading', { name: 'Last check' }).waitFor();
  await expect.poll(() => check.locator('main').innerText()).toContain('The check');
  for (const page of pages) expect(await page.evaluate('window.stayed')).toBe(true);
  expect(complaints).toEqual([]);
  child.kill('SIGINT');
  expect(await exit).toMatchObject({ code: 0 });
});

test('a page of a marketplace beside another dev follows the server of that dev', async () => {
  const { child, exit, link, file, source } = await develop('--no-marketplace');
  const { page, complaints } = await openPage(link);
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
  child.kill('SIGINT');
  expect(await exit).toMatchObject({ code: 0 });
});
