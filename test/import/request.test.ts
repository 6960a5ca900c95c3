import { describe, expect, it } from 'vitest';
import { CommandError, unwrap } from '../../packages/contract/src/command/command-error.ts';
import { isKeyName } from '../../packages/contract/src/command/key-names.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { readRequestText } from '../../src/changes/request-tools.ts';
import { argumentsInSchema } from '../../src/changes/send-requests.ts';
import { fieldsSchema } from '../../src/fields/shape.ts';
import { isKeyValue, placeholderIn } from '../../src/import/recognize-keys.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { keylessCurl, keylessLine } from '../../src/import/request/keyless-line.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';
import { readsByRpc } from '../../src/import/request/protocols.ts';
import { createQuestions } from '../../src/questions/create.ts';
import { documented } from '../e2e/requests.ts';

function read(line: string, constants: readonly string[] = []) {
  return unwrap(parseRequest(curlRequest(line), { input: [], constants }));
}

const json = "-H 'content-type: application/json'";
const signed = 'eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhIn0.c2ln';

describe('a key', () => {
  it.each([
    ...['authorization', 'x-cg-pro-api-key', 'X-CMC_PRO_API_KEY', 'x-rapidapi-key', 'X-Finnhub-Token'],
    ...['X-MBX-APIKEY', 'PRIVATE-TOKEN', 'access_key', 'apiKey', 'appid', 'client_secret', 'user_password'],
    ...['auth', 'pwd', 'accesstoken', 'secretKey'],
  ])('is known by its name: %s', (name) => expect(isKeyName(name)).toBe(true));

  it.each([...['pageToken', 'next_token', 'sort_key', 'base_token', 'keyword', 'tokens', 'monkey', 'id']])(
    'is not what only sounds like one: %s',
    (name) => expect(isKeyName(name)).toBe(false),
  );

  it('is known by its value in a header alone; a JWT anywhere', () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhIn0.c2ln';
    expect(isKeyValue('x-own', 'a1b2c3d4e5f6g7h8i9j0k', 'header')).toBe(true);
    expect(isKeyValue('x-own', 'v3.football.api-sports.io', 'header')).toBe(false);
    expect(isKeyValue('q', 'a1b2c3d4e5f6g7h8i9j0k', 'query')).toBe(false);
    expect(isKeyValue('q', jwt, 'query')).toBe(true);
    expect(isKeyValue('token', '0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae', 'query')).toBe(false);
    expect(isKeyValue('token', 'USDC', 'query')).toBe(false);
  });

  it.each([
    ['$API_KEY', 'API_KEY'],
    [`\${X}`, 'X'],
    ['YOUR_API_KEY', ''],
    ['<token>', ''],
    ['xxxx', ''],
    ['{{token}}', ''],
    ['sk_live_1', undefined],
    ['bitcoin', undefined],
  ])('may be a placeholder: %s', (text, variable) => expect(placeholderIn(text)).toBe(variable));

  it('has one variable, whether the first request names it or contains it', () => {
    const first = read("curl https://x.test/a -H 'x-api-key: $MY_KEY'").call;
    const variables = [
      first.api.address,
      ...(first.acceptedKeys ?? []).flat().flatMap((key) => key.variables),
    ];
    const given = curlRequest('curl https://x.test/b -H "x-api-key: k1"');
    const again = parseRequest(given, { input: [], constants: [], variables });
    expect(again.ok && [...again.value.keySources]).toEqual([['MY_KEY', { value: 'k1' }]]);
    const other = parseRequest(
      { ...given, url: 'https://y.test/b' },
      { input: [], constants: [], variables },
    );
    expect(other.ok && [...other.value.keySources.keys()]).toEqual(['Y_API_KEY']);
  });

  it('in a path, or below a member of a body, is refused', () => {
    for (const line of [
      'curl https://x.test/v2/8GxKq0mZ4TnR2sV6yB1cD3eF5hJ7kL9p',
      'curl https://x.test/bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/getMe',
      ...[
        '{"auth":{"api_key":"k"}}',
        '{"a":{"b":{"c":{"api_key":"k"}}}}',
        `{"list":["${signed}"]}`,
        `{"jsonrpc":"2.0","id":1,"method":"getStat","params":["${signed}"]}`,
        '{"jsonrpc":"2.0","id":1,"method":"aria2.getStat","params":["token:Gh7kQ29sLm4Vx81TzB"]}',
        '{"jsonrpc":"2.0","id":1,"method":"getStat","params":[{"password":"k"}]}',
      ].map((body) => `curl https://x.test/ ${json} -d '${body}'`),
    ])
      expect(() => read(line)).toThrow(CommandError);
  });
});

