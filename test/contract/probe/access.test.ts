import { expect, it } from 'vitest';
import { type Access, accessOf } from '../../../packages/contract/src/wire/access.ts';
import { valuesIn } from '../../../packages/contract/src/wire/events.ts';
import type { HttpAnswer } from '../../../packages/contract/src/wire/http.ts';

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_price","arguments":{}}}';

function answer(status: number, body: string, headers = {}, asked = call): HttpAnswer {
  const url = new URL('http://127.0.0.1/mcp');
  const values = valuesIn(body, 'application/json');
  const sent = { method: 'POST', url, headers: {}, body: asked };
  return { status, headers, body, values, open: false, ms: 0, request: sent };
}

const response = (members: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...members });
const failure = (text: string) => response({ result: { isError: true, content: [{ type: 'text', text }] } });

const answers: readonly (readonly [Access, string, HttpAnswer])[] = [
  ['protected', '401', answer(401, '')],
  ['protected', '402', answer(402, '')],
  ['protected', '403', answer(403, '')],
  ['protected', 'a challenge', answer(400, '{}', { 'www-authenticate': 'Bearer' })],
  ['protected', 'a body', answer(400, '{"error":"missing token"}')],
  [
    'protected',
    'a JSON-RPC error',
    answer(200, response({ error: { code: -32001, message: 'Unauthorized' } })),
  ],
  ['protected', 'a failure', answer(200, failure('Authentication required'))],
  ['open', 'a result', answer(200, response({ result: { content: [] } }))],
  [
    'open',
    'a result that names a token',
    answer(200, response({ result: { content: [{ type: 'text', text: 'token' }] } })),
  ],
  ['open', 'invalid params', answer(200, response({ error: { code: -32602, message: 'Invalid params' } }))],
  [
    'open',
    'an internal error',
    answer(200, response({ error: { code: -32603, message: 'Internal error' } })),
  ],
  ['open', '404', answer(404, 'Not found')],
  ['open', '500', answer(500, 'Internal error')],
  [
    'open',
    'a failure of a tool about tokens',
    answer(200, failure('Unknown token'), {}, call.replace('get_price', 'get_token_price')),
  ],
  ['limited', '429', answer(429, 'Too many requests without a token')],
];

it.each(answers)('a call without a token shows that the server is %s if it gets %s', (access, _, given) => {
  expect(accessOf(given)).toBe(access);
});
