import { existsSync, readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

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
  /** Whether the page may run its script. */
  readonly hasScript?: boolean;
}

/** A page that is closed with its test. Everything that the policy blocks and every exception on the page is an error. */
export async function openPage(
  url: string,
  { width = 1280, theme = 'light', hasScript = true }: View = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    javaScriptEnabled: hasScript,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
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

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Exceptions, policy violations, dialogs, and requests to other origins. */
  readonly complaints: readonly string[];
}

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
}

/** What axe finds on a page, and by how much the page scrolls sideways; empty if all is well. */
export async function violationsOn(page: Page, where: string): Promise<readonly unknown[]> {
  const found = await page.evaluate(
    `${axe}; axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) => violations)`,
  );
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  return [
    ...(found as Violation[]).map(({ id: rule, nodes }) => ({
      where,
      rule,
      at: nodes.map(({ target, failureSummary }) => [target, failureSummary]),
    })),
    ...(overflow > 0 ? [{ where, overflow }] : []),
  ];
}