describe('the parts of a request', () => {
  it('are arguments with their values, and constants where the author says so', () => {
    const { input, call } = read(
      "curl 'https://x.test/a?symbol=BTC&limit=5&price=1.5&all=true&at=52.5200&id=007'",
      ['limit'],
    );
    expect(input.map(({ name, type, default: value }) => [name, type, value])).toEqual([
      ['symbol', 'string', 'BTC'],
      ['price', 'number', 1.5],
      ['all', 'boolean', true],
      ['at', 'string', '52.5200'],
      ['id', 'string', '007'],
    ]);
    expect(call.query[1]).toEqual({ name: 'limit', constant: 5 });
  });

  it('of a path are what looks like an id, or is written in braces', () => {
    const { call, input } = read(
      'curl https://x.test/v2/users/123/tx/{chain=base}/latest/3fa85f64-5717-4562-b3fc-2c963f66afa6.json',
    );
    expect(call.path).toBe('/v2/users/{user_id}/tx/{chain}/latest/{latest_id}.json');
    expect(argumentsInSchema(fieldsSchema(input))).toMatchObject({ user_id: 123, chain: 'base' });
  });

  it('of a JSON body are its scalars up to two levels, and lists of one type', () => {
    const body = '{"type":"a","inner":{"x":1,"deep":{"y":2}},"ids":["a","b"],"none":null,"mixed":[1,"a"]}';
    const { input, call } = read(`curl https://x.test/ ${json} -d '${body}'`);
    expect(input.map(({ name }) => name)).toEqual(['type', 'x', 'ids']);
    expect(call.body?.content.members).toContainEqual({
      name: 'inner',
      members: [
        { name: 'x', input: 'x' },
        { name: 'deep', constant: { y: 2 } },
      ],
    });
    expect(call.body?.content.members).toContainEqual({ name: 'none', constant: null });
  });

  it('of GraphQL are its variables, typed by the operation', () => {
    const query = 'query A($n: Int = 5, $id: ID!, $f: [String!], $w: Where) { a { b } }';
    const body = JSON.stringify({ query, variables: { n: 3, id: '7', f: ['x'], w: { min: 1 } } });
    const { input, call, onlyReads, name } = read(`curl https://x.test/graphql ${json} -d '${body}'`);
    expect(input.map((one) => [one.name, one.type])).toEqual([
      ['n', 'integer'],
      ['id', 'string'],
      ['f', 'array'],
      ['w', 'object'],
    ]);
    expect({ onlyReads, name, envelope: call.envelope }).toEqual({
      onlyReads: true,
      name: 'get_a',
      envelope: 'graphql',
    });
    const mutation = JSON.stringify({ query: 'mutation { pay(amount: 1) { id } }' });
    expect(read(`curl https://x.test/graphql ${json} -d '${mutation}'`).onlyReads).toBe(false);
    for (const head of [
      'mutation M($x: In = {a: 1})',
      'mutation M @d(a: 1)',
      'query A { mutation } mutation B',
    ]) {
      const written = JSON.stringify({ query: `${head} { pay(x: $x) { id } }` });
      expect(read(`curl https://x.test/graphql ${json} -d '${written}'`).onlyReads, head).toBe(false);
    }
    const field = JSON.stringify({ query: 'query A($x: In = {a: 1}) { gene(x: $x) { mutation } }' });
    expect(read(`curl https://x.test/graphql ${json} -d '${field}'`).onlyReads).toBe(true);
    const hidden = JSON.stringify({ query: 'query A { a } mutation B { b }' });
    expect(read(`curl https://x.test/graphql ${json} -d '${hidden}'`).onlyReads).toBe(false);
  });

  it('of JSON-RPC decide by their method whether they read', () => {
    const reading = ['eth_call', 'eth_getLogs', 'getBalance', 'eth_blockNumber', 'net_version'];
    const others = [
      ...['eth_sendRawTransaction', 'personal_sign', 'eth_sign', 'admin_peers', 'debug_traceCall'],
      ...['submitBlock', 'getaway', 'eth_submitWork'],
    ];
    expect([...reading, ...others].filter(readsByRpc)).toEqual(reading);
  });

  it('that name another method in a header may change something', () => {
    expect(read("curl https://x.test/a -H 'X-HTTP-Method-Override: DELETE'").onlyReads).toBe(false);
  });

  it('of a batch and a subscription are refused', () => {
    for (const body of ['[{"jsonrpc":"2.0","id":1,"method":"a"}]', '{"query":"subscription { a }"}'])
      expect(() => read(`curl https://x.test/ ${json} -d '${body}'`)).toThrow(CommandError);
  });

  it('that browsers add are not sent, and are reported', () => {
    const { call, notes } = read(
      "curl https://x.test/ -H 'sec-fetch-mode: cors' -H 'user-agent: Mozilla/5.0' -H 'cookie: a=b' -H 'x-app: 1'",
    );
    expect(call.headers).toEqual([{ name: 'x-app', constant: '1' }]);
    expect(notes[0]?.what).toBe('sec-fetch-mode, user-agent, cookie are not sent');
  });

  it('with a wrong escape are repeated as they are, and cookies are not', () => {
    const line = "curl 'https://x.test/a?%zz=1' -b session=k1 -e 'https://x.test/?token=k2'";
    expect(keylessCurl(curlRequest(line), read(line).call)).toEqual(['curl', 'https://x.test/a?%zz=1']);
  });
});

