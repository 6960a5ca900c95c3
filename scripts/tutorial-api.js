import { createServer } from 'node:http';

// The API of docs/tutorial.md: exchange rates against the euro, and the OpenAPI document that describes them.
// node scripts/tutorial-api.js [--port <port>]
// It requires a key as `x-api-key`, limits the requests of each key, and listens on loopback only.

import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string', default: '4600' } } });
const url = `http://127.0.0.1:${values.port}`;

/** Requests that each key may send in a minute. */
const limits = new Map([
  ['demo-key', 60],
  ['trial-key', 1],
]);

const currencies = [
  { code: 'EUR', name: 'Euro', number: 978, decimals: 2, per_euro: 1 },
  { code: 'USD', name: 'US dollar', number: 840, decimals: 2, per_euro: 1.0843 },
  { code: 'GBP', name: 'Pound sterling', number: 826, decimals: 2, per_euro: 0.8391 },
  { code: 'CHF', name: 'Swiss franc', number: 756, decimals: 2, per_euro: 0.9412 },
  { code: 'JPY', name: 'Yen', number: 392, decimals: 0, per_euro: 164.27 },
];
const pageSize = 3;
const date = '2026-11-20';

const code = (example, description) => ({
  schema: { type: 'string', pattern: '^[A-Z]{3}$' },
  description,
  example,
  required: true,
});
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Rates', version: '1.0.0', description: 'Each key has a limit of requests a minute.' },
  servers: [{ url }],
  security: [{ key: [] }],
  paths: {
    '/currencies': {
      get: {
        operationId: 'listCurrencies',
        summary: 'List the currencies that have a rate.',
        parameters: [
          {
            name: 'page',
            in: 'query',
            schema: { type: 'integer', minimum: 1, default: 1 },
            description: 'Number of the page',
          },
        ],
        responses: {
          200: {
            description: 'A page of currencies.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['currencies', 'next_page'],
                  properties: {
                    currencies: {
                      type: 'array',
                      description: `Up to ${pageSize} currencies`,
                      items: {
                        type: 'object',
                        required: ['code', 'name', 'number', 'decimals', 'per_euro'],
                        properties: {
                          code: { type: 'string', description: 'Code of the currency' },
                          name: { type: 'string', description: 'Name of the currency' },
                          number: { type: 'integer', description: 'Number of the currency in ISO 4217' },
                          decimals: { type: 'integer', description: 'Decimal places of an amount' },
                          per_euro: { type: 'number', description: 'Units for one euro' },
                        },
                      },
                    },
                    next_page: {
                      type: ['integer', 'null'],
                      description: 'The page to ask for next; null after the last one',
                    },
                  },
                },
                example: pageOf(1),
              },
            },
          },
          404: { description: 'There is no such page.' },
        },
      },
    },
    '/rates/{base}': {
      get: {
        operationId: 'getRate',
        summary: 'Get the reference rate of two currencies.',
        parameters: [
          { name: 'base', in: 'path', ...code('EUR', 'Currency that one unit is taken of') },
          { name: 'quote', in: 'query', ...code('USD', 'Currency that the rate is stated in') },
        ],
        responses: {
          200: {
            description: 'The rate.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['base', 'quote', 'rate', 'date'],
                  properties: {
                    base: { type: 'string', description: 'Currency that one unit is taken of' },
                    quote: { type: 'string', description: 'Currency that the rate is stated in' },
                    rate: {
                      type: 'number',
                      description: 'Units of the quote currency for one unit of the base',
                    },
                    date: { type: 'string', format: 'date', description: 'Day of the rate' },
                  },
                },
                example: { base: 'EUR', quote: 'USD', rate: 1.1, date: '2026-01-02' },
              },
            },
          },
          404: { description: 'A currency has no rate.' },
        },
      },
    },
  },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
};

/** @param {number} page from 1 */
function pageOf(page) {
  const end = Math.max(0, page * pageSize);
  return {
    currencies: currencies.slice(end - pageSize, end),
    next_page: end < currencies.length ? page + 1 : null,
  };
}

/** When the requests of each key came, in milliseconds. @type {Map<string, readonly number[]>} */
const requests = new Map();

/** @param {string} key one with a limit */
function isOverLimit(key) {
  const now = Date.now();
  const recent = (requests.get(key) ?? []).filter((at) => now - at < 60_000);
  if (recent.length >= (limits.get(key) ?? 0)) return true;
  requests.set(key, [...recent, now]);
  return false;
}

/**
 * @param {URL} asked
 * @param {string} key
 * @returns {readonly [status: number, body: unknown]}
 */
function answer({ pathname, searchParams }, key) {
  if (pathname === '/openapi.json') return [200, openapi];
  if (!limits.has(key)) return [401, { message: 'The key is missing or unknown.' }];
  if (isOverLimit(key)) return [429, { message: `The limit is ${limits.get(key)} requests a minute.` }];
  if (pathname === '/currencies') {
    const page = pageOf(Number(searchParams.get('page') ?? 1));
    return page.currencies.length > 0 ? [200, page] : [404, { message: 'There is no such page.' }];
  }
  const [, base = ''] = /^\/rates\/([A-Z]{3})$/.exec(pathname) ?? [];
  const quote = searchParams.get('quote') ?? '';
  const [from, to] = [base, quote].map((code) => currencies.find((each) => each.code === code)?.per_euro);
  if (!from || !to) return [404, { message: 'There is no such rate.' }];
  return [200, { base, quote, rate: Number((to / from).toPrecision(6)), date }];
}

createServer((request, response) => {
  const [status, body] = answer(new URL(request.url ?? '/', url), String(request.headers['x-api-key']));
  const headers = { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': 60 }) };
  response.writeHead(status, headers).end(JSON.stringify(body));
}).listen(Number(values.port), '127.0.0.1', () => console.log(`Exchange rates at ${url}`));
