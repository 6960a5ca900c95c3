import { gzipSync } from 'node:zlib';
import { type BrokenServer, instead, methodOf, withAnswer } from '../variant.ts';
import type { Request } from '../wire.ts';

const json = { 'content-type': 'application/json' };

/** Sends one answer as other bytes or with another type than its JSON. */
function listAs(send: (json: string) => object): BrokenServer['breaks'] {
  return withAnswer((answer, request) =>
    methodOf(request) === 'prompts/list' && answer.status === 200
      ? { ...answer, ...send(JSON.stringify(answer.body)) }
      : answer,
  );
}

/** Fails each n-th of some requests. */
function every(n: number, isMeant: (method: string, request: Request) => boolean): BrokenServer['breaks'] {
  let count = 0;
  return instead((request) => {
    const method = methodOf(request);
    if (method === undefined || method.startsWith('notifications/') || !isMeant(method, request))
      return undefined;
    count += 1;
    return count % n === 0 ? { status: 500, body: { error: 'Internal error' } } : undefined;
  });
}

/** Lets the result of a call with unknown arguments say this in addition. */
function failureSays(text: string): BrokenServer['breaks'] {
  return {
    result: (good) => (outcome, tool) =>
      good(outcome.kind === 'fail' ? { ...outcome, message: `${outcome.message} ${text}` } : outcome, tool),
  };
}

export const brokenAnswers: readonly BrokenServer[] = [
  {
    rule: 'answers.utf8',
    breaks: listAs((text) => ({ body: Buffer.from(`{"x":"Größe",${text.slice(1)}`, 'latin1') })),
  },
  {
    rule: 'answers.utf8',
    breaks: listAs((text) => ({ body: `\ufeff${text}` })),
  },
  {
    rule: 'answers.framing',
    breaks: listAs((text) => ({
      headers: { 'content-type': 'text/event-stream' },
      body: `event: message\ndata: ${JSON.stringify(JSON.parse(text), null, 2)}\n\n`,
    })),
  },
  {
    rule: 'answers.framing',
    breaks: withAnswer((answer, request) => {
      if (methodOf(request) === undefined || answer.status !== 200) return answer;
      const text = JSON.stringify({ ...(answer.body as object), note: 'Größe' });
      const headers = { ...answer.headers, ...json, 'content-length': String(text.length) };
      return { ...answer, headers, body: text };
    }),
  },
  {
    rule: 'answers.coding',
    breaks: listAs((text) => ({ headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync(text) })),
  },
  {
    rule: 'answers.no-stack',
    breaks: instead(({ body }) =>
      body === '{'
        ? { status: 400, body: { error: 'SyntaxError\n    at JSON.parse (/srv/app/index.js:10:5)' } }
        : undefined,
    ),
  },
  {
    rule: 'answers.no-stack',
    along: ['explore.no-crash'],
    breaks: failureSays('TypeError: fetch failed\n    at run (/srv/app/tools.js:12:34)'),
  },
  { rule: 'answers.no-stack', breaks: failureSays('File "/srv/app/tools.py", line 12, in run') },
  { rule: 'answers.no-stack', breaks: failureSays('cannot read /home/app/src/tools.ts') },
  {
    rule: 'answers.no-stack',
    along: ['explore.no-crash', 'explore.refuses'],
    breaks: {
      respond: (good) => async (request) => {
        const response = await good(request);
        const message = 'TypeError: symbol.trim is not a function\n    at run (/srv/app/tools.js:12:34)';
        return JSON.stringify(response).includes('INVALID_ARGUMENTS')
          ? { error: { code: -32603, message } }
          : response;
      },
    },
  },
  { rule: 'answers.steady', breaks: every(7, (method) => method === 'tools/list') },
  {
    rule: 'answers.steady',
    breaks: every(10, (method, request) => method === 'tools/call' && 'authorization' in request.headers),
  },
  {
    rule: 'answers.same-identity',
    breaks: {
      initialize: (good) => (params) => ({
        ...good(params),
        serverInfo: { name: 'good-server', version: '1.2.3', title: String(process.hrtime.bigint()) },
      }),
    },
  },
  {
    rule: 'answers.numbers',
    breaks: listAs((text) => ({ body: text.replace('"result":{', '"result":{"count":1e400,') })),
  },
  {
    rule: 'answers.surrogates',
    breaks: listAs((text) => ({ body: text.replace('"result":{', '"result":{"note":"\\ud83d",') })),
  },
  {
    rule: 'answers.type',
    breaks: listAs((text) => ({ headers: { ...json, 'content-type': 'text/html' }, body: text })),
  },
  { rule: 'answers.no-secrets', breaks: failureSays('GET https://api.example.com/?api_key=8f1d2c3b4a59') },
  { rule: 'answers.no-secrets', breaks: failureSays(`sk-proj-${'x'.repeat(24)}`) },
];