it.each([
  ...documented,
  ...[
    ["-H 'X-Session-Id: OzMw7pIsluM2t67Q1qE4AYdbDV6ZW7FcbGfM'", 'OzMw7pIsluM2t67Q1qE4AYdbDV6ZW7FcbGfM'],
    [`-H 'X-Own: ${signed}'`, signed],
    [`-G -d visitor=${signed}`, signed],
    [`-d visitor=${signed}`, signed],
    [`${json} -d '{"visitor":"${signed}"}'`, signed],
    ['-u name:word', 'word'],
  ].map(([flags, key]) => ({ api: flags, curl: `curl https://x.test/a ${flags}`, key: [key] as const })),
])(
  'a repeated command of $api has variables in place of keys, and is read in the same way',
  ({ curl, key }) => {
    const given = curlRequest(curl);
    const first = read(curl);
    const words = keylessCurl(given, first.call);
    const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    if (key) expect(line).not.toContain(key[0]);
    const second = read(line.replace("'curl'", 'curl'));
    expect({ ...second.call }).toEqual({ ...first.call });
    expect(second.input).toEqual(first.input);
    expect([...second.keySources.keys()]).toEqual([...first.keySources.keys()]);
  },
);

it('a repeated command has inputs without a value outside of single quotes, and texts that only look like one', () => {
  const line = `curl "https://x.test/a?city=$CITY&text=\\$TEXT&api_key=k1" -d 'note=$NOTE'`;
  const given = curlRequest(line);
  const first = read(line);
  const repeated = keylessLine(given, first.call);
  expect(repeated).toBe(
    `curl "https://x.test/a?city=$CITY&text=\\$TEXT&api_key=\\$X_API_KEY" --data-raw 'note=$NOTE'`.replace(
      ' --data-raw',
      " -H 'content-type: application/x-www-form-urlencoded' --data-raw",
    ),
  );
  const second = read(repeated);
  expect(second.input).toEqual(first.input);
  expect(second.input.map(({ name, default: value }) => [name, value])).toEqual([
    ['city', undefined],
    ['text', '$TEXT'],
    ['note', '$NOTE'],
  ]);
  expect([...second.keySources]).toEqual([['X_API_KEY', { variable: 'X_API_KEY' }]]);
});

it.each(['https://x.test/v1/$API_KEY', 'https://x.test/v1/${ACCESS_TOKEN}/a'])(
  'a variable that is named like a key is refused in a path: %s',
  (url) => {
    expect(() => read(`curl "${url}"`)).toThrow('has what looks like a key in its path');
  },
);

describe('a wrong place for a curl command, or a wrong command', () => {
  it.each(['curl', 'wget https://api.example.com/prices', '/nowhere/a b.txt'])('%s', async (text) => {
    const { errors = [] } = (await readRequestText(text, startImport())) as {
      errors?: readonly { message: string }[];
    };
    expect(errors).toMatchObject([
      { value: `"${text}"`, message: expect.stringMatching(/^is neither a curl command/) },
    ]);
  });

  it('a directory is none, and the error keeps the key of the command for itself', () => {
    const result = createQuestions.directory.parse(
      "curl https://api.example.com/prices -H 'x-api-key: s3cret'",
    );
    expect(result).toMatchObject({ ok: false, errors: [{ message: 'is a curl command' }] });
    expect(JSON.stringify(result)).not.toContain('s3cret');
  });
});
