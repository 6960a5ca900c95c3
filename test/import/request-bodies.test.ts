import { expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import { argumentsInSchema } from '../../src/changes/send-requests.ts';
import { fieldsSchema } from '../../src/fields/shape.ts';
import { requestOf } from '../../src/import/api-recordings.ts';
import type { AuthorRequest } from '../../src/import/request/author-request.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { harRequests } from '../../src/import/request/har.ts';
import { keylessLine } from '../../src/import/request/keyless-line.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';
import { catchRefusal, RequestRefusal } from '../../src/import/request/request-refusal.ts';

function read(given: AuthorRequest) {
  return unwrap(parseRequest(given, { input: [], constants: [] }));
}

/** What a tool sends if its caller gives the values of the request. */
function sent(line: string) {
  const { call, input } = read(curlRequest(line));
  return { ...requestOf(call, argumentsInSchema(fieldsSchema(input))), type: call.body?.mediaType };
}

function recorded(
  request: Json,
  response: Json = { content: { mimeType: 'application/json' } },
): AuthorRequest {
  const whole = { method: 'POST', url: 'https://x.test/a', headers: [], ...(request as object) };
  const [given] = harRequests({ log: { entries: [{ request: whole, response }] } } as Json);
  if (!given) throw new Error('no request');
  return given;
}

const rejection = (given: () => AuthorRequest) => {
  const parsed = catchRefusal(() => parseRequest(given(), { input: [], constants: [] }));
  if (parsed.ok) throw new Error('was not rejected');
  return parsed.errors[0]?.message;
};

const form = 'application/x-www-form-urlencoded';

it.each([
  ["-d 'SELECT 1'", { text: 'SELECT 1', type: form }],
  ["-d 'SELECT * FROM t WHERE a=1'", { text: 'SELECT * FROM t WHERE a=1', type: form }],
  ['-d 123', { text: '123', type: form }],
  ["-d 'a=1&flag'", { text: 'a=1&flag', type: form }],
  ["-d '<a b=\"c\"/>' -H 'content-type: application/xml'", { text: '<a b="c"/>', type: 'application/xml' }],
  ["-d 5 -H 'content-type: application/json'", { text: '5', type: 'application/json' }],
  ['-d a=1 -d a=2 -d b=3', { form: { a: ['1', '2'], b: 3 }, type: undefined }],
  ['-F a=1 -F a=2 -F b=3', { multipart: { a: ['1', '2'], b: 3 }, type: undefined }],
  [`-d '{"a":1}' -H 'content-type: text/plain;'`, { json: { a: 1 }, type: 'text/plain;' }],
  [`-d '{"a":1}'`, { json: { a: 1 }, type: form }],
  [`--json '[{"op":"add","value":[1]}]'`, { json: [{ op: 'add', value: [1] }], type: undefined }],
  ["--json '[1,2]'", { json: [1, 2], type: undefined }],
  [`--json '[{"a":1},{"a":2}]'`, { json: [{ a: 1 }, { a: 2 }], type: undefined }],
])('a body is sent as curl sends it: %s', (options, expected) => {
  expect(sent(`curl https://x.test/a ${options}`)).toMatchObject(expected);
});

it('JSON without a media type is sent as a form, and a note says so', () => {
  const notesOf = (options: string) => read(curlRequest(`curl https://x.test/a ${options}`)).notes;
  expect(notesOf(`-d '{"a":1}'`)).toMatchObject([{ path: 'body', what: expect.stringContaining(form) }]);
  expect(notesOf(`--json '{"a":1}'`)).toEqual([]);
  expect(notesOf('-d a=1')).toEqual([]);
});

it('a content type without a body, a query without a value, and an accept header with parameters are sent', () => {
  const line = `curl -X POST 'https://x.test/a?wsdl&b=1' -H 'content-type: application/json' -H 'accept: application/json;v=2'`;
  const { path, query, headers } = sent(line);
  expect({ path, query, headers }).toEqual({
    path: '/a?wsdl',
    query: { b: 1 },
    headers: { accept: 'application/json;v=2', 'content-type': 'application/json' },
  });
});

it('the language is sent, unless a browser set it, which is reported', () => {
  const language = "curl https://x.test/a -H 'accept-language: de'";
  expect(sent(language).headers).toEqual({ 'accept-language': 'de' });
  for (const browser of ["-H 'sec-fetch-mode: cors'", "-A 'Mozilla/5.0'"]) {
    const { call, notes } = read(curlRequest(`${language} ${browser}`));
    expect(call.headers).toEqual([]);
    expect(notes.map(({ what }) => what).join()).toContain('accept-language');
  }
});

it.each(['dXNlcjpwYXNz', 'dXNlcjpwYXNzd29yZDEyMzQ', 'dXNlcjpw5HNzd/ZyZDE=', '3f2504e0-4f89-11d3', 'a2V5'])(
  'a Basic header is a user with a password only if encoding them again gives the same text: %s',
  (text) => {
    const { call, keySources } = read(curlRequest(`curl https://x.test/a -H 'authorization: Basic ${text}'`));
    const [key] = (call.acceptedKeys ?? []).flat();
    const isPair = text === 'dXNlcjpwYXNz';
    expect(key?.kind).toBe(isPair ? 'basic' : 'plain');
    if (!isPair) expect([key?.prefix, ...keySources.values()]).toEqual(['Basic ', { value: text }]);
  },
);

it.each([
  ["-d 'api_key=s3cr3tvalue&flag'", 'has a key in a body'],
  [`-d '<a><password>s3cr3t</password></a>' -H 'content-type: text/xml'`, 'has a key in a body'],
  [`--json '[{"b":{"api_key":"s3cr3tvalue"}}]'`, 'has a key in body'],
  ["-H 'host: other.test'", 'has the header Host: other.test'],
  ["-H 'transfer-encoding: chunked' -d a=1", 'Transfer-Encoding'],
  ["-H 'x-name: Zürich'", 'not ASCII'],
  ["-d x -H 'content-type:'", 'without a media type'],
  [`-H 'content-type: multipart/form-data; boundary=b' -d x`, 'multipart body'],
])('what a tool cannot send is rejected: %s', (options, message) => {
  expect(rejection(() => curlRequest(`curl https://x.test/a ${options}`))).toContain(message);
});

it('a host that is the one of the URL, a length and a connection are dropped and reported', () => {
  const options = "-H 'Host: x.test:443' -H 'Content-Length: 3' -H 'Connection: keep-alive' -d a=1";
  const { call, notes } = read(curlRequest(`curl https://x.test/a ${options}`));
  expect(call.headers).toEqual([]);
  expect(notes[0]?.what).toBe('host, content-length, connection are not sent');
});

const boundary = '----WebKitFormBoundaryX';
const parts = (...all: readonly string[]) =>
  `${all.map((part) => `--${boundary}\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--${boundary}--\r\n`;
const multipart = `multipart/form-data; boundary=${boundary}`;

it('the text of a multipart body, as a browser copies or records it, is its parts, without the keys in the printed line', () => {
  const text = parts('name="lang"\r\n\r\neng', 'name="lang"\r\n\r\ndeu', 'name="api_key"\r\n\r\ns3cr3tvalue');
  const copied = curlRequest(`curl https://x.test/a -H 'content-type: ${multipart}' --data-raw '${text}'`);
  const saved = recorded({ postData: { mimeType: multipart, text, params: [] } });
  for (const given of [copied, saved]) {
    const { call, input } = read(given);
    expect(call.body?.kind).toBe('multipart');
    expect(input.map(({ name, default: value }) => [name, value])).toEqual([['lang', ['eng', 'deu']]]);
    expect(keylessLine(given, call)).not.toContain('s3cr3tvalue');
  }
});

