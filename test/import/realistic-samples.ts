/** Answers in the form of public APIs, with the schemas that an author would write for them, by hand. */
export interface AcceptedSample {
  readonly api: string;
  /** As values, or as texts where the digits matter. */
  readonly samples: readonly (string | object)[];
  readonly input?: readonly string[];
  readonly shape: object;
  /** Later answers of the same API, as the tool returns them. */
  readonly later?: readonly object[];
  readonly wrong?: readonly object[];
  /** What the command says that it changed. */
  readonly left?: readonly string[];
}

const mapped = 'the members at the root became a map by key, result';

const numbers: readonly AcceptedSample[] = [
  {
    api: 'a price that is whole by chance',
    samples: [{ usd: 1 }],
    shape: { usd: 'number' },
    later: [{ usd: 0.9998 }],
    wrong: [{ usd: '0.9998' }],
  },
  {
    api: 'counts, ids and years beside measures',
    samples: [
      { id: 12, userId: 3, commentCount: 5, views: 1200, year: 2024, rating: 4, price: 20, humidity: 81 },
    ],
    shape: {
      id: 'integer',
      userId: 'integer',
      commentCount: 'integer',
      views: 'integer',
      year: 'integer',
      rating: 'number',
      price: 'number',
      humidity: 'number',
    },
    later: [
      {
        id: 13,
        userId: 3,
        commentCount: 5,
        views: 1,
        year: 2025,
        rating: 4.5,
        price: 19.99,
        humidity: 81.5,
      },
    ],
    wrong: [
      {
        id: 1.5,
        userId: 3,
        commentCount: 5,
        views: 1,
        year: 2025,
        rating: 4.5,
        price: 19.99,
        humidity: 81.5,
      },
    ],
  },
  {
    api: 'several samples of a whole number, and of a price that was whole each time',
    samples: [
      { level: 3, price: 20 },
      { level: 5, price: 30 },
      { level: 9, price: 40 },
    ],
    shape: { level: 'integer', price: 'number' },
  },
  {
    api: 'items of a list, one of them with a fraction',
    samples: [
      [
        { symbol: 'BTC', current_price: 63120, market_cap_rank: 1 },
        { symbol: 'ETH', current_price: 3021, market_cap_rank: 2 },
        { symbol: 'USDT', current_price: 0.9998, market_cap_rank: 3 },
      ],
    ],
    shape: {
      items: [{ symbol: 'string', current_price: 'number', market_cap_rank: 'integer' }],
      count: 'integer',
    },
  },
  {
    api: 'times since 1970 beside a duration',
    samples: [{ serverTime: 1763856000123, updated_at: 1763856000, block_time: 2 }],
    shape: { serverTime: 'integer', updated_at: 'integer', block_time: 'number' },
    later: [{ serverTime: 1763856000124, updated_at: 1763856001, block_time: 2.1 }],
  },
  {
    api: 'decimals as text, in a list',
    samples: [[{ symbol: 'BTCUSDT', price: '63120.01000000' }]],
    shape: { items: [{ symbol: 'string', price: 'string' }], count: 'integer' },
    wrong: [{ items: [{ symbol: 'BTCUSDT', price: 63120.01 }], count: 1 }],
  },
  {
    api: 'candles as lists of lists',
    samples: [
      [
        [1763856000000, '63120.1', '63200.0', 1763859599999, 308],
        [1763859600000, '63200.0', '63100.5', 1763863199999, 412],
      ],
    ],
    shape: { items: [['number|string']], count: 'integer' },
  },
  {
    api: 'points of a chart as pairs',
    samples: [
      {
        prices: [
          [1763856000000, 63120],
          [1763859600000, 63200],
        ],
      },
    ],
    shape: { prices: [['number']] },
    later: [{ prices: [[1763856000000, 63120.5]] }],
  },
  {
    api: 'ids of 64 bits',
    samples: [
      '{"id": 1234567890123456789, "user": {"id": 42}, "in_reply_to": [1234567890123456788, 7], "scale": 1e3}',
    ],
    shape: { id: 'string', user: { id: 'integer' }, in_reply_to: ['string'], scale: 'number' },
    later: [{ id: '1234567890123456789', user: { id: 42 }, in_reply_to: ['7'], scale: 0.5 }],
    wrong: [{ id: 42, user: { id: 42 }, in_reply_to: [], scale: 1 }],
    left: ['1234567890123456789 and 1 more became text'],
  },
  {
    api: 'ids of 64 bits beside small ones, and digits inside a text',
    samples: ['[{"id": 1234567890123456789, "text": "at 1234567890123456789"}, {"id": 42, "text": "b"}]'],
    shape: { items: [{ id: 'string', text: 'string' }], count: 'integer' },
    left: ['1234567890123456789 became text'],
  },
];

