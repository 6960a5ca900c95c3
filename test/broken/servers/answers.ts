import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { rpcError } from '../good-server.ts';
import { returning, textField } from '../returning.ts';
import {
  type Broken,
  failureSays,
  instead,
  introduces,
  methodOf,
  type Variant,
  where,
  withAnswer,
} from '../variant.ts';
import type { Answer, Request } from '../wire.ts';

const json = { 'content-type': 'application/json' };

/** Sends one answer as other bytes or with another type than its JSON. */
function listAs(send: (json: string) => object): Variant {
  return withAnswer((answer, request) =>
    methodOf(request) === 'prompts/list' && answer.status === 200
      ? { ...answer, ...send(JSON.stringify(answer.body)) }
      : answer,
  );
}

type IsMeant = (method: string, request: Request) => boolean;

/** Fails each n-th of some requests. */
function every(n: number, isMeant: IsMeant): Variant {
  return failing((count) => count % n === 0, isMeant, { status: 500, body: { error: 'Internal error' } });
}

/** Fails some requests, by their number from 1: with a JSON-RPC error, or as given. */
function failing(fails: (count: number) => boolean, isMeant: IsMeant, how?: Answer): Variant {
  let count = 0;
  return instead((request) => {
    const method = methodOf(request);
    if (method === undefined || method.startsWith('notifications/') || !isMeant(method, request))
      return undefined;
    count += 1;
    return fails(count) ? (how ?? internalError(request)) : undefined;
  });
}

function internalError({ body = '' }: Request): Answer {
  const id = /"id":("(?:\\.|[^"\\])*"|\d+)/.exec(body)?.[1] ?? 'null';
  return rpcError(JSON.parse(id), -32603, 'Internal error');
}

function asEvents(answer: Answer): Answer {
  const headers = { ...answer.headers, 'content-type': 'text/event-stream' };
  return { ...answer, headers, body: `data: ${JSON.stringify(answer.body)}\n\n` };
}

const isPaidCall: IsMeant = (method, { headers }) => method === 'tools/call' && 'authorization' in headers;

/** A call as the rules about results make it: with a signed token, in a session. Which other call comes before it is chance. */
const isOrdinaryCall: IsMeant = (method, { headers }) =>
  method === 'tools/call' &&
  'mcp-session-id' in headers &&
  String(headers.authorization).startsWith('Bearer eyJ');

/** Fails every third call that begins while another one runs. */
function racing(): Variant {
  let running = 0;
  let late = 0;
  return {
    answer: (good) => async (request) => {
      if (!isPaidCall(methodOf(request) ?? '', request)) return good(request);
      running += 1;
      const isLost = running > 1 && ++late % 3 === 0;
      await setImmediate();
      running -= 1;
      return isLost ? internalError(request) : good(request);
    },
  };
}

/** A server whose data repeat the header with the token. */
function repeatsToken(): Variant {
  const placeholder = 'the header';
  const answers = withAnswer((answer, { headers }) => {
    const text = JSON.stringify(answer.body);
    if (!text?.includes(placeholder)) return answer;
    return { ...answer, body: JSON.parse(text.replaceAll(placeholder, String(headers.authorization))) };
  });
  return { ...returning({ caller: textField(() => placeholder) }), ...answers };
}

const environment = { PATH: '/usr/local/bin:/usr/bin', HOME: '/root', NODE_ENV: 'production', PORT: '3000' };

