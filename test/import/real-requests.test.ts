import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { argumentsInSchema } from '../../src/changes/send-requests.ts';
import { fieldsSchema } from '../../src/fields/shape.ts';
import type { KeySource } from '../../src/import/imported-tool.ts';
import { curlRequest } from '../../src/import/request/curl-options.ts';
import { parseRequest } from '../../src/import/request/parse-request.ts';
import { tryRequest } from '../../src/project/source/trial.ts';
import { type ApiRequest, startApi } from '../api-server.ts';

// The real curl, run by a real shell, is the measure of each command.
interface RealRequest {
  readonly api: string;
  readonly curl: string;
  /** The same command for bash, if it was written for another shell, or names a placeholder. */
  readonly bash?: string;
  readonly env?: { readonly [name: string]: string };
  /** Values of arguments that the command does not have. */
  readonly arguments?: { readonly [name: string]: string };
  /** What the rejection says. */
  readonly rejected?: string;
}

const directory = join(import.meta.dirname, '../fixtures');
const { requests }: { readonly requests: readonly RealRequest[] } = JSON.parse(
  readFileSync(join(directory, 'real-requests.json'), 'utf8'),
);
const run = promisify(execFile);
const { origin, requests: received } = await startApi(() => ({ body: { ok: true } }));

/** The command with the origin of the API in the place of its address. */
function placed(line: string): string {
  return line.replaceAll('{{O}}', origin).replaceAll('127.0.0.1:PORT', new URL(origin).host);
}

async function sentByCurl({ curl, bash = curl, env = {} }: RealRequest): Promise<ApiRequest> {
  received.length = 0;
  await run('bash', ['-c', placed(bash)], { env: { ...process.env, ...env } });
  expect(received).toHaveLength(1);
  return received[0] as ApiRequest;
}

async function sentByTool({ curl, env = {}, arguments: others = {} }: RealRequest): Promise<ApiRequest> {
  received.length = 0;
  const { call, input, keySources } = unwrap(
    parseRequest(curlRequest(placed(curl)), { input: [], constants: [] }),
  );
  const keyValue = (source: KeySource) => {
    if ('value' in source) return source.value;
    // A placeholder without a name has the variable of its API, which is named for the port of the test.
    const suffix = source.variable.replace(/^LOCAL(?:_API)?_\d+_/, '');
    return env[source.variable] ?? env[suffix] ?? Object.values(env)[0] ?? '';
  };
  const secrets = new Map([...keySources].map(([variable, source]) => [variable, keyValue(source)]));
  await tryRequest(call, { ...argumentsInSchema(fieldsSchema(input)), ...others }, secrets, {
    acceptsNotFound: true,
  });
  expect(received).toHaveLength(1);
  return received[0] as ApiRequest;
}

it.each(requests.filter(({ rejected }) => rejected === undefined))(
  'a tool sends what curl sends: $api',
  async (request) => {
    const expected = comparable(await sentByCurl(request));
    expect(comparable(await sentByTool(request))).toEqual(expected);
  },
);

it.each(requests.filter(({ rejected }) => rejected !== undefined))(
  'a command that no tool can send is rejected before anything is sent: $api',
  async (request) => {
    const error = await sentByTool(request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: expect.stringContaining(request.rejected ?? ''),
      hint: expect.stringMatching(/./),
    });
    expect(received).toEqual([]);
  },
);

/** Headers that the programs add, and headers of browsers that a tool drops. */
const added = /^(?:host|content-length|accept-encoding|connection|sec-.*|te|cookie|origin|referer)$/;

function comparable({ method, target, headers, body }: ApiRequest): object {
  const url = new URL(target, origin);
  const type = headers['content-type'] ?? '';
  const [, boundary] = /boundary=(.*)/.exec(type) ?? [];
  const isOfBrowser = Object.keys(headers).some((name) => /^sec-(?!fetch-mode)/.test(name));
  const kept = Object.entries(headers).filter(([name, value]) => {
    // The source kit asks for JSON where curl accepts anything.
    if (name === 'accept') return value !== '*/*' && value !== 'application/json';
    if (name === 'user-agent') return !/^(?:curl|vitest|create-market-mcp|Mozilla)/.test(String(value));
    if (name === 'accept-language')
      return value !== '*' && !isOfBrowser && !/^Mozilla/.test(headers['user-agent'] ?? '');
    return !added.test(name) && !(name === 'content-type' && boundary !== undefined);
  });
  return {
    method,
    path: url.pathname,
    query: [...url.searchParams],
    members: url.search
      .slice(1)
      .split('&')
      .map((member) => member.includes('=')),
    headers: Object.fromEntries(kept),
    body: boundary === undefined ? readBody(body, type) : readParts(body, boundary),
  };
}

/** JSON and forms by their values, other texts by their bytes. */
function readBody(body: string, type: string): unknown {
  if (/^\s*[[{]/.test(body)) return JSON.parse(body);
  const isForm = /urlencoded/.test(type) && body.split('&').every((pair) => /^[^\s=]+=/.test(pair));
  return isForm ? [...new URLSearchParams(body)] : body;
}

function readParts(body: string, boundary: string): readonly unknown[] {
  const parts = body.split(`--${boundary}`).slice(1, -1);
  return parts.map((part) => /name="([^"]*)"\r\n\r\n(.*)\r\n$/s.exec(part)?.slice(1) ?? part);
}