const texts: readonly AcceptedSample[] = [
  {
    api: 'amounts beyond 64 bits beside a fraction',
    samples: [
      '{"amounts": [115792089237316195423570985008687907853269984665640564039457584007913129639935, 0.5, 3]}',
    ],
    shape: { amounts: ['string'] },
    left: ['115792089237316195423570985008687907853269984665640564039457584007913129639935 became text'],
  },
  {
    api: 'integers as text beside numbers',
    samples: [
      '{"wei": "1234567890123456789", "rows": [["1234567890123456789", 1.5]], "any": ["1234567890123456789", 7]}',
    ],
    shape: { wei: 'string', rows: [['number|string']], any: ['number|string'] },
    wrong: [{ wei: 1, rows: [], any: [] }],
  },
  {
    api: 'rows with a large integer in one column',
    samples: ['{"rows": [[1763856000, 1234567890123456789], [1763856001, 12]]}'],
    shape: { rows: [['number|string']] },
    left: ['1234567890123456789 became text'],
  },
];

const maps: readonly AcceptedSample[] = [
  {
    api: 'prices by coin',
    samples: [{ bitcoin: { usd: 63120, usd_24h_change: -1.25 }, tether: { usd: 1, usd_24h_change: 0 } }],
    shape: { result: { '*': { usd: 'number', usd_24h_change: 'number' } } },
    later: [{ result: { ethereum: { usd: 3021.5, usd_24h_change: 1 } } }, { result: {} }],
    wrong: [{ result: { ethereum: { usd: '3021.5', usd_24h_change: 1 } } }],
    left: [mapped],
  },
  {
    api: 'the price of one coin, in two samples',
    samples: [{ bitcoin: { usd: 63120 } }, { ethereum: { usd: 3021.5 } }],
    shape: { result: { '*': { usd: 'number' } } },
    left: [mapped],
  },
  {
    api: 'the price of the coin that the input names',
    samples: [{ bitcoin: { usd: 63120 } }],
    input: ['id:string=bitcoin The coin'],
    shape: { result: { '*': { usd: 'number' } } },
    later: [{ result: { tether: { usd: 0.9998 } } }],
    left: [mapped],
  },
  {
    api: 'the prices of the coins that the input names',
    samples: [{ bitcoin: 63120, tether: 1 }],
    input: ['ids:string="bitcoin,tether" The coins'],
    shape: { result: { '*': 'number' } },
    left: [mapped],
  },
  {
    api: 'prices by currency',
    samples: [{ USD: 63120.5, JPY: 9500000 }],
    shape: { result: { '*': 'number' } },
    later: [{ result: { EUR: 58000 } }],
    left: [mapped],
  },
  {
    api: 'names of currencies',
    samples: [{ USD: 'United States Dollar', EUR: 'Euro' }],
    shape: { result: { '*': 'string' } },
    left: [mapped],
  },
  {
    api: 'prices by pair, as text',
    samples: [{ BTCUSDT: '63120.01', ETHUSDT: '3021.5' }],
    shape: { result: { '*': 'string' } },
    left: [mapped],
  },
  {
    api: 'prices by symbol and currency',
    samples: [{ BTC: { USD: 63120, EUR: 58000 }, ETH: { USD: 3021, EUR: 2800.1 } }],
    shape: { result: { '*': { '*': 'number' } } },
    later: [{ result: { SOL: { GBP: 1.5 } } }],
    left: [mapped],
  },
  {
    api: 'exchange rates of a day',
    samples: [{ amount: 1, base: 'EUR', date: '2026-11-20', rates: { JPY: 164, USD: 1.09 } }],
    shape: { amount: 'number', base: 'string', date: 'date', rates: { '*': 'number' } },
    later: [{ amount: 2.5, base: 'EUR', date: '2026-11-21', rates: { GBP: 0.84 } }],
  },
  {
    api: 'exchange rates by date',
    samples: [
      {
        amount: 1,
        base: 'EUR',
        start_date: '2026-11-16',
        rates: { '2026-11-16': { USD: 1.08 }, '2026-11-17': { USD: 1.09 } },
      },
    ],
    shape: {
      amount: 'number',
      base: 'string',
      start_date: 'date',
      rates: { '*': { '*': 'number' } },
    },
  },
  {
    api: 'daily candles by date, at the root',
    samples: [{ '2026-11-20': { open: 101, close: 102.5 }, '2026-11-21': { open: 102, close: 99 } }],
    shape: { result: { '*': { open: 'number', close: 'number' } } },
    later: [{ result: { '2026-11-22': { open: 99.5, close: 100 } } }],
    left: [mapped],
  },
  {
    api: 'the price of one token by its address',
    samples: [{ '0xdAC17F958D2ee523a2206206994597C13D831ec7': { usd: 1 } }],
    shape: { result: { '*': { usd: 'number' } } },
    left: [mapped],
  },
  {
    api: 'prices by Solana address',
    samples: [
      {
        So11111111111111111111111111111111111111112: {
          usdPrice: 147.48,
          blockId: 348004023,
          decimals: 9,
          priceChange24h: 1,
        },
        JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN: {
          usdPrice: 0.5,
          blockId: 348004026,
          decimals: 6,
          priceChange24h: 0.5,
        },
      },
    ],
    shape: {
      result: {
        '*': { usdPrice: 'number', blockId: 'integer', decimals: 'integer', priceChange24h: 'number' },
      },
    },
    left: [mapped],
  },
  {
    api: 'coins by chain and address',
    samples: [
      {
        coins: {
          'ethereum:0xdF574c24545E5FfEcb9a659c229253D4111d87e1': {
            decimals: 8,
            symbol: 'HUSD',
            price: 1,
            timestamp: 1763856000,
            confidence: 0.99,
          },
        },
      },
    ],
    shape: {
      coins: {
        '*': {
          decimals: 'integer',
          symbol: 'string',
          price: 'number',
          timestamp: 'integer',
          confidence: 'number',
        },
      },
    },
  },
  {
    api: 'balances by address',
    samples: [
      {
        chain: 'base',
        balances: {
          '0x52908400098527886E0F7030069857D2E4169EE7': '100',
          '0x8617E340B3D01FA5F11F306F4090FD50E238070D': '5',
        },
      },
    ],
    shape: { chain: 'string', balances: { '*': 'string' } },
  },
  {
    api: 'coins by number, with quotes by currency',
    samples: [
      {
        status: {
          timestamp: '2026-11-23T00:00:00.000Z',
          error_code: 0,
          error_message: null,
          elapsed: 10,
          credit_count: 1,
        },
        data: {
          '1': { id: 1, name: 'Bitcoin', quote: { USD: { price: 63120, market_cap: 1.2e12 } } },
        },
      },
    ],
    shape: {
      status: {
        timestamp: 'date-time',
        error_code: 'integer',
        error_message: 'unknown',
        elapsed: 'number',
        credit_count: 'integer',
      },
      data: {
        '*': { id: 'integer', name: 'string', quote: { '*': { price: 'number', market_cap: 'number' } } },
      },
    },
  },
  {
    api: 'tickers by pair, in two samples, beside an empty list of errors',
    samples: [
      { error: [], result: { XXBTZUSD: { a: ['63120.1', '1', '1.000'], t: [123, 456], o: '62000.0' } } },
      { error: [], result: { XETHZUSD: { a: ['3021.1', '2', '2.000'], t: [23, 56], o: '3000.0' } } },
    ],
    shape: { result: { '*': { a: ['string'], t: ['integer'], o: 'string' } } },
    left: ['error of the samples was left out'],
  },
  {
    api: 'books by ISBN',
    samples: [{ 'ISBN:0451526538': { title: 'Tom Sawyer', number_of_pages: 216 } }],
    shape: { result: { '*': { title: 'string', number_of_pages: 'integer' } } },
    left: [mapped],
  },
  {
    api: 'records by UUID',
    samples: [{ '3fa85f64-5717-4562-b3fc-2c963f66afa6': { name: 'a' } }],
    shape: { result: { '*': { name: 'string' } } },
    left: [mapped],
  },
  {
    api: 'releases by version',
    samples: [
      { name: 'x', versions: { '1.0.0': { deprecated: false }, '2.0.0-rc.1': { deprecated: true } } },
    ],
    shape: { name: 'string', versions: { '*': { deprecated: 'boolean' } } },
  },
];

