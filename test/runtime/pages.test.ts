import { expect, it } from 'vitest';
import { pagingHeaders } from '../../packages/runtime/src/source/pages.ts';
import { replayRecording, writeRecording } from '../../packages/runtime/src/source/recordings.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { directory as newDirectory } from '../project/directory.ts';
import { always, source } from './source-server.ts';

const text = { type: 'string' } as const;
const inputSchema = {
  type: 'object',
  properties: {
    org: text,
    page: { type: 'integer' },
    perPage: { type: 'integer' },
    tags: { type: 'array', items: { type: 'integer' } },
    words: { type: 'array', items: text },
    isOpen: { type: 'boolean' },
    after: text,
  },
  required: [],
} as const;
const schema = {
  type: 'object',
  properties: {
    items: { type: 'array' },
    count: { type: 'integer' },
    next: { type: ['object', 'null'] },
    total: { type: 'integer' },
  },
  required: [],
} as const;
const input = { org: 'a', page: 1, perPage: 2 };

async function paged(headers: object, { body = [] as unknown, output = schema as never } = {}) {
  const { api } = await source(always(body, 200, headers), {
    query: { apikey: new Secret('K', 'k3y-of-query') },
  });
  return api.get('/orgs/{org}/x', {
    params: { org: input.org },
    query: { page: input.page, per_page: input.perPage, format: 'json' },
    styles: { words: 'comma' },
    wrap: 'items',
    schema: output as typeof schema,
    pages: { input, inputSchema, names: { per_page: 'perPage', is_open: 'isOpen', 'tags[]': 'tags' } },
  });
}

it.each([
  [
    'a page',
    '</v1/orgs/a/x?page=2&format=json&per_page=2>; rel="next", </v1/x?page=9>; rel="last"',
    { org: 'a', page: 2, perPage: 2 },
  ],
  [
    'no quotes, other parameters and relations',
    '<?page=1>; rel=prev, <?page=2>; title="a, b"; REL="index NEXT"',
    { org: 'a', page: 2 },
  ],
  ['the key of the source', '<?apikey=k3y-of-query&after=c%2B%20d>; rel="next"', { org: 'a', after: 'c+ d' }],
  [
    'lists and a flag',
    '<?tags[]=1&tags[]=2&words=a,b&is_open=false>; rel="next"',
    { org: 'a', tags: [1, 2], words: ['a', 'b'], isOpen: false },
  ],
  ['another path, as GitHub has it', '</repositories/7/x?page=2>; rel="next"', { org: 'a', page: 2 }],
])('a link with %s is the arguments of the next page', async (_, link, next) => {
  expect(await paged({ link })).toEqual({ items: [], count: 0, next });
});

it.each([
  ['to another origin', '<https://evil.example/?page=2>; rel="next"'],
  ['with a parameter that is no input', '<?page=2&cursor=x>; rel="next"'],
  ['with a value of another type', '<?page=two>; rel="next"'],
  ['with a value twice', '<?page=2&page=3>; rel="next"'],
  ['to the same page', '<?page=1&per_page=2>; rel="next"'],
  ['to the previous page', '<?page=0>; rel="prev"'],
  ['that is none', 'page=2; rel=next'],
])('a link %s gives null', async (_, link) => {
  expect(await paged({ link })).toEqual({ items: [], count: 0, next: null });
});

it('the number of the next page and the total may be headers of their own', async () => {
  const headers = { 'x-next-page': '2', 'X-Total-Count': '812' };
  expect(await paged(headers)).toEqual({ items: [], count: 0, next: { ...input, page: 2 }, total: 812 });
  expect(await paged({ 'x-next-page': '', 'x-total': 'many' })).toEqual({ items: [], count: 0, next: null });
});

it('an answer keeps a next and a total of its own, and gets none that its schema does not declare', async () => {
  const link = '<?page=2>; rel="next"';
  const { next: _, total: __, ...properties } = schema.properties;
  expect(await paged({ link, 'x-total': '3' }, { output: { ...schema, properties } as never })).toEqual({
    items: [],
    count: 0,
  });
  const body = { next: null, total: 5 };
  expect(await paged({ link, 'x-total': '3' }, { body })).toEqual(body);
});

it('recordings keep the headers without host and keys, and replay gives them', () => {
  const directory = newDirectory();
  const url = new URL('https://api.example/v1/x?page=1&key=s3cret');
  const link = '<https://api.example/v1/x?page=2&key=s3cret&by=Bearer%20my-token-1>; rel="next"';
  const headers = pagingHeaders(new Headers({ link, 'x-total-count': '9', 'set-cookie': 'a=b' }), url, [
    'key',
  ]);
  const asked = { method: 'get', path: '/x' };
  writeRecording(asked, { status: 200, text: '[]', headers }, ['my-token-1'], directory);
  expect(replayRecording(asked, directory).headers).toEqual({
    link: expect.stringMatching(/^<\?page=2&by=(?:(?!my-token).)*>; rel="next"$/),
    'x-total-count': '9',
  });
});
