import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { running, type ServerState } from '../../src/dev/state.ts';
import type { ListingForm, MarketplaceOptions } from '../../src/marketplace/core/marketplace-model.ts';
import { JobPage } from '../../src/marketplace/pages/job.tsx';
import type { Breaks } from '../broken/good-server.ts';
import { checking, directory, formFor, openMarketplace, serveHere, startServer } from './support.ts';

/** A served marketplace of the good server with changes. */
async function open(
  breaks: Breaks = {},
  options: (endpoint: string) => Partial<MarketplaceOptions> = () => ({}),
) {
  const endpoint = await startServer(breaks);
  const marketplace = await openMarketplace({ endpoint, ...options(endpoint) });
  const { url, secret } = await serveHere(marketplace);
  const headers = { authorization: `Bearer ${secret}`, origin: url };
  const page = async (path: string) => (await fetch(url + path, { headers })).text();
  const json = async (path: string) => (await fetch(`${url}${path}`, { headers })).json();
  const post = (path: string, fields: Record<string, string>) =>
    fetch(url + path, { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' });
  /** Submits a form as a browser does. @returns the page of the submission that has ended. */
  const submit = async (form: ListingForm) => {
    const place = (await post('/register', { ...form })).headers.get('location') ?? '';
    const ended = async () => ((await json(`${place}.json`)) as { state: string }).state;
    await expect.poll(ended).toBe('done');
    return page(place);
  };
  return { endpoint, page, json, post, submit };
}

/** The text of a page without its tags, one line. */
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

const changed = (change: (tool: JsonObject) => JsonObject): Breaks => ({
  list: (good) => () => good().map((tool) => (tool.name === 'get_price' ? change(tool) : tool)),
});

/** What the form on a page contains. */
function fieldsOf(html: string): Record<string, string> {
  const inputs = [...html.matchAll(/<input name="(\w+)"[^>]* value="([^"]*)"/g)];
  const [, text = ''] = /<textarea name="description"[^>]*>\n([^<]*)</.exec(html) ?? [];
  const [, category = ''] = /<option value="([^"]*)" selected/.exec(html) ?? [];
  const entries = [
    ...inputs.map(([, name, value]) => [name, value]),
    ['description', text],
    ['category', category],
  ];
  return Object.fromEntries(entries);
}

const typed = {
  name: 'Typed name',
  description: 'What was typed',
  category: 'Developer Tools',
  price: '0.25',
};

test('the form keeps what was entered: after an error, when it is opened again, and for browsers alone', async () => {
  const { endpoint, page, json, post } = await open();
  const answer = await post('/register', { ...typed, price: 'much', endpoint });
  expect(answer.status).toBe(422);
  expect(fieldsOf(await answer.text())).toEqual({ ...typed, price: 'much', endpoint });
  expect(fieldsOf(await page('/register'))).toEqual({ ...typed, price: 'much', endpoint });
  expect(await json('/register.json')).toMatchObject({ form: { name: '', price: '0.01', endpoint } });
  const foreign = await post('/register', { ...typed, endpoint: 'ftp://127.0.0.1/mcp' });
  expect(textOf(await foreign.text())).toContain('Expected a URL such as https://tools.example/mcp');
});

test('the form keeps what was entered after a failed submission, and is empty again after an accepted one', async () => {
  let isBroken = true;
  const { endpoint, page, submit } = await open({
    list: (good) => () =>
      isBroken ? good().map((tool) => ({ ...tool, outputSchema: { type: 'array' } })) : good(),
  });
  const html = await submit({ ...typed, endpoint });
  expect(textOf(html)).toContain('Rejected: Tool definitions');
  expect(html).toMatch(/<a [^>]*href="\/register"[^>]*>Back to the form/);
  expect(fieldsOf(await page('/register'))).toEqual({ ...typed, endpoint });
  isBroken = false;
  expect(textOf(await submit({ ...typed, endpoint }))).toContain('Accepted: Typed name is listed');
  expect(fieldsOf(await page('/register'))).toMatchObject({ name: '', description: '', price: '0.01' });
});

test('the form keeps what was entered when the server is down, and the page says why', async () => {
  let state: ServerState | undefined;
  const { endpoint, post } = await open({}, () => ({ state: async () => state ?? running('') }));
  state = {
    ...running(endpoint),
    kind: 'ended',
    message: 'The server ended with code 3.',
    hint: 'Save a file.',
  };
  const answer = await post('/register', { ...typed, endpoint });
  expect(answer.status).toBe(422);
  const html = await answer.text();
  expect(fieldsOf(html)).toEqual({ ...typed, endpoint });
  expect(textOf(html)).toContain('The server ended with code 3.');
  expect(textOf(html)).toContain('The form was not submitted Your server does not run.');
});

