/** A request of a page of documentation, what an API must receive for it, and what it answers. */
export interface Documented {
  /** Whose page. */
  readonly api: string;
  /** With `https://host` for the address. */
  readonly curl: string;
  /** Further arguments of the program. */
  readonly flags?: readonly string[];
  readonly method: string;
  readonly url: string;
  /** Those that are judged; any other header is free. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly answer: unknown;
  readonly tool: string;
  readonly inputs: readonly string[];
  /** Its key, and the ending of the variable. */
  readonly key?: readonly [value: string, variable: string];
}

const address = '0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae';
const json = { 'content-type': 'application/json' };

/** Requests as the pages print them, with made-up keys. */
export const documented: readonly Documented[] = [
  {
    api: 'CoinGecko, simple price',
    curl: `curl --request GET --url 'https://host/api/v3/simple/price?vs_currencies=usd&ids=bitcoin,ethereum&include_24hr_change=true' --header 'accept: application/json' --header 'x-cg-demo-api-key: CG-w1PPQzX8BjkUHYmzmnTrUbvd'`,
    method: 'GET',
    url: '/api/v3/simple/price?vs_currencies=usd&ids=bitcoin,ethereum&include_24hr_change=true',
    headers: { 'x-cg-demo-api-key': 'CG-w1PPQzX8BjkUHYmzmnTrUbvd' },
    answer: {
      bitcoin: { usd: 67187.33, usd_24h_change: 3.6 },
      ethereum: { usd: 3500.1, usd_24h_change: -0.2 },
    },
    tool: 'get_simple_price',
    inputs: ['vs_currencies', 'ids', 'include_24hr_change'],
    key: ['CG-w1PPQzX8BjkUHYmzmnTrUbvd', 'CG_DEMO_API_KEY'],
  },
  {
    api: 'CoinMarketCap, latest listings',
    curl: `curl -H "X-CMC_PRO_API_KEY: b54bcf4d-1bca-4e8e-9a24-22ff2c3d462c" -H "Accept: application/json" -d "start=1&limit=2&convert=USD" -G https://host/v1/cryptocurrency/listings/latest`,
    method: 'GET',
    url: '/v1/cryptocurrency/listings/latest?start=1&limit=2&convert=USD',
    headers: { 'x-cmc_pro_api_key': 'b54bcf4d-1bca-4e8e-9a24-22ff2c3d462c' },
    answer: {
      data: [
        { id: 1, name: 'Bitcoin', quote: { USD: { price: 9283.92 } } },
        { id: 1027, name: 'Ethereum', quote: { USD: { price: 283.92 } } },
      ],
      status: { error_code: 0, error_message: '', credit_count: 1 },
    },
    tool: 'get_cryptocurrency_listings_latest',
    inputs: ['start', 'limit', 'convert'],
    key: ['b54bcf4d-1bca-4e8e-9a24-22ff2c3d462c', 'CMC_PRO_API_KEY'],
  },
  {
    api: 'Binance, order book',
    curl: `curl -H "X-MBX-APIKEY: vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A" "https://host/api/v3/depth?symbol=BTCUSDT&limit=2"`,
    method: 'GET',
    url: '/api/v3/depth?symbol=BTCUSDT&limit=2',
    headers: { 'x-mbx-apikey': 'vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A' },
    answer: {
      lastUpdateId: 1027024,
      bids: [['4.00000000', '431.00000000']],
      asks: [['4.00000200', '12.00000000']],
    },
    tool: 'get_depth',
    inputs: ['symbol', 'limit'],
    key: ['vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A', 'MBX_APIKEY'],
  },
  {
    api: 'Etherscan, balance of an account',
    curl: `curl "https://host/v2/api?chainid=1&module=account&action=balance&address=${address}&tag=latest&apikey=9JQ3K7Q2ZB5Y8M4XW1H6"`,
    method: 'GET',
    url: `/v2/api?chainid=1&module=account&action=balance&address=${address}&tag=latest&apikey=9JQ3K7Q2ZB5Y8M4XW1H6`,
    answer: { status: '1', message: 'OK', result: '172774397764084972158218' },
    tool: 'get_account_balance',
    flags: ['--tool', 'get_account_balance'],
    inputs: ['chainid', 'module', 'action', 'address', 'tag'],
    key: ['9JQ3K7Q2ZB5Y8M4XW1H6', 'APIKEY'],
  },
  {
    api: 'Ethereum, eth_getBalance',
    curl: `curl https://host/ -X POST -H "Content-Type: application/json" --data '{"jsonrpc":"2.0","method":"eth_getBalance","params":["${address}", "latest"],"id":1}'`,
    method: 'POST',
    url: '/',
    headers: json,
    body: `{"jsonrpc":"2.0","method":"eth_getBalance","params":["${address}","latest"],"id":1}`,
    answer: { jsonrpc: '2.0', id: 1, result: '0x0234c8a3397aab58' },
    tool: 'get_balance',
    inputs: ['address', 'block'],
  },
  {
    api: 'Solana, getBalance',
    curl: `curl https://host -s -X POST -H "Content-Type: application/json" -d '
  {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "getBalance",
    "params": ["83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri"]
  }
'`,
    method: 'POST',
    url: '/',
    headers: json,
    body: '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri"]}',
    answer: { jsonrpc: '2.0', id: 1, result: { context: { slot: 1 }, value: 1000000 } },
    tool: 'get_balance_2',
    flags: ['--tool', 'get_balance_2'],
    inputs: ['address'],
  },
  {
    api: 'Open-Meteo, forecast',
    curl: `curl "https://host/v1/forecast?latitude=52.52&longitude=13.41&current=temperature_2m,wind_speed_10m&forecast_days=1"`,
    method: 'GET',
    url: '/v1/forecast?latitude=52.52&longitude=13.41&current=temperature_2m,wind_speed_10m&forecast_days=1',
    answer: {
      latitude: 52.52,
      longitude: 13.419,
      current: { time: '2026-01-01T15:00', temperature_2m: 2.4, wind_speed_10m: 11.9 },
      current_units: { temperature_2m: '°C', wind_speed_10m: 'km/h' },
    },
    tool: 'get_forecast',
    inputs: ['latitude', 'longitude', 'current', 'forecast_days'],
  },
  {
    api: 'OpenWeather, current weather',
    curl: `curl 'https://host/data/2.5/weather?q=London,uk&units=metric&appid=bd5e378503939ddaee76f12ad7a97608'`,
    method: 'GET',
    url: '/data/2.5/weather?q=London,uk&units=metric&appid=bd5e378503939ddaee76f12ad7a97608',
    answer: {
      weather: [{ id: 804, main: 'Clouds' }],
      main: { temp: 10.58, humidity: 60 },
      name: 'London',
      cod: 200,
    },
    tool: 'get_data_weather',
    inputs: ['q', 'units'],
    key: ['bd5e378503939ddaee76f12ad7a97608', 'APPID'],
  },
  {
    api: 'National Weather Service, alerts',
    curl: `curl -X GET "https://host/alerts/active?area=KS&limit=1" -H "User-Agent: (myweatherapp.com, contact@myweatherapp.com)" -H "Accept: application/geo+json"`,
    method: 'GET',
    url: '/alerts/active?area=KS&limit=1',
    headers: { 'user-agent': '(myweatherapp.com, contact@myweatherapp.com)', accept: 'application/geo+json' },
    answer: { type: 'FeatureCollection', features: [{ id: 'urn:1', properties: { event: 'Flood Watch' } }] },
    tool: 'get_alerts_active',
    inputs: ['area', 'limit'],
  },
  {
    api: 'API-Football, fixtures',
    curl: `curl --request GET \\\n\t--url 'https://host/fixtures?league=39&season=2023' \\\n\t--header 'x-rapidapi-host: v3.football.api-sports.io' \\\n\t--header 'x-rapidapi-key: 81e7f2c4a9b04d3d8c1f5a6b7c8d9e0f'`,
    method: 'GET',
    url: '/fixtures?league=39&season=2023',
    headers: {
      'x-rapidapi-key': '81e7f2c4a9b04d3d8c1f5a6b7c8d9e0f',
      'x-rapidapi-host': 'v3.football.api-sports.io',
    },
    answer: {
      results: 1,
      response: [{ fixture: { id: 239625, status: { long: 'Halftime' } }, goals: { home: 0, away: 1 } }],
    },
    tool: 'get_fixtures',
    inputs: ['league', 'season'],
    key: ['81e7f2c4a9b04d3d8c1f5a6b7c8d9e0f', 'RAPIDAPI_KEY'],
  },
  {
    api: 'BALLDONTLIE, players',
    curl: `curl "https://host/nba/v1/players?search=davis" -H "Authorization: 3f1d7a52-0c44-4e2b-b7b5-6a0e8f9c1d23"`,
    method: 'GET',
    url: '/nba/v1/players?search=davis',
    headers: { authorization: '3f1d7a52-0c44-4e2b-b7b5-6a0e8f9c1d23' },
    answer: {
      data: [{ id: 115, first_name: 'Stephen', team: { id: 10, abbreviation: 'GSW' } }],
      meta: { next_cursor: 90, per_page: 25 },
    },
    tool: 'get_nba_players',
    inputs: ['search'],
    key: ['3f1d7a52-0c44-4e2b-b7b5-6a0e8f9c1d23', 'TOKEN'],
  },
  {
    api: 'NewsAPI, everything',
    curl: `curl https://host/v2/everything -G \\\n    -d q=Apple \\\n    -d from=2026-11-24 \\\n    -d sortBy=popularity \\\n    -d apiKey=7f3b2a91c4de4f0b8a6d5c3e2f1a0b9c`,
    method: 'GET',
    url: '/v2/everything?q=Apple&from=2026-11-24&sortBy=popularity&apiKey=7f3b2a91c4de4f0b8a6d5c3e2f1a0b9c',
    answer: {
      status: 'ok',
      totalResults: 1,
      articles: [{ title: 'A', url: 'https://a.example', publishedAt: '2026-11-24T10:00:00Z' }],
    },
    tool: 'get_everything',
    inputs: ['q', 'from', 'sortBy'],
    key: ['7f3b2a91c4de4f0b8a6d5c3e2f1a0b9c', 'API_KEY'],
  },
  {
    api: 'Hacker News, item',
    curl: `curl 'https://host/v0/item/8863.json?print=pretty'`,
    method: 'GET',
    url: '/v0/item/8863.json?print=pretty',
    answer: {
      by: 'dhouston',
      id: 8863,
      kids: [9224, 8917],
      score: 104,
      title: 'My YC app: Dropbox',
      type: 'story',
    },
    tool: 'get_item',
    inputs: ['item_id', 'print'],
  },
  {
    api: 'Nominatim, search',
    curl: `curl "https://host/search?q=bakery+in+berlin+wedding&format=json&limit=1"`,
    method: 'GET',
    url: '/search?q=bakery+in+berlin+wedding&format=json&limit=1',
    answer: [{ place_id: 100149, lat: '52.5487921', lon: '13.3560349', display_name: 'Bakery, Berlin' }],
    tool: 'get_search',
    inputs: ['q', 'format', 'limit'],
  },
  {
    api: 'IPinfo, one address',
    curl: `curl https://host/8.8.8.8/json?token=a1b2c3d4e5f6a7`,
    method: 'GET',
    url: '/8.8.8.8/json?token=a1b2c3d4e5f6a7',
    answer: { ip: '8.8.8.8', hostname: 'dns.google', city: 'Mountain View', loc: '37.4056,-122.0775' },
    tool: 'get_ip_address',
    flags: ['--tool', 'get_ip_address'],
    inputs: ['ip'],
    key: ['a1b2c3d4e5f6a7', 'TOKEN'],
  },
  {
    api: 'GitHub, GraphQL with variables',
    curl: `curl -H "Authorization: bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a" -X POST -d '{"query":"query Repo($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { stargazerCount } }","variables":{"owner":"octocat","name":"Hello-World"}}' https://host/graphql`,
    method: 'POST',
    url: '/graphql',
    // curl declares a form for -d without a type, and the API accepts it.
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: 'bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    },
    body: '{"query":"query Repo($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { stargazerCount } }","variables":{"owner":"octocat","name":"Hello-World"}}',
    answer: { data: { repository: { stargazerCount: 2900 } } },
    tool: 'get_repo',
    inputs: ['owner', 'name'],
    key: ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'TOKEN'],
  },
  {
    api: 'The Graph, a subgraph',
    curl: `curl -X POST -H 'Content-Type: application/json' -H 'Authorization: Bearer 4e8bd4f1a0c94d2f9b7e6a5d3c2b1a09' -d '{"query": "{ pools(first: 1, orderBy: volumeUSD) { id volumeUSD } }", "operationName": "Subgraphs", "variables": {}}' https://host/api/subgraphs/id/5zvR82QoaXYFyDEKLZ9t6v9adgnptxYpKpSbxtgVENFV`,
    method: 'POST',
    url: '/api/subgraphs/id/5zvR82QoaXYFyDEKLZ9t6v9adgnptxYpKpSbxtgVENFV',
    headers: { ...json, authorization: 'Bearer 4e8bd4f1a0c94d2f9b7e6a5d3c2b1a09' },
    body: '{"query":"{ pools(first: 1, orderBy: volumeUSD) { id volumeUSD } }","operationName":"Subgraphs","variables":{}}',
    answer: { data: { pools: [{ id: '0x1', volumeUSD: '123.4' }] } },
    tool: 'get_pools',
    inputs: ['id_address'],
    key: ['4e8bd4f1a0c94d2f9b7e6a5d3c2b1a09', 'TOKEN'],
  },
  {
    api: 'TMDB, movie',
    curl: `curl --request GET \\\n     --url 'https://host/3/movie/550?language=en-US' \\\n     --header 'Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhMWIyYzNkNGU1In0.c2lnbmF0dXJl' \\\n     --header 'accept: application/json'`,
    method: 'GET',
    url: '/3/movie/550?language=en-US',
    headers: { authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhMWIyYzNkNGU1In0.c2lnbmF0dXJl' },
    answer: { id: 550, title: 'Fight Club', runtime: 139, genres: [{ id: 18, name: 'Drama' }] },
    tool: 'get_movie',
    inputs: ['movie_id', 'language'],
    key: ['eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhMWIyYzNkNGU1In0.c2lnbmF0dXJl', 'TOKEN'],
  },
  {
    api: 'GitHub, issue',
    curl: `curl -L \\\n  -H "Accept: application/vnd.github+json" \\\n  -H "Authorization: Bearer github_pat_11ABCDEFG0aBcDeFgHiJkL" \\\n  -H "X-GitHub-Api-Version: 2022-11-28" \\\n  https://host/repos/octocat/Hello-World/issues/1347`,
    method: 'GET',
    url: '/repos/octocat/Hello-World/issues/1347',
    headers: {
      accept: 'application/vnd.github+json',
      authorization: 'Bearer github_pat_11ABCDEFG0aBcDeFgHiJkL',
      'x-github-api-version': '2022-11-28',
    },
    answer: {
      id: 1,
      number: 1347,
      title: 'Found a bug',
      user: { login: 'octocat' },
      labels: [{ name: 'bug' }],
    },
    tool: 'get_repos_octocat_hello_world_issues',
    inputs: ['issue_id'],
    key: ['github_pat_11ABCDEFG0aBcDeFgHiJkL', 'TOKEN'],
  },
  {
    api: 'Stripe, charges',
    curl: `curl -G https://host/v1/charges -u "sk_test_BQokikJOvBiI2HlWgH4olfQ2:" -d limit=3`,
    method: 'GET',
    url: '/v1/charges?limit=3',
    headers: {
      authorization: `Basic ${Buffer.from('sk_test_BQokikJOvBiI2HlWgH4olfQ2:').toString('base64')}`,
    },
    answer: {
      object: 'list',
      data: [{ id: 'ch_1', amount: 1099, currency: 'usd', paid: true }],
      has_more: false,
    },
    tool: 'get_charges',
    inputs: ['limit'],
    key: ['sk_test_BQokikJOvBiI2HlWgH4olfQ2', 'KEY'],
  },
];
