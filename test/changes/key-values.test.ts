import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startImport } from '../../src/changes/import-run.ts';
import { rememberTypedKey } from '../../src/changes/key-values.ts';
import { toolsFromOpenApi } from '../../src/changes/openapi.ts';
import { toolsFromRequests } from '../../src/changes/request-tools.ts';
import type { PartialAnswers } from '../../src/questions/partial-answers.ts';
import { openApiAnswers, requestAnswers } from '../../src/questions/tool-answers.ts';
import { startApi } from '../api-server.ts';
import { openApi } from '../e2e/upstreams.ts';
import { directory } from '../project/directory.ts';

const secret = 'wJalrXUtnFEMIK7MDENGbPxRfiCY';
const json = "-H 'content-type: application/json'";

/** An API that records every request. */
async function api() {
  const received: { readonly target: string; readonly headers: string; readonly body: string }[] = [];
  const { origin } = await startApi(({ method, target, headers, body }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    received.push({ target: `${method} ${target}`, headers: lines.join('\n'), body });
    return { body: { price: 1.5 } };
  });
  return { origin, received };
}

/** Reads and sends a request in an environment with SECRET. */
async function send(answers: PartialAnswers, run = startImport()) {
  vi.stubEnv('SECRET', secret);
  const result = await toolsFromRequests(requestAnswers({ effect: 'reads', ...answers }), run);
  const errors = result.ok
    ? []
    : result.errors.map(({ where, message, hint }) => `${where} ${message}. ${hint}`);
  return { isSent: result.ok, errors: errors.join('\n'), result };
}

afterEach(() => vi.unstubAllEnvs());

const basic = Buffer.from(`${secret}:`).toString('base64');

describe('a variable in the position of a key', () => {
  it.each([
    ['an authorization header', "-H 'authorization: Bearer $SECRET'", `authorization: Bearer ${secret}`],
    ['another scheme', "-H 'authorization: Token $SECRET'", `authorization: Token ${secret}`],
    ['any scheme', "-H 'authorization: Client-ID $SECRET'", `authorization: Client-ID ${secret}`],
    ['the scheme Basic', "-H 'authorization: Basic $SECRET'", `authorization: Basic ${secret}`],
    ['no scheme, in braces', `-H "authorization: \${SECRET}"`, `authorization: ${secret}`],
    ['the form of cmd', '-H "x-api-key: %SECRET%"', `x-api-key: ${secret}`],
    ['a header whose name says key', "-H 'x-api-key: $SECRET'", `x-api-key: ${secret}`],
    ['a bearer option', "--oauth2-bearer '$SECRET'", `authorization: Bearer ${secret}`],
    ['a user', "-u '$SECRET:'", `authorization: Basic ${basic}`],
    ['a query member', "-G -d 'api_key=$SECRET'", `GET /a?api_key=${secret}`],
    ['a query member in braces', "-G -d 'api_key=${SECRET}'", `GET /a?api_key=${secret}`],
    ['a member of a form', "-d 'api_key=$SECRET'", `api_key=${secret}`],
    ['a member of a JSON body', `${json} -d '{"api_key":"$SECRET","q":"a"}'`, `"api_key":"${secret}"`],
  ])('%s is sent only with --env', async (_, options, sent) => {
    const { origin, received } = await api();
    const line = `curl ${origin}/a ${options}`;
    const denied = await send({ fromRequest: [line] });
    expect({ isSent: denied.isSent, received }).toEqual({ isSent: false, received: [] });
    expect(denied.errors).toBe(
      `--from-request would send SECRET from your environment to ${origin}, so nothing was sent. Add --env SECRET to allow it.`,
    );
    const allowed = await send({ fromRequest: [line], env: ['SECRET'] });
    expect(allowed.errors).toBe('');
    expect(Object.values(received[0] ?? {}).join('\n')).toContain(sent);
  });

  it('is not sent to one API if another API of the same command must not have it', async () => {
    const [first, second] = await Promise.all([api(), api()]);
    vi.stubEnv('OTHER', secret);
    const fromRequest = [
      `curl ${first.origin}/a -H 'x-api-key: $SECRET'`,
      `curl ${second.origin}/a -H 'x-api-key: $OTHER'`,
    ];
    const { errors } = await send({ fromRequest, env: ['SECRET'] });
    expect(errors).toContain(`would send OTHER from your environment to ${second.origin}`);
    expect([first.received, second.received]).toEqual([[], []]);
  });

  it('without a value is an error that names the origin and the flag', async () => {
    const { origin, received } = await api();
    const { errors } = await send({ fromRequest: [`curl ${origin}/a -H 'x-api-key: $UNSET_KEY'`] });
    expect(errors).toContain(`has no value for UNSET_KEY at ${origin}`);
    expect(errors).toContain('--env UNSET_KEY');
    expect(received).toEqual([]);
  });
});