test('the step that failed comes first, with its rule, and the passed ones below', async () => {
  const { endpoint, submit } = await open(
    changed((tool) => ({ ...tool, outputSchema: { type: 'array', items: {} } })),
  );
  const html = await submit(formFor(endpoint));
  const text = textOf(html);
  const at = (words: string) => {
    expect(text).toContain(words);
    return text.indexOf(words);
  };
  expect(at('Rejected: Tool definitions')).toBeLessThan(at('passed The form'));
  expect(at('passed The form')).toBeLessThan(at('passed Discovery'));
  expect(at('get_price · outputSchema.type')).toBeLessThan(at('passed The form'));
  expect(html).toContain('href="/check/rules/output.object-root"');
  expect(text.match(/Tool definitions/g)).toHaveLength(1);
});

test('a call that fails the submission test has links to its source and to the same call', async () => {
  const { endpoint, submit, page } = await open(
    {
      result: (good) => (outcome, tool) => ({
        ...good(outcome, tool),
        content: [{ type: 'text', text: 'about 64000' }],
      }),
    },
    () => ({ sources: new Map([['get_price', 'src/tools/get-price.ts']]) }),
  );
  const html = await submit(formFor(endpoint));
  expect(textOf(html)).toContain(
    'Rejected: Submission test get_price called with {"symbol":"BTC"}'.replaceAll('"', '&quot;'),
  );
  expect(html).toContain('href="/check/source?file=src%2Ftools%2Fget-price.ts"');
  const [, path = ''] = /href="(\/try\?tool=get_price[^"]*)"/.exec(html) ?? [];
  expect(await page(path.replaceAll('&amp;', '&'))).toMatch(/name="arg.symbol"[^>]* value="BTC"/);
});

test('thirty equal warnings are one, with the places folded', async () => {
  const names = Array.from({ length: 30 }, (_, at) => `field_${at}`);
  const bare = Object.fromEntries(names.map((name) => [name, { type: ['string', 'null'] }]));
  const { endpoint, submit } = await open(
    changed(({ outputSchema, ...tool }) => {
      const { properties, ...schema } = outputSchema as { properties: JsonObject };
      return { ...tool, outputSchema: { ...schema, properties: { ...properties, ...bare } } };
    }),
  );
  const html = await submit(formFor(endpoint));
  expect(html.match(/href="\/check\/rules\/output.described"/g)).toHaveLength(1);
  const [, open_ = '', folded = ''] =
    /get_price · 30 places<\/p>(.*?)<details>(.*?)<\/details>/s.exec(html) ?? [];
  expect(open_.match(/<li>/g)).toHaveLength(3);
  expect(folded).toContain('27 more places');
  expect(folded.match(/<li>/g)).toHaveLength(27);
  expect(textOf(html).match(/Describe what the field means/g)).toHaveLength(1);
});

test('without a project, the mark of a passed check goes when the list of tools changes', async () => {
  let more: JsonObject = {};
  const { json, post } = await open(
    changed((tool) => ({ ...tool, ...more })),
    checking,
  );
  expect((await post('/check.json', {})).status).toBe(200);
  expect(await json('/index.json')).toMatchObject({ lastCheck: { isCurrent: true } });
  more = { title: 'Another title' };
  expect(await json('/index.json')).toMatchObject({ lastCheck: { isCurrent: false } });
});

test('a check of the last good build is no verdict on code that does not compile', async () => {
  const state = { ...running(''), kind: 'old-build', message: 'The code does not compile.' } as const;
  const { page, json, post } = await open({}, (endpoint) => ({
    ...checking(endpoint),
    state: async () => state,
    version: () => 'the sources',
  }));
  expect((await post('/check.json', {})).status).toBe(200);
  expect(await json('/index.json')).toMatchObject({ lastCheck: { isCurrent: false } });
  expect(textOf(await page('/check'))).toContain('Your tools have changed since this check');
});

const asked = (args: unknown) => `/try?tool=get_price&arguments=${encodeURIComponent(JSON.stringify(args))}`;

test.each([
  [{ symbol: 'ETH', currency: 'EUR' }, false],
  [{ symbol: '' }, false],
  // What a field would change: a number becomes text, an unknown choice another one, a line break a blank; or leave out.
  [{ symbol: 5 }, true],
  [{ symbol: 'ETH', currency: 'CHF' }, true],
  [{ symbol: 'E\nTH' }, true],
  [{ symbol: 'ETH', more: 1 }, true],
  [{}, true],
  ['text', true],
])('Try it sends %j as they are, as other JSON where a field would change them: %s', async (args, isJson) => {
  const { page } = await open();
  const html = await page(asked(args));
  const [, json = ''] = /<textarea name="json"[^>]*>\n?([^<]*)</.exec(html) ?? [];
  expect(json === '' ? null : JSON.parse(json.replaceAll('&quot;', '"'))).toEqual(isJson ? args : null);
  expect(/<details open[^>]*><summary>Send other JSON instead/.test(html)).toBe(isJson);
});

