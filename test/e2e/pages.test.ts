import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type ApiRequest, type ApiResponse, startApi } from '../api-server.ts';
import {
  bins,
  compile,
  evaluated,
  expectProven,
  repository,
  run,
  scaffold,
  scratch,
  succeeded,
} from './support.ts';
import { answering, openApi } from './upstreams.ts';

const root = scratch();
let total = 120;
let deniedPage: number | undefined;
const asked: string[] = [];
function respond({ target }: ApiRequest): ApiResponse {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  if (pathname.startsWith('/parcels/'))
    return { status: pathname.endsWith('/P0004') ? 200 : 500, body: { state: 'depot' } };
  const page = Number(searchParams.get('page'));
  const size = Number(searchParams.get('per_page'));
  asked.push(`${page} of ${size}`);
  if (page === deniedPage) return { status: 403, body: {} };
  const numbers = Array.from({ length: total }, (_, i) => i + 1).slice((page - 1) * size, page * size);
  const parcels = numbers.map((number) => ({ id: `P${number}`, state: 'depot', weight: 'secret' }));
  return { body: { parcels, next_page: page * size < total ? page + 1 : null, cost: 1 } };
}

const schema = { type: 'object', properties: { next_page: { type: 'integer' } } };
const responses = answering(schema);
const parameters = [{ name: 'page', in: 'query', schema: { type: 'integer' } }];
const paths = {
  '/parcels': { get: { operationId: 'list_parcels', summary: 'Lists parcels.', parameters, responses } },
  '/count': { get: { operationId: 'count_parcels', summary: 'Counts parcels.', responses } },
};

/** The file in docs/source-kit.md that follows a mark. */
function recipe(name: string): string {
  const page = readFileSync(join(repository, 'docs/source-kit.md'), 'utf8');
  const [, text] = new RegExp(`^<!-- recipe: ${name} -->\n\`\`\`ts\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/source-kit.md has no recipe ${name}`);
  return text;
}

let directory: string;
let env: { readonly [name: string]: string };
const market = (...args: string[]) => run(process.execPath, [bins.market, ...args], { cwd: directory, env });

beforeAll(async () => {
  const { origin: url } = await startApi(respond);
  env = { PARCELS_URL: url };
  const place = join(root, 'parcels.json');
  writeFileSync(place, JSON.stringify(openApi(url, 'Parcels', paths)));
  const flags = ['--from-openapi', place, '--operation', 'list_parcels', '--operation', 'count_parcels'];
  ({ directory } = await scaffold(['parcels', ...flags], { cwd: root }));
  for (const name of ['list-parcels', 'count-parcels'])
    writeFileSync(join(directory, `src/tools/${name}.ts`), recipe(name));
  await succeeded(compile(directory));
});

async function called(file: string, args: object): Promise<{ readonly [name: string]: unknown }> {
  asked.length = 0;
  const body = `
    const { default: tool } = await import('./dist/src/tools/${file}.js');
    return callTool(tool, ${JSON.stringify(args)});`;
  return (await evaluated(directory, body, env)).value.structuredContent;
}

it('the recipe with the page as a parameter returns one page and the number of the next one', async () => {
  total = 120;
  const first = await called('list-parcels', {});
  expect(first).toMatchObject({ next_page: 2 });
  expect((first.parcels as unknown[]).at(-1)).toEqual({ id: 'P50', state: 'depot' });
  const last = await called('list-parcels', { page: 3 });
  expect(last).toMatchObject({ next_page: null });
  expect(last.parcels).toHaveLength(20);
  expect(asked).toEqual(['3 of 50']);
});

it('the recipe that collects pages stops at the last page, and at its bound', async () => {
  total = 120;
  expect(await called('count-parcels', {})).toEqual({ count: 120, complete: true });
  expect(asked).toEqual(['1 of 50', '2 of 50', '3 of 50']);
  total = 1_000;
  expect(await called('count-parcels', {})).toEqual({ count: 200, complete: false });
  expect(asked).toEqual(['1 of 50', '2 of 50', '3 of 50', '4 of 50']);
  total = 0;
  expect(await called('count-parcels', {})).toMatchObject({ searchExhausted: true });
});

it('the recipe that collects pages returns no part of the list if a page fails', async () => {
  total = 120;
  deniedPage = 3;
  const answer = await called('count-parcels', {});
  deniedPage = undefined;
  expect(asked).toHaveLength(3);
  expect(answer).toMatchObject({ error: 'SOURCE_REFUSED', count: null });
});

it('the project of both passes its tests and the self-check with the recorded pages', async () => {
  total = 120;
  await succeeded(market('record'));
  await expectProven(directory);
});

it('the recipe that joins requests names the part that failed', async () => {
  const name = 'get-parcel-overview';
  writeFileSync(join(directory, `src/tools/${name}.ts`), recipe(name));
  await succeeded(compile(directory));
  expect(await called(name, { id: 'P0004' })).toEqual({ state: 'depot', others: 0, partial: [] });
  expect(await called(name, { id: 'P9' })).toEqual({ state: null, others: 0, partial: ['state'] });
});
