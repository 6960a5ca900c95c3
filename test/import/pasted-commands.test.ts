import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { isCurl } from '../../src/import/request/curl-text.ts';
import { harRequests } from '../../src/import/request/har.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';
import { RequestRefusal } from '../../src/import/request/request-refusal.ts';

const read = (line: string) => unwrap(parseRequest(curlRequest(line), { input: [], constants: [] }));
const variablesIn = (line: string) => [...read(line).keySources];

describe('a command', () => {
  it.each([
    ['# get it\ncurl https://x.test/a'],
    ['# Fetch the block\n\n$ curl https://x.test/a'],
    ['# curl https://x.test/a'],
    ['> curl https://x.test/a'],
    ['C:\\Users\\me> curl.exe https://x.test/a'],
    ['/usr/bin/curl https://x.test/a'],
    ['curl https://x.test/a\n# done\n'],
    ['curl \\   \n https://x.test/a'],
    ['curl https://x.test/a | jq'],
    ['curl https://x.test/a \\\n| jq -r \'.a[] | [.b // "-", .c] | @tsv\''],
    ['curl https://x.test/a|json_pp'],
    ['curl https://x.test/a | python3 -m json.tool'],
  ])('is read from what people paste: %j', (text) => {
    expect(isCurl(text)).toBe(true);
    expect(curlRequest(text)).toMatchObject({ method: 'get', url: 'https://x.test/a', body: null });
  });

  it.each([
    ['curl https://x.test/a | json_pp | sh', 'contains |'],
    ['curl https://x.test/a | jq "$(id)"', 'contains |'],
    ['curl https://x.test/a | jq . ; id', 'contains |'],
    ['curl https://x.test/a | jq .\nid', 'contains |'],
    ['curl https://x.test/a | python3 -m http.server', 'contains |'],
    ['curl “https://x.test/a”', 'contains the typographic quote “'],
    ['curl https://x.test/a -H ‘a: b’', 'contains the typographic quote ‘'],
    ['curl https://x.test/a --url-query a@file', 'file of yours'],
  ])('is rejected with the reason: %j', (text, reason) => {
    expect(() => curlRequest(text)).toThrow(RequestRefusal);
    expect(() => curlRequest(text)).toThrow(reason);
  });

  it('keeps typographic quotes inside of quotes', () => {
    expect(curlRequest("curl https://x.test/ -d '“a”'").body).toBe('“a”');
  });

  it('has the body that Firefox copies for Windows', () => {
    const line = 'curl "https://x.test/a" -X POST --data-raw "{""q"":""a b"",""n"":[""c""]}"';
    expect(curlRequest(line).body).toBe('{"q":"a b","n":["c"]}');
  });

  it('has the query of --url-query, encoded unless a plus precedes it', () => {
    const line = "curl 'https://x.test/a?b=1' --url-query 'c=d e' --url-query '+f=%20'";
    expect(curlRequest(line).url).toBe('https://x.test/a?b=1&c=d+e&f=%20');
  });
});

describe('a placeholder', () => {
  it.each([
    ["curl 'https://x.test/a?key=GEMINI_API_KEY'", 'GEMINI_API_KEY'],
    ["curl https://x.test/a -H 'x-api-key: API_KEY'", 'API_KEY'],
    ["curl https://x.test/a -H 'Authorization: Bearer ACCESS_TOKEN'", 'ACCESS_TOKEN'],
    ["curl https://x.test/a -H 'Authorization: DeepL-Auth-Key [yourAuthKey]'", 'X_TOKEN'],
    ['curl https://x.test/a -d \'{"api_key":"tvly-YOUR_API_KEY"}\'', 'X_API_KEY'],
  ])('in the position of a key names its variable: %s', (line, variable) => {
    expect(variablesIn(line)).toEqual([[variable, { variable }]]);
  });

  it('of a user and of a password name two variables', () => {
    expect(variablesIn('curl https://x.test/a -u CLIENT_ID:CLIENT_SECRET').map(([name]) => name)).toEqual([
      'CLIENT_ID',
      'CLIENT_SECRET',
    ]);
    const zendesk = 'curl https://x.test/a -u {email}/token:{api_token}';
    expect(variablesIn(zendesk).every(([, source]) => 'variable' in source)).toBe(true);
  });

  it('elsewhere is a value', () => {
    const { input, keySources } = read("curl 'https://x.test/a?group_by=USER_ID'");
    expect([...keySources]).toEqual([]);
    expect(input).toMatchObject([{ name: 'group_by', default: 'USER_ID' }]);
  });
});

it('the requests of a HAR file have their positions in the file, and those without a response are not listed', () => {
  const request = { method: 'GET', url: 'https://x.test/a', headers: [] };
  const response = { status: 200, content: { mimeType: 'application/json' } };
  const image = { status: 200, content: { mimeType: 'image/png' } };
  const blocked = { status: 0, content: { mimeType: 'application/json' } };
  const entries = [
    { request },
    { request, response: image },
    { request, response },
    { request, response: blocked },
    { request, response },
  ];
  expect(harRequests({ log: { entries } } as Json).map(({ number }) => number)).toEqual([3, 5]);
});