const records: readonly AcceptedSample[] = [
  {
    api: 'weather by hour',
    samples: [
      {
        latitude: 52.52,
        longitude: 13,
        generationtime_ms: 1,
        utc_offset_seconds: 0,
        timezone: 'GMT',
        elevation: 38,
        hourly_units: { time: 'iso8601', temperature_2m: '°C' },
        hourly: {
          time: ['2026-11-23T00:00', '2026-11-23T01:00', '2026-11-23T02:00'],
          temperature_2m: [5, 4, 3],
          relative_humidity_2m: [80, 81, 82.5],
          weather_code: [3, 61],
        },
      },
    ],
    shape: {
      latitude: 'number',
      longitude: 'number',
      generationtime_ms: 'number',
      utc_offset_seconds: 'number',
      timezone: 'string',
      elevation: 'number',
      hourly_units: { time: 'string', temperature_2m: 'string' },
      hourly: {
        time: ['string'],
        temperature_2m: ['number'],
        relative_humidity_2m: ['number'],
        weather_code: ['integer'],
      },
    },
  },
  {
    api: 'gas prices as text',
    samples: [
      {
        status: '1',
        message: 'OK',
        result: { LastBlock: '19000000', SafeGasPrice: '22', FastGasPrice: '25' },
      },
    ],
    shape: {
      status: 'string',
      result: { LastBlock: 'string', SafeGasPrice: 'string', FastGasPrice: 'string' },
    },
  },
  {
    api: 'gas prices by speed, beside a block',
    samples: [
      {
        safeLow: { maxPriorityFee: 30, maxFee: 30.1 },
        standard: { maxPriorityFee: 31, maxFee: 32 },
        fast: { maxPriorityFee: 35, maxFee: 36 },
        estimatedBaseFee: 1,
        blockTime: 2,
        blockNumber: 79123456,
      },
    ],
    shape: {
      safeLow: { maxPriorityFee: 'number', maxFee: 'number' },
      standard: { maxPriorityFee: 'number', maxFee: 'number' },
      fast: { maxPriorityFee: 'number', maxFee: 'number' },
      estimatedBaseFee: 'number',
      blockTime: 'number',
      blockNumber: 'integer',
    },
  },
  {
    api: 'gas prices by speed alone',
    samples: [
      { slow: { maxFee: 20, wait: 60 }, average: { maxFee: 25, wait: 30 }, fast: { maxFee: 30, wait: 15 } },
    ],
    shape: {
      slow: { maxFee: 'number', wait: 'number' },
      average: { maxFee: 'number', wait: 'number' },
      fast: { maxFee: 'number', wait: 'number' },
    },
  },
  {
    api: 'GeoJSON',
    samples: [
      {
        type: 'FeatureCollection',
        metadata: { title: 'Earthquakes', count: 2, status: 200 },
        features: [
          {
            type: 'Feature',
            properties: { mag: 4, place: 'near Oslo', time: 1763850000000, tz: null, felt: null },
            geometry: { type: 'Point', coordinates: [-122, 38, 10] },
            id: 'nc1',
          },
          {
            type: 'Feature',
            properties: { mag: 5, place: 'near Bergen', time: 1763850000001, tz: null, felt: 12 },
            geometry: { type: 'Point', coordinates: [-121, 37, 8] },
            id: 'nc2',
          },
        ],
      },
    ],
    shape: {
      type: 'string',
      metadata: { title: 'string', count: 'integer', status: 'integer' },
      features: [
        {
          type: 'string',
          properties: {
            mag: 'number',
            place: 'string',
            time: 'integer',
            tz: 'unknown',
            felt: 'number|null',
          },
          geometry: { type: 'string', coordinates: ['number'] },
          id: 'string',
        },
      ],
    },
  },
  {
    api: 'a page with links',
    samples: [
      {
        count: 1302,
        next: 'https://api.example.com/v2/x?offset=20',
        previous: null,
        results: [{ name: 'bulbasaur', url: 'https://api.example.com/v2/x/1/' }],
      },
    ],
    shape: {
      count: 'integer',
      next: 'string',
      previous: 'unknown',
      results: [{ name: 'string', url: 'string' }],
    },
  },
  {
    api: 'a page with numbers',
    samples: [
      { data: [{ id: 7, email: 'a@example.com', first_name: 'A' }], page: 1, per_page: 6, total_pages: 2 },
    ],
    shape: {
      data: [{ id: 'integer', email: 'string', first_name: 'string' }],
      page: 'integer',
      per_page: 'integer',
      total_pages: 'integer',
    },
  },
  {
    api: 'GraphQL',
    samples: [
      { data: { pools: [{ id: '0x88e6', volumeUSD: '519.4', txCount: '123', token0: { symbol: 'USDC' } }] } },
    ],
    shape: {
      data: {
        pools: [{ id: 'string', volumeUSD: 'string', txCount: 'string', token0: { symbol: 'string' } }],
      },
    },
  },
  {
    api: 'JSON:API',
    samples: [
      {
        data: [
          {
            type: 'articles',
            id: '1',
            attributes: { title: 'x', created: '2015-05-22T14:56:29.000Z' },
            relationships: { author: { data: { type: 'people', id: '42' } } },
          },
        ],
        links: { self: 'https://example.com/a', next: 'https://example.com/b' },
        meta: { totalPages: 13 },
      },
    ],
    shape: {
      data: [
        {
          type: 'string',
          id: 'string',
          attributes: { title: 'string', created: 'date-time' },
          relationships: { author: { data: { type: 'string', id: 'string' } } },
        },
      ],
      links: { self: 'string', next: 'string' },
      meta: { totalPages: 'integer' },
    },
  },
  {
    api: 'HAL',
    samples: [
      {
        _links: { self: { href: '/a' }, next: { href: '/b' } },
        _embedded: { orders: [{ total: 30, currency: 'USD', status: 'shipped' }] },
      },
    ],
    shape: {
      _links: { self: { href: 'string' }, next: { href: 'string' } },
      _embedded: { orders: [{ total: 'number', currency: 'string', status: 'string' }] },
    },
  },
  {
    api: 'a match of two teams',
    samples: [
      {
        response: [
          {
            fixture: { id: 1, timestamp: 1763856000 },
            teams: { home: { id: 33, name: 'A', winner: true }, away: { id: 40, name: 'B', winner: false } },
            goals: { home: 2, away: 1 },
          },
        ],
      },
    ],
    shape: {
      response: [
        {
          fixture: { id: 'integer', timestamp: 'integer' },
          teams: {
            home: { id: 'integer', name: 'string', winner: 'boolean' },
            away: { id: 'integer', name: 'string', winner: 'boolean' },
          },
          goals: { home: 'number', away: 'number' },
        },
      ],
    },
  },
  {
    api: 'members in capitals',
    samples: [
      {
        RESULT: { CODE: 'INFO-000', TEXT: 'ok' },
        ROW: [{ ID: 1, CITY: 'Seoul', NAME: 'x' }],
        A: { X: 1, Y: 2 },
      },
    ],
    shape: {
      RESULT: { CODE: 'string', TEXT: 'string' },
      ROW: [{ ID: 'integer', CITY: 'string', NAME: 'string' }],
      A: { X: 'number', Y: 'number' },
    },
  },
  {
    api: 'JSON-RPC',
    samples: [{ jsonrpc: '2.0', id: 1, result: '0x10d4f' }],
    shape: { jsonrpc: 'string', id: 'integer', result: 'string' },
  },
  {
    api: 'an answer with an error that is null',
    samples: [{ error: null, result: { price: 12 } }],
    shape: { result: { price: 'number' } },
    left: ['error of the samples was left out'],
  },
  {
    api: 'nulls and nothing else',
    samples: [{ symbol: 'BTC', dividend: null }],
    shape: { symbol: 'string', dividend: 'unknown' },
  },
  {
    api: 'an empty list in a record',
    samples: [{ query: 'xyz', results: [], count: 0 }],
    shape: { query: 'string', results: ['unknown'], count: 'integer' },
  },
  {
    api: 'a member of many types',
    samples: [{ items: [{ value: 12 }, { value: 'n/a' }, { value: null }, { value: { min: 1, max: 2.5 } }] }],
    shape: { items: [{ value: { '|': 'number|object|string|null', min: 'number', max: 'number' } }] },
  },
  {
    api: 'a list of a record and a list',
    samples: [[{ page: 1, pages: 7 }, [{ country: { id: 'NO' }, value: null }]]],
    shape: {
      items: [
        {
          '|': 'array|object',
          page: 'integer',
          pages: 'integer',
          '[]': { country: { id: 'string' }, value: 'unknown' },
        },
      ],
      count: 'integer',
    },
  },
  {
    api: 'members that some objects lack',
    samples: [{ rows: [{ id: 1, tag: 'a' }, { id: 2 }] }],
    shape: { rows: [{ id: 'integer', 'tag?': 'string' }] },
  },
  {
    api: 'names in other scripts',
    samples: [{ 名前: '東京', 気温: 12.5, 'côté gauche': true }],
    shape: { 名前: 'string', 気温: 'number', 'côté gauche': 'boolean' },
  },
  {
    api: 'a column without a name',
    samples: [{ '': 3, city: 'Oslo', rows: [{ '': 1, day: 5 }] }],
    shape: { city: 'string', rows: [{ day: 'integer' }] },
    left: ['"" was left out', '"" was left out'],
  },
];

