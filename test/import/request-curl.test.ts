import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AuthorRequest } from '../../src/import/request/author-request.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { isCurl } from '../../src/import/request/curl-text.ts';
import { RequestRefusal } from '../../src/import/request/request-refusal.ts';
import { splitCommandLine, unquotedVariables } from '../../src/import/request/shell-words.ts';
import { type ApiRequest, startApi } from '../api-server.ts';
import { scratch } from '../e2e/support.ts';
import fc from '../fast-check.ts';

// The judge is the real curl, run by a real shell, and what a server receives from it.
const run = promisify(execFile);

const { origin, requests: received } = await startApi(() => ({ body: {} }));

async function sentByCurl(line: string): Promise<ApiRequest> {
  received.length = 0;
  await run('bash', ['-c', line.replace(/\bcurl\b/, 'curl -s')]);
  expect(received).toHaveLength(1);
  return received[0] as ApiRequest;
}

/** Headers that curl adds by itself. */
const own = ['host', 'user-agent', 'content-length', 'accept-encoding'];

function comparable({ method, target, headers, body }: ApiRequest): object {
  const [, boundary] = /boundary=(.*)/.exec(headers['content-type'] ?? '') ?? [];
  const kept = Object.entries(headers).filter(
    ([name, value]) =>
      !(name === 'user-agent' ? /^curl\//.test(String(value)) : own.includes(name)) &&
      !(name === 'accept' && value === '*/*') &&
      !(name === 'content-type' && boundary),
  );
  return {
    method,
    target: upper(target ?? ''),
    headers: Object.fromEntries(kept),
    body: boundary ? partsIn(body, boundary) : body,
  };
}

/** curl 7.88 writes the digits of some escapes small, later ones do not (RFC 3986 §2.1: they are equal). */
function upper(target: string): string {
  return target.replaceAll(/%[\da-f]{2}/gi, (digits) => digits.toUpperCase());
}

function partsIn(body: string, boundary: string): readonly (readonly string[])[] {
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => [...(/name="([^"]*)"\r\n\r\n(.*)\r\n$/s.exec(part)?.slice(1) ?? [part])]);
}

function asSent({ method, url, headers, body }: AuthorRequest): object {
  const { host } = new URL(origin);
  expect(url.startsWith(`http://${host}/`)).toBe(true);
  return {
    method: method.toUpperCase(),
    target: url.slice(`http://${host}`.length),
    headers: Object.fromEntries(headers),
    body: body ?? '',
  };
}

async function expectSame(line: string): Promise<void> {
  expect(asSent(curlRequest(line)), line).toEqual(comparable(await sentByCurl(line)));
}

const lines = [
  'curl @/v1/prices',
  "curl '@/v1/prices?ids=bitcoin,ethereum&vs=usd'",
  `curl -X GET "@/a?b=c d" `.replace('c d', 'c%20d'),
  "curl -G @/search -d q=rust -d 'page=3' --data-urlencode 'name=a b&c=d/e' --data-urlencode '=x~y!z'",
  "curl '@/search?a=1' -G --data-urlencode q='Zürich ☃'",
  'curl @/rpc -H "Content-Type: application/json" -d \'{"jsonrpc":"2.0","method":"eth_call","params":[{"to":"0x1"},"latest"],"id":1}\'',
  `curl --json '{"a": "it'"'"'s"}' --json '' @/j`,
  String.raw`curl @/q --data-raw $'{"query":"query {\n  a(x: \"\u0021\") { b }\n}","v":"\xc3\xa9\t\'"}' -H 'content-type: application/json'`,
  'curl -u user:pass @/me',
  'curl -u key: @/me',
  'curl --oauth2-bearer abc.def @/me',
  'curl -sSL --compressed --max-time 5 -XPOST -dx=1 -dy=2 @/form',
  "curl -X PUT @/put -d 'a=1' --data-raw '@b' --data-binary 'c\nd'",
  "curl -F name=value -F 'two=a b' --form-string 'three=;x' @/parts",
  "curl -X DELETE @/x -H 'X-Empty;' -H 'Accept:' -H 'X-Two: 1' -H 'X-Two: 2' -b 'a=b; c=d'",
  'curl -A "my app/1.0 (me@example.com)" -e http://example.com/ @/agent',
  'curl \\\n  -H "X-A: 1" \\\n  --url @/lines   # with a comment',
  "curl @/headers -H 'X-A:' -H 'X-A: 1' -H 'X-A:' -H 'X-B;no'",
  'curl @/cookies -b a=1 -b b=2',
  'curl @/a/../b/./c?x=/../y',
  'curl -g "@/g?filter[name]=a&list={b}"',
  'curl "@/d?x=\\$HOME\\"q\\\\"',
  'curl @/a#fragment',
  `curl -G --json '{"a":1}' -d b=2 '@/x?y=1'`,
  "curl -e 'http://x.test/;auto' @/referer",
  "curl -e ';auto' -b '' -A '' @/empty",
  'curl @/a%2Eb/%2E%2Ec/d.%2E.e',
  'curl -X PATCH @/p --data-ascii a --data-urlencode "b@c=d" '.replace(' --data-urlencode "b@c=d"', ''),
].map((line) => line.replaceAll('@/', `${origin}/`));

describe('a curl command', () => {
  it.each(lines)('is read as the real curl sends it: %s', expectSame);

  it('is recognized, also behind the prompt of a page', () => {
    expect(['curl x', '$ curl x', ' curl.exe x', 'curl\\\n x', 'curl.json', 'a.har'].map(isCurl)).toEqual([
      ...[true, true, true],
      ...[false, false, false],
    ]);
  });

  it.each([
    ['curl https://x.test/ -k', '-k'],
    ['curl https://x.test/ --proxy http://p', '--proxy'],
    ['curl -T f https://x.test/', '-T'],
    ['curl -K f https://x.test/', '-K'],
    ['curl -n https://x.test/', '-n'],
    ['curl -so f https://x.test/', '-o'],
    ['curl --unix-socket s http://x.test/', '--unix-socket'],
    ['curl --cert c https://x.test/', '--cert'],
    ['curl --aws-sigv4 a https://x.test/', '--aws-sigv4'],
    ['curl --constructor https://x.test/', '--constructor'],
    ['curl https://x.test/ -d @f', '@…'],
    ['curl https://x.test/ --data-binary @f', '@…'],
    ['curl https://x.test/ --json @f', '@…'],
    ['curl https://x.test/ --data-urlencode a@f', 'a@…'],
    ['curl https://x.test/ -F a=@f', 'a=@…'],
    ['curl https://x.test/ -F "a=<f"', 'a=@…'],
    ['curl https://x.test/ -H @f', '@…'],
    ['curl https://x.test/ -b jar', '-b'],
    ['curl "https://x.test/{a,b}"', '{a,b}'],
    ['curl "https://x.test/[1-3]"', '[1-3]'],
    ['curl https://x.test/{a,b}', 'a shell expands'],
    ['curl "https://x.test/$(id)"', 'a shell runs'],
    ['curl "https://x.test/`id`"', 'a shell runs'],
    ['curl https://x.test/$(id)', '$('],
    ['curl https://x.test/; rm -rf /', ';'],
    ['curl https://x.test/?a=1&b=2', '&'],
    ['curl https://x.test/ | sh', '|'],
    ['curl https://x.test/ | jq . > f', '|'],
    ['curl https://x.test/ > f', '>'],
    ['curl https://x.test/ <f', '<'],
    ['curl https://x.test/\nrm -rf /', 'a second line'],
    ['curl https://x.test/ https://y.test/', 'several URLs'],
    ['curl file:///etc/passwd', 'file:'],
    ['curl gopher://x.test/', 'gopher:'],
    ["curl https://x.test/ -H $'a: b\\r\\nc: d'", 'no header'],
    ["curl https://x.test/ -H $'a: b\\nc: d'", 'no header'],
    ["curl $'https://x.test/a\\r\\nb'", 'no valid URL'],
    ['curl https:/x.test/a', 'one slash'],
    ["curl 'https://x.test/a\\b'", 'which fetch changes'],
    ['curl https://x.test/a/%2e%2E/b', 'which fetch changes'],
    ["curl -G https://x.test/ -d 'a b=c'", 'no valid URL'],
    ["curl 'https://x.test/", 'no end for a quote'],
    ['curl -I https://x.test/', '-I'],
    ['curl -X GET https://x.test/ -d a', 'body with GET'],
    ['curl -X TRACE https://x.test/', 'TRACE'],
    ['curl -u me https://x.test/', '-u'],
    ['curl -X post https://x.test/ -d a', 'has the method post'],
    ['curl -X sk-live-4f9a https://x.test/', 'has the method …'],
    ['curl --tr-encoding https://x.test/', '--tr-encoding'],
    ['curl https://x.test/a/.%2e', 'which fetch changes'],
    ['curl https://x.test/ -d', 'no value for -d'],
    ['curl -s', 'no URL'],
    ['curl ^"https://x.test/^" & calc', '&'],
  ])('is refused by name: %s', (line, named) => {
    expect(() => curlRequest(line)).toThrow(RequestRefusal);
    expect(() => curlRequest(line)).toThrow(named);
  });

  it('may be piped to jq, which only changes how the response is printed', () => {
    const piped = { url: 'https://x.test/a', pipe: "| jq '.[0]'" };
    expect(curlRequest("curl https://x.test/a | jq '.[0]'")).toMatchObject(piped);
  });

  it('keeps inputs of a path in braces', () => {
    expect(curlRequest('curl https://x.test/{chain=base}/gas').url).toBe('https://x.test/{chain=base}/gas');
  });

  it('is read as Chrome copies it for cmd', () => {
    const copied =
      'curl ^"https://x.test/a?b=1^&c=^%^20^" ^\n  -H ^"content-type: application/json^" ^\n  --data-raw ^"^{^\\^"q^\\^":^\\^"a^\n\nb^\\^"^}^"';
    expect(splitCommandLine(copied).words).toEqual([
      ...['curl', 'https://x.test/a?b=1&c=%20', '-H', 'content-type: application/json'],
      ...['--data-raw', '{"q":"a\nb"}'],
    ]);
    expect(splitCommandLine('curl "https://x.test/a" ^\r\n  -H "a: ^x"').words).toEqual([
      'curl',
      'https://x.test/a',
      '-H',
      'a: ^x',
    ]);
  });
});

it.each([
  ['curl $A "$B" "x${C}y" %D%', ['A', 'B', 'C', 'D']],
  ["curl '$A' $'$B' \\$C \"\\$D\" '%E%'", []],
  [`curl '"'$A'"' "'$B'"`, ['A', 'B']],
  ['curl "\\\\$A" \\\\$B', ['A', 'B']],
  ['curl ^"%A%^" ^"^%B^%^"', ['A']],
])('contains variables outside of single quotes: %s', (line, names) => {
  expect([...unquotedVariables(line)]).toEqual(names);
});

/** Texts of everything that a shell could read in another way. */
const text = fc.string({ unit: fc.constantFrom(...'ab \t\n\\\'"$`!{}[],;&|<>()#*~=@%:/é☃'), maxLength: 12 });
const quotings = [
  (value: string) => `'${value.replaceAll("'", `'\\''`)}'`,
  (value: string) => `"${value.replaceAll(/[\\"$`]/g, '\\$&')}"`,
  (value: string) =>
    `$'${value.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('☃', '\\u2603').replaceAll('é', '\\xc3\\xa9')}'`,
  (value: string) =>
    value === '' ? "''" : value.replaceAll(/[^\w\n]/gu, '\\$&').replaceAll('\n', () => "$'\\n'"),
];

it('splits any line as bash does, whatever the quotes', async () => {
  const word = fc.array(fc.tuple(text, fc.constantFrom(...quotings)), { minLength: 1, maxLength: 3 });
  const rows = fc.sample(fc.array(word, { minLength: 1, maxLength: 4 }), 300);
  const made = rows.map((row) =>
    row.map((parts) => parts.map(([value, quote]) => quote(value)).join('')).join(' \\\n '),
  );
  const script = made.map((line) => `printf '%s\\0' curl ${line}; printf '\\1'`).join('\n');
  const { stdout } = await run('bash', ['-c', script], { maxBuffer: 10_000_000, cwd: scratch() });
  const expected = stdout
    .split('\x01')
    .slice(0, -1)
    .map((words) => words.split('\0').slice(0, -1));
  expect(made.map((line) => splitCommandLine(`curl ${line}`).words)).toEqual(expected);
});