describe('a variable in any other position', () => {
  it.each([
    ['a query member', '"@/a?v=$SECRET"', 'v'],
    ['a query member in braces', '"@/a?v=${SECRET}"', 'v'],
    ['a member of a form', '@/a -d "v=$SECRET"', 'v'],
    ['a header', '@/a -H "x-own: $SECRET"', 'x-own'],
    ['a member of a JSON body', `@/a ${json} -d "{\\"v\\":\\"$SECRET\\"}"`, 'v'],
    ['a segment of the path', '@/a/$SYMBOL', 'symbol'],
    ['the form of cmd', '"@/a?v=%SECRET%"', 'v'],
  ])('outside of single quotes is an input without a value: %s', async (_, words, input) => {
    const { origin, received } = await api();
    const fromRequest = [`curl ${words.replace('@', origin)}`];
    const { errors } = await send({ fromRequest });
    expect(errors).toContain(`has no value for ${input}`);
    expect((await send({ fromRequest, env: ['SECRET'] })).errors).toContain(
      '--env is no variable that the request names as a key. It names none.',
    );
    expect(received).toEqual([]);
  });

  it.each([
    ['a query member', "'@/a?v=$SECRET'", 'GET /a?v=$SECRET'],
    ['a query member with a backslash', '"@/a?v=\\$SECRET"', 'GET /a?v=$SECRET'],
    ['a member of a form', "@/a -d 'v=$SECRET'", 'v=$SECRET'],
    ['a header', "@/a -H 'x-own: $SECRET'", 'x-own: $SECRET'],
    ['a header with a scheme', "@/a -H 'x-own: Bearer $SECRET'", 'x-own: Bearer $SECRET'],
    ['a member of a JSON body', `@/a ${json} -d '{"v":"$SECRET"}'`, '{"v":"$SECRET"}'],
    ['below the root of a JSON body', `@/a ${json} -d '{"a":{"v":"$SECRET"}}'`, '{"a":{"v":"$SECRET"}}'],
    ['a segment of the path', "'@/a/$SECRET'", 'GET /a/$SECRET'],
  ])('in single quotes is a text: %s', async (_, words, sent) => {
    const { origin, received } = await api();
    const fromRequest = [`curl ${words.replace('@', origin)}`];
    expect((await send({ fromRequest, env: ['SECRET'] })).isSent).toBe(false);
    expect(received).toEqual([]);
    expect((await send({ fromRequest })).errors).toBe('');
    const texts = Object.values(received[0] ?? {}).join('\n');
    expect(decodeURIComponent(texts)).toContain(sent);
    expect(texts).not.toContain(secret);
  });
});

it('a recorded request contains texts only: no value of a HAR file is a variable, and --env is refused', async () => {
  const { origin, received } = await api();
  const headers = [
    { name: 'Authorization', value: 'Bearer $SECRET' },
    { name: 'X-Own', value: '%SECRET%' },
  ];
  const request = { method: 'GET', url: `${origin}/a?v=$SECRET&api_key=\${SECRET}&city=<city>`, headers };
  const response = { content: { mimeType: 'application/json' } };
  const path = join(directory(), 'a.har');
  writeFileSync(path, JSON.stringify({ log: { entries: [{ request, response }] } }));
  const refused = await send({ fromRequest: [path], env: ['SECRET'] });
  expect(refused.errors).toContain('--env is no variable that the request names as a key');
  expect(received).toEqual([]);
  expect((await send({ fromRequest: [path] })).errors).toBe('');
  const [{ target = '', headers: sent = '' } = {}] = received;
  expect(decodeURIComponent(target)).toBe('GET /a?v=$SECRET&city=<city>&api_key=${SECRET}');
  expect(sent).toContain('authorization: Bearer $SECRET');
  expect(sent).toContain('x-own: %SECRET%');
});

