import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import type { MarketplaceOptions } from '../../src/marketplace/core/marketplace-model.ts';
import { linkOf, pageUrlOf } from '../../src/marketplace/core/page-access.ts';
import { serveMarketplace } from '../../src/marketplace/web/serve.tsx';
import type { Breaks } from '../broken/good-server.ts';
import { generatedProject, market } from '../dev/project.ts';
import { openMarketplace, startServer } from '../marketplace/support.ts';
import { freePort } from '../ports.ts';
import { run } from '../runtime/built.ts';

const candidates = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Options that prevent network requests of the browser itself. */
const offline = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser;

/** Starts one browser for the tests of a file. If there is none, they fail with the command that installs it. */
export function withBrowser(): void {
  beforeAll(async () => {
    const executablePath = process.env.CHROMIUM ?? candidates.find((path) => existsSync(path));
    if (executablePath === undefined) {
      throw new Error(
        'These tests need a browser: apt-get install -y chromium, or set CHROMIUM to its path.',
      );
    }
    browser = await chromium.launch({ executablePath, args: offline });
  });
  afterAll(() => browser?.close());
}

export interface View {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  /** False: JavaScript is off. */
  readonly scripts?: boolean;
}

/** Each theme and each width, once. */
export const views: readonly (readonly ['light' | 'dark', number])[] = [
  ['light', 1280],
  ['dark', 390],
];

/** A page that is closed with its test. Everything that the policy blocks and every exception on the page is an error. */
export async function openPage(
  url: string,
  { width = 1280, theme = 'light', scripts = true }: View = {},
): Promise<Watched> {
  const context = await browser.newContext({
    javaScriptEnabled: scripts,
    viewport: { width, height: 900 },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (401|403|409|422)/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('data:')) {
      complaints.push(`asked elsewhere: ${request.url()}`);
    }
  });
  onTestFinished(() => context.close());
  await page.goto(url);
  return { page, context, complaints };
}

/** A marketplace with the good server, optionally broken, and a page that shows its home. */
export async function openMarket(
  breaks: Breaks = {},
  view: View = {},
  optionsOf: (endpoint: string) => Partial<MarketplaceOptions> = () => ({}),
) {
  const endpoint = await startServer(breaks);
  const marketplace = await openMarketplace({ endpoint, ...optionsOf(endpoint) });
  // A port that no other program is given while a test has closed it.
  const serving = await serveMarketplace(marketplace, await freePort());
  onTestFinished(() => serving.close());
  const watched = await openPage(linkOf(serving), view);
  return { ...watched, endpoint, marketplace, serving, url: pageUrlOf(serving) };
}

export const within = { timeout: 120_000, interval: 200 };

/** `dev` on a new project whose tool is changed first, and a page of the marketplace that it, or `marketplace` beside it, opens. */
export async function developed({
  isApart = false,
  platform = 'context',
  change = (source: string) => source,
} = {}) {
  const project = await generatedProject({
    platform,
    tool: 'get_price',
    description: ['Returns the last price of one coin. Use it when a question names a coin.'],
    input: ['symbol:string=BTC Ticker of the coin'],
    output: ['price:number Last price in US dollars'],
  });
  onTestFinished(() => project.remove());
  const file = join(project.directory, 'src/tools/get-price.ts');
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, change(source));
  const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
  const apart = ['--no-marketplace'];
  const dev = run(project.directory, market, env, ['dev', ...(isApart ? apart : ['--page-port', '0'])]);
  const starts = (count: number) =>
    vi.waitFor(() => {
      const { stdout, stderr } = dev.output;
      expect(stdout.split('"listening"').length - 1, stdout + stderr).toBe(count);
    }, within);
  await starts(1);
  const beside = isApart ? run(project.directory, market, env, ['marketplace', '--page-port', '0']) : dev;
  const address = () => /http:\/\/\w+\.localhost:\d+\/\?secret=\S*/.exec(beside.output.stdout)?.[0];
  const link = await vi.waitUntil(address, within);
  const end = async () => {
    dev.child.kill('SIGINT');
    expect(await dev.exit).toMatchObject({ code: 0 });
  };
  return { ...(await openPage(link)), file, source, starts, url: new URL(link).origin, end };
}

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
}

/** What axe finds on a page, and how far it scrolls sideways. With SCREENSHOTS, a picture of it is kept. */
export async function violationsOn(page: Page, where: string, view: View): Promise<readonly unknown[]> {
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `${axe}; axe.run(document, { runOnly: ${JSON.stringify(tags)} })`,
  );
  const found: unknown[] = violations.map(({ id: rule, nodes }) => {
    const at = nodes.map(({ target, failureSummary }) => [target, failureSummary]);
    return { where, rule, at };
  });
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  const { SCREENSHOTS } = process.env;
  if (SCREENSHOTS) {
    const name = `${where.replaceAll(/[^a-z]+/g, '-')}-${view.theme}-${view.width}.png`;
    await page.screenshot({ path: `${SCREENSHOTS}/${name}`, fullPage: true });
  }
  return overflow > 0 ? [...found, { where, overflow }] : found;
}

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Exceptions, policy violations, dialogs, and requests to other origins. */
  readonly complaints: readonly string[];
}
