import { expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';
import type { SegmentInput } from '../../src/import/request/path-segments.ts';

const read = (path: string) => {
  const line = `curl 'https://api.x.test${path}'`;
  const { call, input } = unwrap(parseRequest(curlRequest(line), { input: [], constants: [] }));
  return { path: call.path, values: input.map(({ default: value }) => value) };
};

it.each([
  ['/v1/coins/BTC/quote', '/v1/coins/{coin}/quote', ['BTC']],
  ['/stocks/BRK-B', '/stocks/{stock}', ['BRK-B']],
  ['/v1/pairs/BTC/USDT/price', '/v1/pairs/{pair}/{symbol}/price', ['BTC', 'USDT']],
  ['/v1/markets/BTC_USDT', '/v1/markets/{market}', ['BTC_USDT']],
  ['/projects/:id/issues', '/projects/{id}/issues', [undefined]],
  ['/v1/campaigns/cmpn_101/insights', '/v1/campaigns/{campaign_id}/insights', ['cmpn_101']],
  ['/v1/customers/cus_NffrFeUfNV2Hib', '/v1/customers/{customer_id}', ['cus_NffrFeUfNV2Hib']],
  ['/v1/artists/0TnOYISbd1XYRBk9myaseg', '/v1/artists/{artist_id}', ['0TnOYISbd1XYRBk9myaseg']],
  ['/videos/dQw4w9WgXcQ', '/videos/{video_id}', ['dQw4w9WgXcQ']],
  ['/v1/2024-01-15/currencies/eur.json', '/v1/{date}/currencies/eur.json', ['2024-01-15']],
  ['/v1/rates/2024-01-15..2024-02-15', '/v1/rates/{date}', ['2024-01-15..2024-02-15']],
  ['/points/7', '/points/{point_id}', [7]],
])('%s has the inputs of %s', (path, template, values) => {
  expect(read(path)).toEqual({ path: template, values });
});

it.each([
  ['/v1/chat/completions'],
  ['/v1beta/models/gemini-2.0-flash:generateContent'],
  ['/api/JSON/list'],
  ['/2024-01-15/list'],
  ['/12/list'],
  ['/v1/OHLC'],
  ['/market/OHLC'],
  ['/regions/US/list'],
  ['/content/en-US/list'],
  ['/3.0/ping'],
  ['/BTC'],
  ['/v3/Projects'],
  ['/WeChat/CallEpcJavaJson'],
])('%s is constant', (path) => {
  expect(read(path)).toEqual({ path, values: [] });
});

const readWith = (line: string, segments: readonly SegmentInput[]) =>
  parseRequest(curlRequest(line), { input: [], constants: [], segments });

it('a segment that its author names is an argument with its value as the default', () => {
  const line = "curl 'https://api.x.test/v3/coins/bitcoin/quote'";
  const { call, input } = unwrap(readWith(line, [{ name: 'coin', value: 'bitcoin' }]));
  expect(call.path).toBe('/v3/coins/{coin}/quote');
  expect(input).toMatchObject([{ name: 'coin', required: true, type: 'string', default: 'bitcoin' }]);
});

it('a named segment counts once: an equal segment behind it is constant', () => {
  const line = "curl 'https://api.x.test/pairs/eur/eur'";
  expect(unwrap(readWith(line, [{ name: 'base', value: 'eur' }])).call.path).toBe('/pairs/{base}/eur');
});

it('a named segment that the path does not have is an error with the closest segment', () => {
  const read = readWith("curl 'https://api.x.test/coins/bitcoin'", [{ name: 'coin', value: 'bitcon' }]);
  expect(read).toMatchObject({
    ok: false,
    errors: [{ where: '--segment', hint: 'Did you mean coin=bitcoin?' }],
  });
});

it('the constant segments behind a word are listed with the flag that makes one an argument', () => {
  const { notes, constantSegments } = unwrap(readWith("curl 'https://api.x.test/api/v3/coins/bitcoin'", []));
  expect(constantSegments).toEqual([{ name: 'coin', value: 'bitcoin' }]);
  expect(notes).toContainEqual({
    path: 'path',
    what: 'bitcoin stays constant',
    why: '--segment coin=bitcoin makes bitcoin an argument',
  });
});
