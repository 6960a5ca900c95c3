import { createServer } from 'node:http';

// The API of docs/tutorial.md: exchange rates against the euro, and the OpenAPI document that describes them.
// node scripts/tutorial-api.js [--port <port>]
// It requires the key `demo-key` as `x-api-key`, and listens on loopback only.

import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string', default: '4600' } } });
const url = `http://127.0.0.1:${values.port}`;

/** Units of a currency for one euro. @type {Readonly<Record<string, number>>} */
const perEuro = { EUR: 1, USD: 1.0843, GBP: 0.8391, CHF: 0.9412, JPY: 164.27 };
const date = '2026-11-20';

const code = (example, description) => ({
  schema: { type: 'string', pattern: '^[A-Z]{3}$' },
  description,
  example,
  required: true,
});
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Rates', version: '1.0.0' },
  servers: [{ url }],
  security: [{ key: [] }],
  paths: {
    '/currencies': {
      get: {
        operationId: 'listCurrencies',
        summary: 'List the currencies that have a rate.',
        responses: {
          200: {
            description: 'The currencies.',
            content: {
              'application/json': {
                schema: { type: 'array', items: { type: 'string', description: 'Code of a currency' } },
                example: Object.keys(perEuro),
              },
            },
          },
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

/**
 * @param {URL} asked
 * @param {string | string[] | undefined} key
 * @returns {readonly [status: number, body: unknown]}
 */
function answer({ pathname, searchParams }, key) {
  if (pathname === '/openapi.json') return [200, openapi];
  if (key !== 'demo-key') return [401, { message: 'The key is missing or unknown.' }];
  if (pathname === '/currencies') return [200, Object.keys(perEuro)];
  const [, base = ''] = /^\/rates\/([A-Z]{3})$/.exec(pathname) ?? [];
  const quote = searchParams.get('quote') ?? '';
  const [from, to] = [perEuro[base], perEuro[quote]];
  if (!from || !to) return [404, { message: 'There is no such rate.' }];
  return [200, { base, quote, rate: Number((to / from).toPrecision(6)), date }];
}

createServer((request, response) => {
  const [status, body] = answer(new URL(request.url ?? '/', url), request.headers['x-api-key']);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}).listen(Number(values.port), '127.0.0.1', () => console.log(`Exchange rates at ${url}`));
