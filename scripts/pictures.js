import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

// Renews docs/images: a real project, its `dev`, and the pages of its marketplace in Chromium (CHROMIUM=<path>).
// npm run docs pictures

const repository = resolve(import.meta.dirname, '..');
const images = join(repository, 'docs/images');
const bin = (/** @type {string} */ name) => join(repository, `bin/${name}.js`);

const text = (name, description, more = {}) => ({
  name,
  type: 'string',
  required: true,
  description,
  ...more,
});
const flight = [
  text('number', 'Number of the flight.'),
  text('departs', 'Time of the departure.', { format: 'date-time' }),
  { name: 'price', type: 'number', required: true, description: 'Price in US dollars.' },
];
const tools = [
  {
    name: 'search_flights',
    description:
      'Returns the cheapest flights between two airports on one day. Use it when a question names where from, where to and when.',
    input: [
      text('from', 'Airport code of the departure.', { examples: ['OSL'] }),
      text('to', 'Airport code of the arrival.', { examples: ['JFK'] }),
      { name: 'direct', type: 'boolean', default: false, description: 'Only flights without a stop.' },
    ],
    output: [
      {
        ...{
          name: 'flights',
          type: 'array',
          required: true,
          description: 'The flights, the cheapest first.',
        },
        items: { type: 'object', fields: flight },
      },
    ],
  },
  {
    name: 'book_flight',
    description:
      'Returns the booking of one flight. Use it when somebody wants to book a flight by its number.',
    input: [text('number', 'Number of the flight.', { examples: ['DY 7001'] })],
    output: [text('booking', 'Code of the booking.', { examples: ['K7QX2P'] })],
    effect: 'acts',
  },
  {
    name: 'get_airport',
    description:
      'Returns name, city and time zone of one airport. Use it when a question names an airport by its code.',
    input: [text('code', 'Airport code.', { examples: ['OSL'] })],
    output: [
      text('name', 'Name of the airport.', { examples: ['Gardermoen'] }),
      text('city', 'City of the airport.', { examples: ['Oslo'] }),
    ],
  },
];
const flights = [
  { number: 'DY 7001', departs: '2026-12-01T09:15:00Z', price: 389 },
  { number: 'SK 907', departs: '2026-12-01T10:05:00Z', price: 412.5 },
  { number: 'FI 319', departs: '2026-12-01T13:20:00Z', price: 455 },
];

const directory = mkdtempSync(join(tmpdir(), 'pictures-'));
const project = join(directory, 'flight-tools');
try {
  create();
  const { child, link } = await develop();
  try {
    await take(link);
  } finally {
    child.kill('SIGINT');
    await once(child, 'close');
  }
} finally {
  rmSync(directory, { recursive: true });
}

/** The project: its first tool answers with the flights, its last one fails. */
function create() {
  const spec = join(directory, 'tools.json');
  writeFileSync(spec, JSON.stringify({ tools }));
  const flags = ['flight-tools', '--yes', '--platform', 'context', '--spec', spec, '--no-git'];
  execFileSync(process.execPath, [bin('create-market-mcp'), ...flags], { cwd: directory, stdio: 'inherit' });
  edit('search-flights', /^samples\.set\(.*/ms, `samples.set('OSL', ${JSON.stringify({ flights })});\n`);
  edit(
    'get-airport',
    'return samples',
    "if (Date.now() > 0) throw new Error('the directory of airports is down');\n    return samples",
  );
}

function edit(name, from, to) {
  const file = join(project, `src/tools/${name}.ts`);
  const source = readFileSync(file, 'utf8');
  const edited = source.replace(from, to);
  if (edited === source) throw new Error(`${file} does not contain ${from}`);
  writeFileSync(file, edited);
}

/** Starts `dev`. @returns its process, and the link of the marketplace once the server listens. */
async function develop() {
  const env = { ...process.env, PORT: '3412' };
  const child = spawn(process.execPath, [bin('market-mcp'), 'dev', '--page-port', '0'], {
    cwd: project,
    env,
  });
  let link = '';
  for await (const line of createInterface(child.stdout)) {
    link ||= /http:\S+secret=\S+/.exec(line)?.[0] ?? '';
    if (line.includes('"listening"')) return { child, link };
  }
  throw new Error('the server did not start');
}

async function take(link) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    const { origin } = new URL(link);
    const save = async (name, colorScheme = 'light', height = 720) => {
      await page.setViewportSize({ width: 1280, height });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(images, `marketplace-${name}.png`) });
    };
    const done = () => page.locator('[data-done]').waitFor({ state: 'attached', timeout: 120_000 });
    await page.goto(link);
    await page.goto(`${origin}/try?tool=search_flights`);
    await page.getByRole('button', { name: 'Call search_flights' }).click();
    await page.locator('.verdicts').waitFor();
    await save('try', 'light', 800);
    await page.goto(origin);
    await save('home');
    await page.goto(`${origin}/check`);
    await page.getByRole('button', { name: 'Run the check' }).click();
    await done();
    await page.goto(`${origin}/check`);
    await save('check');
    await page.goto(`${origin}/register`);
    await page.getByLabel('Category').selectOption('Real World');
    await page.getByRole('button', { name: 'Submit' }).click();
    await done();
    await save('register', 'dark', 800);
  } finally {
    await browser.close();
  }
}