describe('the .env of a project', () => {
  /** A project whose file of an API sends SECRET to an address. */
  function project(address: string, lines: readonly string[] = []): string {
    const root = directory();
    mkdirSync(join(root, 'src/apis'), { recursive: true });
    writeFileSync(
      join(root, 'src/apis/gas.ts'),
      `export const api = httpSource({ baseUrl: env.GAS_URL, headers: { 'x-api-key': env.SECRET } });\n`,
    );
    writeFileSync(
      join(root, 'src/env.ts'),
      `export const env = defineEnv({ GAS_URL: url('Gas', { default: '${address}/v1' }), SECRET: secret('Key') });\n`,
    );
    writeFileSync(join(root, '.env'), ['SECRET=of-the-project', 'OTHER=unused', ...lines, ''].join('\n'));
    return root;
  }

  it('has the value for the origin of the file that uses the variable, before the environment', async () => {
    const { origin, received } = await api();
    const fromRequest = [`curl ${origin}/a -H 'x-api-key: $SECRET'`];
    expect((await send({ fromRequest, directory: project(origin), env: ['SECRET'] })).errors).toBe('');
    expect(received[0]?.headers).toContain('x-api-key: of-the-project');
  });

  it.each([
    ['another port', () => 'http://127.0.0.1:1', []],
    ['another scheme', (origin: string) => origin.replace('http:', 'https:'), []],
    ['an address that .env replaces', (origin: string) => origin, ['GAS_URL=http://127.0.0.1:1/v1']],
  ])('has none for %s', async (_, addressOf, lines) => {
    const { origin, received } = await api();
    const fromRequest = [`curl ${origin}/a -H 'x-api-key: $SECRET'`];
    const { errors } = await send({ fromRequest, directory: project(addressOf(origin), lines) });
    expect(errors).toContain('would send SECRET from your environment');
    expect(received).toEqual([]);
  });

  it('has none for a variable that no file of an API uses', async () => {
    const { origin, received } = await api();
    const fromRequest = [`curl ${origin}/a -H 'x-api-key: $OTHER'`];
    const { errors } = await send({ fromRequest, directory: project(origin) });
    expect(errors).toContain(`has no value for OTHER at ${origin}`);
    expect(received).toEqual([]);
  });
});

it('a typed value is used first, and only in its run for the origin that it was typed for', async () => {
  const [first, second] = await Promise.all([api(), api()]);
  const lineOf = (origin: string) => [`curl ${origin}/a -H 'x-api-key: $SECRET'`];
  const run = startImport();
  rememberTypedKey(run, 'SECRET', first.origin, 'typed-key');
  expect((await send({ fromRequest: lineOf(first.origin), env: ['SECRET'] }, run)).errors).toBe('');
  expect(first.received[0]?.headers).toContain('x-api-key: typed-key');
  expect((await send({ fromRequest: lineOf(second.origin) }, run)).isSent).toBe(false);
  expect(second.received).toEqual([]);
  expect((await send({ fromRequest: lineOf(first.origin) }, startImport())).isSent).toBe(false);
});

it('an operation of an OpenAPI document gets a variable only with --env, which needs --send', async () => {
  const { origin, received } = await api();
  const securitySchemes = {
    key: { type: 'http', scheme: 'bearer' },
    other: { type: 'http', scheme: 'basic' },
  };
  const secured = { security: [{ key: [] }, { other: [] }], components: { securitySchemes } };
  const get = { responses: { 200: { description: 'ok' } } };
  const path = join(directory(), 'api.json');
  writeFileSync(path, JSON.stringify(openApi(origin, 'Gas', { '/a': { get } }, secured)));
  vi.stubEnv('GAS_TOKEN', secret);
  const answers = { fromOpenapi: path, operation: ['GET /a'], effect: 'reads' } as const;
  const errorsOf = async (more: PartialAnswers) => {
    const result = await toolsFromOpenApi(openApiAnswers({ ...answers, ...more }), startImport());
    return result.ok ? [] : result.errors.map(({ where, message }) => `${where} ${message}`);
  };
  expect(await errorsOf({ send: true })).toEqual([
    `--from-openapi would send GAS_TOKEN from your environment to ${origin}, so nothing was sent`,
  ]);
  expect(await errorsOf({ send: true, env: ['HOME'] })).toEqual([
    '--env is no variable that the request names as a key',
  ]);
  expect(await errorsOf({ env: ['GAS_TOKEN'] })).toEqual([
    '--env is for a request that is sent, but none is',
  ]);
  expect(received).toEqual([]);
  expect(await errorsOf({ send: true, env: ['GAS_TOKEN'] })).toEqual([]);
  expect(received[0]?.headers).toContain(`authorization: Bearer ${secret}`);
});