test('shows sources of the project alone: no other file, nothing behind a link, and the lines around the named one', async () => {
  const place = directory();
  mkdirSync(join(place, 'src/tools'), { recursive: true });
  writeFileSync(join(place, 'secret.ts'), 'hidden text');
  writeFileSync(join(place, 'src/.env'), 'hidden text');
  symlinkSync(join(place, 'secret.ts'), join(place, 'src/link.ts'));
  const lines = Array.from({ length: 3_000 }, (_, at) => `// line ${at + 1} <b>`);
  writeFileSync(join(place, 'src/tools/long.ts'), lines.join('\n'));
  const { page } = await open({}, () => ({ directory: place, sources: new Map() }));
  const others = [
    '../secret.ts',
    'src/../secret.ts',
    'src/link.ts',
    'src/.env',
    'secret.ts',
    '/etc/passwd',
    'src/no.ts',
  ];
  for (const file of others) {
    const html = await page(`/check/source?file=${encodeURIComponent(file)}`);
    expect([file, html.includes('hidden text') || html.includes('root:'), html.includes('<ol')]).toEqual([
      file,
      false,
      false,
    ]);
  }
  const html = await page('/check/source?file=src/tools/long.ts&line=2000');
  expect(html).toMatch(/<li id="L2000" class="now" aria-current="true"><code>\/\/ line 2000 &lt;b&gt;</);
  expect(html.match(/<li id="L/g)).toHaveLength(1_001);
  writeFileSync(join(place, 'src/tools/wide.ts'), `const a = '${'x'.repeat(5_000_000)}';\nexport {};\n`);
  const wide = await page('/check/source?file=src/tools/wide.ts');
  expect(wide.length).toBeLessThan(100_000);
  expect(wide).toContain('xxx … and 4998013 more characters');
  expect(wide).toContain('<code>export {};</code>');
  expect(wide).toContain('The ends of long lines are left out.');
  expect(html).not.toContain('The ends of long lines');
  const unknown = textOf(await page('/check/rules/gate.no-tokn'));
  expect(unknown).toContain('Did you mean gate.no-token?');
});

test('without a project there are no sources', async () => {
  const { page } = await open();
  expect(textOf(await page('/check/source?file=src/main.ts'))).toContain('there is no source');
});

test('a screen reader hears the end of a job, not each of its steps', () => {
  const job = { id: 'a', kind: 'check', title: 'Check', steps: [], result: null, error: null } as const;
  expect(String(JobPage({ job: { ...job, state: 'running' } }))).toContain('aria-busy="true"');
  expect(String(JobPage({ job: { ...job, state: 'done' } }))).not.toContain('aria-busy');
});

test('home ends with the steps to go live and the fields of the form to copy', async () => {
  const draft = { name: 'Gas', description: 'Gas: one tool.\n\nFeatures:\n- Returns the gas price.' };
  const { endpoint, page, submit } = await open({}, () => ({ draft }));
  const fieldsToCopy = (html: string) =>
    [...html.matchAll(/<pre id="live-(\w+)"[^>]*>([^<]*)</g)].map(([, name, text]) => [name, text]);
  const html = await page('/');
  const text = textOf(html);
  expect(text.indexOf('Go live')).toBeGreaterThan(text.indexOf('list_coins'));
  expect(text).toMatch(/Go live 1 Deploy .*npx market-mcp deploy add .* 2 Register .* 3 Refresh Skills /);
  expect(html).toContain('href="https://ctxprotocol.com/contribute"');
  expect(fieldsToCopy(html)).toEqual([
    ['name', draft.name],
    ['description', draft.description],
    ['category', 'Other'],
    ['price', '0.01'],
  ]);
  await submit(formFor(endpoint, { price: '0.25' }));
  const listedFields = Object.fromEntries(fieldsToCopy(await page('/')));
  expect(listedFields).toMatchObject({ name: 'Coin prices', price: '0.25' });
});

test('disputes lists only calls that can be disputed, with their arguments', async () => {
  const { endpoint, page, post, submit } = await open();
  const call = async (fields: Record<string, string>) => {
    const html = await (await post('/try', { tool: 'get_price', 'arg.symbol': 'BTC', ...fields })).text();
    return { html, id: /\/traffic\/(\d+)/.exec(html)?.[1] ?? '' };
  };
  const optionsOf = (html: string) => [...html.matchAll(/<option value="(\d+)">([^<]*)</g)];
  const unlisted = await call({});
  expect(unlisted.html).not.toContain('action="/disputes"');
  expect(optionsOf(await page('/disputes'))).toEqual([]);
  await submit(formFor(endpoint));
  const refused = await call({ deliberate: 'no-token' });
  const paid = await call({ 'arg.symbol': 'ETH' });
  expect(paid.html).toContain('action="/disputes"');
  const options = new Map(optionsOf(await page('/disputes')).map(([, id, text]) => [id, text]));
  expect(options.has(refused.id)).toBe(false);
  expect(options.get(paid.id)).toContain('get_price {&quot;symbol&quot;:&quot;ETH&quot;');
  const answer = await post('/disputes.json', { call: refused.id });
  expect(await answer.json()).toMatchObject({ error: { code: 'NOT_DISPUTABLE' } });
  await post('/disputes', { call: paid.id });
  const html = await page('/disputes');
  expect(optionsOf(html).map(([, id]) => id)).not.toContain(paid.id);
  expect(textOf(html)).toMatch(/get_price \{&quot;symbol&quot;:&quot;ETH&quot;.*#\d+/);
  expect(await page(`/traffic/${paid.id}`)).not.toContain('Dispute this call');
});
