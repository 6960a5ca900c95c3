import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { logFailedRequest } from '../../packages/runtime/src/source/failure-log.ts';
import {
  recordingFile,
  recordingsToWrite,
  replayRecording,
  writeRecording,
} from '../../packages/runtime/src/source/recordings.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { recordingPath } from '../../src/import/api-recordings.ts';
import { directory as newDirectory } from '../project/directory.ts';
import { always, errorOf, source } from './source-server.ts';

let directory: string;
beforeEach(() => {
  directory = newDirectory();
});

const asked = {
  method: 'get',
  path: '/gas/{chain}',
  params: { chain: 'base' },
  query: { a: 1, b: undefined },
};

it('a request finds its recording in any order of members', () => {
  writeRecording(asked, { status: 200, text: '{"gwei":1}' }, [], directory);
  writeRecording({ ...asked, params: { chain: 'x' } }, { status: 404, text: '' }, [], directory);
  expect(
    replayRecording(
      { query: { b: null, a: 1 }, params: { chain: 'base' }, path: asked.path, method: 'get' },
      directory,
    ),
  ).toEqual({ status: 200, text: '{"gwei":1}' });
  expect(replayRecording({ ...asked, params: { chain: 'x' } }, directory)).toEqual({ status: 404, text: '' });
  expect(readdirSync(directory)).toEqual(['get-gas-chain.json']);
});

it.each(['/gas/{chain}', '/', '/v1/Prices.json?wsdl', `/${'long/'.repeat(40)}`])(
  'an import names the recordings file of %s as a server does',
  (path) => {
    const request = { method: 'get' as const, path };
    expect(recordingPath(request)).toBe(`test/recordings/${recordingFile(request)}`);
  },
);

it('a newer exchange replaces the older one', () => {
  writeRecording(asked, { status: 200, text: '{"gwei":1}' }, [], directory);
  writeRecording(asked, { status: 200, text: '{"gwei":2}' }, [], directory);
  expect(replayRecording(asked, directory).text).toBe('{"gwei":2}');
});

it('a request without a recording fails with the command that records it, and logs no argument', async () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {});
  const parts = {
    params: { chain: 'caller-1' },
    query: { 'caller-2': 'caller-3' },
    json: ['caller-4'],
    binary: 'caller-5',
  };
  const request = logFailedRequest(async () => replayRecording({ ...asked, ...parts }, directory), undefined);
  await expect(request).rejects.toThrow(expect.objectContaining({ code: 'SOURCE_NOT_RECORDED' }));
  expect(JSON.parse(String(written.mock.calls))).toMatchObject({
    event: 'source',
    method: 'get',
    path: '/gas/{chain}',
    detail: expect.stringContaining('test/recordings/get-gas-chain.json'),
    hint: expect.stringMatching(
      /market-mcp record records.*"binary":"…","json":"…","params":"…","query":"…"/,
    ),
  });
  expect(String(written.mock.calls), 'arguments of callers').not.toContain('caller-');
  written.mockRestore();
});

it('contains no secret, even if the answer repeats one or a part of it', () => {
  const key = 'k3"y';
  const texts = new Secret('API_KEY', key).after('Bearer ').texts();
  writeRecording(
    asked,
    { status: 200, text: JSON.stringify({ you: `sent Bearer ${key}`, key }) },
    texts,
    directory,
  );
  const file = readFileSync(join(directory, recordingFile(asked)), 'utf8');
  expect(file).not.toContain('k3');
  expect(JSON.parse(file)[0].body).toEqual({ you: 'sent [secret]', key: '[secret]' });
});

it('contains no short secret as a word, and keeps longer words that contain one', () => {
  const answer = { you: 'api:pw, api', user: 'api', apiVersion: 'apiary pw1', nested: { has_api: 1 } };
  writeRecording(asked, { status: 200, text: JSON.stringify(answer) }, ['api', 'pw'], directory);
  const file = readFileSync(join(directory, recordingFile(asked)), 'utf8');
  expect(JSON.parse(file)[0].body).toEqual({
    you: '[secret]:[secret], [secret]',
    user: '[secret]',
    apiVersion: 'apiary pw1',
    nested: { has_api: 1 },
  });
});

