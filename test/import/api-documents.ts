/** Documents of five APIs that cover the main differences between real ones, with the answers of their examples. */
export interface ApiDocument {
  /** File name. */
  readonly file: string;
  readonly text: string;
  /** The operation to import. */
  readonly operation: string;
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
  /** The API's answer, as in the example of its document. */
  readonly answer: unknown;
  /** Environment variables that it needs besides its address. */
  readonly secrets: { readonly [name: string]: string };
  /** Name of the variable with the address. */
  readonly address: string;
}

const json = (schema: object, example: unknown) => ({ 'application/json': { schema, example } });

const gas = `openapi: 3.1.0
info:
  title: Gas prices
servers:
  - url: https://api.gas.example/v1
security:
  - token: []
paths:
  /gas/{chain}:
    parameters:
      - $ref: '#/components/parameters/chain'
    get:
      operationId: getGas
      summary: Get the gas price of a chain.
      responses:
        '200':
          description: The price
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Gas' }
              example: { chain: base, gwei: 12.5, tiers: [{ name: fast, wei: 1 }], note: null }
        '404':
          description: No such chain
components:
  securitySchemes:
    token: { type: http, scheme: bearer }
  parameters:
    chain:
      name: chain
      in: path
      required: true
      description: The chain
      schema: { type: string, examples: [base] }
  schemas:
    Gas:
      type: object
      required: [chain, gwei]
      properties:
        chain: { type: string, description: The chain }
        gwei: { type: number, description: Price in gwei }
        note: { type: [string, 'null'] }
        tiers:
          type: array
          items: { type: object, required: [name], properties: { name: { type: string }, wei: { type: number } } }
`;

const weather = {
  openapi: '3.0.3',
  info: { title: 'Weather' },
  servers: [{ url: 'https://weather.example/{version}', variables: { version: { default: 'v2' } } }],
  paths: {
    '/places': {
      get: {
        operationId: 'list-places',
        description: 'Lists places near a point.',
        parameters: [
          { name: 'appid', in: 'query', required: true, schema: { type: 'string' } },
          { name: 'q', in: 'query', required: true, schema: { type: 'string' }, example: 'Berlin' },
          {
            name: 'tags',
            in: 'query',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
            example: ['city'],
          },
        ],
        responses: {
          200: {
            content: json({ type: 'array', items: { $ref: '#/components/schemas/Place' } }, [
              { name: 'Berlin', at: { lat: 52.5, lon: 13.4 } },
            ]),
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      Place: {
        allOf: [
          { $ref: '#/components/schemas/Named' },
          {
            type: 'object',
            properties: {
              at: {
                type: 'object',
                nullable: true,
                properties: { lat: { type: 'number' }, lon: { type: 'number' } },
              },
            },
          },
        ],
      },
    },
  },
};

const payments = {
  openapi: '3.0.0',
  info: { title: 'Payments' },
  servers: [{ url: 'https://pay.example' }],
  security: [{ basic: [] }],
  paths: {
    '/quotes': {
      post: {
        operationId: 'PostQuotes',
        summary: 'Create a quote.',
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['amount'],
                properties: {
                  amount: { type: 'integer', minimum: 1, example: 500 },
                  card: { type: 'object', properties: { brand: { type: 'string', enum: ['visa', 'amex'] } } },
                },
              },
            },
          },
        },
        responses: {
          200: {
            content: json(
              {
                type: 'object',
                properties: { id: { type: 'string' }, error: { type: 'boolean' } },
                required: ['id'],
              },
              { id: 'q_1', error: false },
            ),
          },
        },
      },
    },
  },
  components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
};

const pets = {
  swagger: '2.0',
  info: { title: 'Pets' },
  host: 'pets.example',
  basePath: '/api',
  securityDefinitions: { key: { type: 'apiKey', in: 'header', name: 'X-Pet-Key' } },
  paths: {
    '/pets/{petId}': {
      get: {
        operationId: 'findPet',
        summary: 'Find a pet by its id',
        security: [{ key: [] }],
        parameters: [
          { name: 'petId', in: 'path', required: true, type: 'integer', format: 'int64', 'x-example': 7 },
        ],
        responses: {
          200: {
            schema: { $ref: '#/definitions/Pet' },
            examples: { 'application/json': { id: 7, kind: 'cat', tags: ['a'] } },
          },
          404: { description: 'none' },
        },
      },
    },
  },
  definitions: {
    Pet: {
      type: 'object',
      required: ['id'],
      properties: {
        id: { type: 'integer' },
        kind: { type: 'string', enum: ['cat', 'dog'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
  },
};

const title = { type: 'object', properties: { title: { type: 'string' } } };
const hits = { type: 'array', items: title };
const searched = {
  oneOf: [
    { type: 'object', required: ['hits'], properties: { hits } },
    { type: 'object', required: ['hits', 'more'], properties: { hits, more: { type: 'boolean' } } },
  ],
};
const search = {
  openapi: '3.1.0',
  info: { title: 'Search', version: '1' },
  servers: [{ url: 'https://search.example' }],
  paths: {
    '/search': {
      post: {
        summary: 'Search documents',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['query'],
                properties: {
                  query: { type: 'string', examples: ['tea'] },
                  page: { type: 'integer', default: 1, minimum: 1 },
                },
              },
            },
          },
        },
        responses: { 200: { content: json(searched, { hits: [{ title: 'Tea' }] }) } },
      },
    },
  },
};

export const apiDocuments: readonly ApiDocument[] = [
  {
    file: 'gas.yaml',
    text: gas,
    operation: 'getGas',
    tool: 'getGas',
    arguments: { chain: 'base' },
    answer: { chain: 'base', gwei: 12.5, tiers: [{ name: 'fast', wei: 1 }], note: null },
    secrets: { GAS_TOKEN: 's3cret-gas' },
    address: 'GAS_URL',
  },
  {
    file: 'weather.json',
    text: JSON.stringify(weather),
    operation: 'list-places',
    tool: 'list-places',
    arguments: { q: 'Berlin', tags: ['city'] },
    answer: [{ name: 'Berlin', at: { lat: 52.5, lon: 13.4 } }],
    secrets: { WEATHER_APPID: 's3cret-weather' },
    address: 'WEATHER_URL',
  },
  {
    file: 'payments.json',
    text: JSON.stringify(payments),
    operation: 'PostQuotes',
    tool: 'PostQuotes',
    arguments: { amount: 500, card: { brand: 'visa' } },
    answer: { id: 'q_1', error: false },
    secrets: { PAY_USER: 'me', PAY_PASSWORD: 's3cret-pay' },
    address: 'PAY_URL',
  },
  {
    file: 'pets.json',
    text: JSON.stringify(pets),
    operation: 'findPet',
    tool: 'findPet',
    arguments: { petId: '7' },
    answer: { id: 7, kind: 'cat', tags: ['a'] },
    secrets: { PETS_PET_KEY: 's3cret-pets' },
    address: 'PETS_URL',
  },
  {
    file: 'search.json',
    text: JSON.stringify(search),
    operation: 'POST /search',
    tool: 'post_search',
    arguments: { query: 'tea' },
    answer: { hits: [{ title: 'Tea' }] },
    secrets: {},
    address: 'SEARCH_URL',
  },
];