export const accepted = [...numbers, ...texts, ...maps, ...records];

/** Samples that are refused, with the reason. */
export const refused: readonly {
  readonly api: string;
  readonly samples: readonly (string | object)[];
  readonly message: RegExp;
}[] = [
  { api: 'CSV', samples: ['date,open\n2026-11-20,101\n'], message: /^is CSV or another text, not JSON: / },
  { api: 'HTML', samples: ['<!doctype html><title>502</title>'], message: /^is XML or HTML, not JSON/ },
  { api: 'one JSON value a line', samples: ['{"a":1}\n{"a":2}\n'], message: /^is not one JSON value: / },
  { api: 'NaN', samples: ['{"a": NaN}'], message: /^is not valid JSON: / },
  { api: 'a text', samples: ['"pong"'], message: /^cannot be the result of a tool$/ },
  { api: 'an empty object', samples: [{}], message: /^is empty, so it shows no fields$/ },
  { api: 'an empty list', samples: [[]], message: /^is empty, so it shows no fields$/ },
  { api: 'only a column without a name', samples: [{ '': 1 }], message: /^is empty, so it shows no fields$/ },
  { api: 'two values of a key', samples: ['{"a":1,"a":2}'], message: /used twice/ },
  { api: 'a list beside an object', samples: [{ a: 1 }, [1]], message: /^is a list, but another/ },
  {
    api: 'GraphQL errors',
    samples: [{ data: null, errors: [{ message: 'Cannot query field', locations: [{ line: 1 }] }] }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'JSON:API errors',
    samples: [{ errors: [{ status: '422', title: 'Invalid', detail: 'x' }] }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'a rate limit with status 200',
    samples: [{ status: '0', message: 'NOTOK', result: 'Max rate limit reached' }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'a key that is missing, with status 200',
    samples: [{ success: false, error: { code: 101, type: 'missing_access_key', info: 'x' } }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'a status in the body',
    samples: [{ cod: '404', message: 'city not found' }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'a list of errors without a result',
    samples: [{ error: ['EQuery:Unknown asset pair'] }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'an error alone',
    samples: [{ error: { code: 'invalid_token', message: 'x' } }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'a failure beside an answer',
    samples: [{ usd: 1 }, { error: 'coin not found' }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'a film that is not found',
    samples: [{ Response: 'False', Error: 'Movie not found!' }],
    message: /^is a failure of the API, not an answer$/,
  },
  {
    api: 'nothing but a message',
    samples: [{ message: 'pong' }],
    message: /^contains nothing but message, which callers read as a signal$/,
  },
  {
    api: 'nothing but an error that did not happen',
    samples: [{ error: false }],
    message: /^contains nothing but error, which callers read as a signal$/,
  },
];