it('shows invisible and direction characters as escapes, in requests, too', () => {
  const text = 'admin\u202e\u2066 \u200b\u{e0041}\u3164\u0085\ufeff\u2028 \u0661é';
  writeRecording(
    { ...asked, params: { chain: text } },
    { status: 200, text: JSON.stringify({ [text]: text }) },
    [],
    directory,
  );
  const file = readFileSync(join(directory, recordingFile(asked)), 'utf8');
  expect(file).toContain(
    String.raw`"admin\u202e\u2066 \u200b\udb40\udc41\u3164\u0085\ufeff\u2028 `.concat('\u0661é"'),
  );
  expect(file).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u0085\u2028]/u);
  expect(JSON.parse(replayRecording({ ...asked, params: { chain: text } }, directory).text)).toEqual({
    [text]: text,
  });
});

it.each([
  ['replayed', 'record', 'replay'],
  ['kept for a live check', 'live', 'live'],
])(
  'an answer with 404 that is %s fails as the real one, unless the request says that it is empty',
  async (_, first, then) => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    const [, started = ''] = process.argv;
    writeFileSync(join(directory, 'package.json'), '{"dependencies": {"market-mcp-runtime": "*"}}');
    process.argv[1] = directory;
    const { api, received } = await source(always({ error: 'no such book' }, 404));
    const real = await errorOf(api.get('/books/{id}', { params: { id: 99 } }));
    vi.stubEnv('SOURCES_KEPT', directory);
    vi.stubEnv('SOURCES', first);
    const nothing = { params: { id: 99 }, notFound: 'empty' } as const;
    expect(await api.get('/books/{id}', nothing)).toBeUndefined();
    vi.stubEnv('SOURCES', then);
    expect(await api.get('/books/{id}', nothing)).toBeUndefined();
    const again = await errorOf(api.get('/books/{id}', { params: { id: 99 } }));
    vi.unstubAllEnvs();
    process.argv[1] = started;
    expect(received).toHaveLength(2);
    expect(again).toEqual(real);
    expect(again.code).toBe('SOURCE_NOT_FOUND');
    const [said, saidAgain] = written.mock.calls.map(([line]) => ({ ...JSON.parse(line), at: '', time: '' }));
    expect(saidAgain).toEqual(said);
    expect(said).toMatchObject({ status: 404, hint: expect.stringContaining("set notFound: 'empty'") });
    written.mockRestore();
  },
);

it('a live server never answers from recordings', () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.stubEnv('NODE_ENV', 'production');
  writeRecording(asked, { status: 200, text: '{"gwei":1}' }, [], directory);
  expect(() => replayRecording(asked, directory)).toThrow(
    expect.objectContaining({ code: 'SOURCE_MISCONFIGURED' }),
  );
  vi.unstubAllEnvs();
  expect(replayRecording(asked, directory).text).toBe('{"gwei":1}');
  logged.mockRestore();
});

it.each(['test', 'test/recordings'])('nothing is recorded through a link at %s', (place) => {
  const outside = join(directory, 'outside');
  mkdirSync(join(outside, 'recordings'), { recursive: true });
  const project = join(directory, 'project');
  mkdirSync(join(project, place, '..'), { recursive: true });
  symlinkSync(outside, join(project, place));
  expect(() => writeRecording(asked, { status: 200, text: '1' }, [], recordingsToWrite(project))).toThrow(
    expect.objectContaining({ code: 'SOURCE_MISCONFIGURED' }),
  );
  expect(readdirSync(outside, { recursive: true })).toEqual(['recordings']);
});

it('nothing is recorded through a file that is a link, or over one that the write would follow', () => {
  const outside = join(directory, 'outside.json');
  writeFileSync(outside, '[]');
  const file = join(directory, recordingFile(asked));
  symlinkSync(outside, `${file}.${process.pid}`);
  writeRecording(asked, { status: 200, text: '1' }, [], directory);
  expect(readFileSync(outside, 'utf8')).toBe('[]');
  expect(replayRecording(asked, directory).text).toBe('1');
  rmSync(file);
  symlinkSync(outside, file);
  expect(() => writeRecording(asked, { status: 200, text: '2' }, [], directory)).toThrow(
    expect.objectContaining({ code: 'SOURCE_MISCONFIGURED' }),
  );
});
