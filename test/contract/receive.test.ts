import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { requestsIn } from '../../packages/contract/src/wire/events.ts';
import { receive } from '../../packages/contract/src/wire/receive.ts';
import { streamLingerMs } from '../../packages/contract/src/wire/timeouts.ts';
import { listen } from '../listen.ts';

/** The result of reading an answer from a temporary server. */
async function answerOf(respond: (response: ServerResponse) => void): Promise<IncomingMessage> {
  const server = createServer((_, response) => respond(response));
  const port = await listen(server);
  return new Promise((resolve) => get({ port, host: '127.0.0.1' }, resolve));
}

const event = (id: number) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n\n`;

describe('a stream of events', () => {
  it('is read until the last expected response, however late that comes', async () => {
    const incoming = await answerOf(async (response) => {
      response.write(event(1));
      await setTimeout(3 * streamLingerMs);
      response.write(event(2));
    });
    const { bytes, open } = await receive(incoming, true, 2);
    expect([bytes.toString(), open]).toEqual([event(1) + event(2), true]);
  });

  it('is abandoned if an expected response does not come', async () => {
    const incoming = await answerOf((response) => response.write(event(1)));
    const { bytes, open } = await receive(incoming, true, 2);
    expect([bytes.toString(), open]).toEqual([event(1), true]);
  });
});

describe('the number of expected responses', () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };

  it.each([
    ['one for a message', request, 1],
    ['one for each request of a batch', [request, notification, request], 2],
    ['as many in batches of batches', [[request], [request, request]], 3],
    ['none for notifications', [notification], 0],
  ])('is %s', (_, body, due) => {
    expect(requestsIn(JSON.stringify(body))).toBe(due);
  });
});