export const brokenAnswers: Broken<Variant> = {
  'answers.utf8': [
    listAs((text) => ({ body: Buffer.from(`{"x":"Größe",${text.slice(1)}`, 'latin1') })),
    listAs((text) => ({ body: `\ufeff${text}` })),
  ],
  'answers.framing': [
    listAs((text) => ({
      headers: { 'content-type': 'text/event-stream' },
      body: `event: message\ndata: ${JSON.stringify(JSON.parse(text), null, 2)}\n\n`,
    })),
    withAnswer((answer, request) => {
      if (methodOf(request) === undefined || answer.status !== 200) return answer;
      const text = JSON.stringify({ ...(answer.body as object), note: 'Größe' });
      const headers = { ...answer.headers, ...json, 'content-length': String(text.length) };
      return { ...answer, headers, body: text };
    }),
  ],
  'answers.coding': listAs((text) => ({
    headers: { ...json, 'content-encoding': 'gzip' },
    body: gzipSync(text),
  })),
  'answers.accepted': withAnswer((answer, { headers: { accept } }) =>
    answer.status === 200 && accept === 'application/json' ? asEvents(answer) : answer,
  ),
  'answers.no-stack': [
    where(({ body }) => body === '{', {
      status: 400,
      body: { error: 'SyntaxError\n    at JSON.parse (/srv/app/index.js:10:5)' },
    }),
    failureSays('File "/srv/app/tools.py", line 12, in run'),
    failureSays('cannot read /home/app/src/tools.ts'),
  ],
  'answers.no-stack explore.no-crash': failureSays(
    'TypeError: fetch failed\n    at run (/srv/app/tools.js:12:34)',
  ),
  'answers.no-stack explore.no-crash explore.refuses': {
    respond: (good) => async (request) => {
      const response = await good(request);
      const message = 'TypeError: symbol.trim is not a function\n    at run (/srv/app/tools.js:12:34)';
      return JSON.stringify(response).includes('INVALID_ARGUMENTS')
        ? { error: { code: -32603, message } }
        : response;
    },
  },
  'answers.steady': [
    every(3, (method) => method === 'prompts/list'),
    every(7, (method) => method === 'tools/list'),
    every(10, isPaidCall),
    failing(
      (count) => count === 1,
      (method) => method === 'initialize',
    ),
    failing(
      (count) => count % 3 === 1,
      (method) => method === 'initialize',
    ),
    failing(
      (count) => count === 1,
      (method, { body }) => method === 'initialize' && body?.includes('"2025-03-26"') === true, // not the SDK's
    ),
    failing(
      (count) => count <= 2,
      (method) => method === 'tools/list',
    ),
    failing((count) => count === 2, isOrdinaryCall),
    failing(
      (count) => count % 9 === 0,
      () => true,
    ),
    racing(),
    failing((count) => count % 10 === 0, isPaidCall, { status: 0 }),
    failing((count) => count % 10 === 0, isPaidCall, { status: 503, body: 'Service Unavailable' }),
  ],
  'answers.same-identity': introduces(() => ({
    serverInfo: { name: 'good-server', version: '1.2.3', title: String(process.hrtime.bigint()) },
  })),
  'answers.numbers': listAs((text) => ({ body: text.replace('"result":{', '"result":{"count":1e400,') })),
  'answers.surrogates': listAs((text) => ({
    body: text.replace('"result":{', '"result":{"note":"\\ud83d",'),
  })),
  'answers.type': listAs((text) => ({ headers: { ...json, 'content-type': 'text/html' }, body: text })),
  'answers.no-credentials': [
    repeatsToken(),
    {
      target: { headers: { 'x-api-key': 'gateway-8f1d2c3b' } },
      ...where(({ body }) => body === '{', {
        status: 400,
        body: { error: 'Parse error', headers: { 'x-api-key': 'gateway-8f1d2c3b' } },
      }),
    },
    {
      target: { secrets: new Map([['PRICES_API_KEY', 'pk "4f2a"9c1d77']]) },
      ...failureSays('GET /prices, key pk "4f2a"9c1d77'),
    },
  ],
  'answers.no-environment': [
    returning({ note: textField(() => JSON.stringify({ env: environment })) }),
    where(({ body }) => body === '{', { status: 400, body: { error: 'Parse error', env: environment } }),
  ],
  'answers.no-secrets': [
    failureSays('GET https://api.example.com/?api_key=8f1d2c3b4a59'),
    failureSays(`sk-proj-${'x'.repeat(24)}`),
  ],
};