it.each<[string, object]>([
  ['params', { mimeType: 'multipart/form-data', params: [{ name: 'foo', value: 'x', fileName: 'a.txt' }] }],
  ['text', { mimeType: multipart, text: parts('name="foo"; filename="a.txt"\r\n\r\nx') }],
])('a file among the parts of a recorded request is rejected with its name: %s', (_, postData) => {
  expect(rejection(() => recorded({ postData } as Json))).toContain('a file as its part foo');
});

it('a recorded body in base64 is decoded, and one of bytes is rejected', () => {
  const encoded = (bytes: Buffer) =>
    recorded({ postData: { mimeType: form, text: bytes.toString('base64'), encoding: 'base64' } });
  const { call } = read(encoded(Buffer.from('param1=value1&param2=ü')));
  expect(requestOf(call, { param1: 'value1', param2: 'ü' })).toMatchObject({ form: { param1: 'value1' } });
  expect(rejection(() => encoded(Buffer.from([0xff, 0xfe, 0])))).toContain('bytes that are no text');
});

it('a recorded request that cannot be sent keeps its place, and those beside it can be chosen', () => {
  const response = { content: { mimeType: 'text/plain', text: '{"a":1}' } };
  const entry = (request: object) => ({
    request: { headers: [], url: 'https://x.test/a', ...request },
    response,
  });
  const file = { mimeType: 'multipart/form-data', params: [{ name: 'f', fileName: 'a' }] };
  const strange = { toString: 1 } as unknown as Json;
  const entries = [
    entry({ method: 'POST', postData: file }),
    entry({ method: strange }),
    entry({ method: 'GET', url: strange }),
    entry({ method: 'GET', headers: [{ name: strange, value: strange }], postData: strange }),
  ];
  const [first, second, ...others] = harRequests({ log: { entries } } as unknown as Json);
  expect(others).toEqual([]);
  expect(first?.refusal).toBeInstanceOf(RequestRefusal);
  expect(second && read(second).call.method).toBe('get');
});
