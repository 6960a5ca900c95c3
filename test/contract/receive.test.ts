import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ResponseWatch, requestsIn, valuesIn } from '../../packages/contract/src/wire/events.ts';
import { guardedFetch } from '../../packages/contract/src/wire/guarded-fetch.ts';
import { type Arrival, receive } from '../../packages/contract/src/wire/receive.ts';
import { missingResponseMs, streamLingerMs } from '../../packages/contract/src/wire/timeouts.ts';
import { listen } from '../listen.ts';

/** The result of reading an answer from a temporary server. */
async function answerOf(respond: (response: ServerResponse) => void): Promise<IncomingMessage> {
  const server = createServer((_, response) => respond(response));
  const port = await listen(server);
  return new Promise((resolve) => get({ port, host: '127.0.0.1' }, resolve));
}

const event = (id: number) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n\n`;

/** Reads a stream of which two responses are expected. `arrives` waits until an event was read. */
async function readStream() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let write = (_text: string) => {};
  const incoming = await answerOf((response) => {
    write = (text) => void response.write(text);
    response.flushHeaders();
  });
  const arrival: Arrival = {};
  const received = receive(incoming, true, 2, arrival);
  let sent = 0;
  const arrives = async (text: string) => {
    write(text);
    sent += text.length;
    while (arrival.bytes !== sent) await nextTurn();
  };
  return { arrives, received };
}

describe('a stream of events', () => {
  it('is read until the last expected response, and a little longer', async () => {
    const { arrives, received } = await readStream();
    await arrives(event(1));
    vi.advanceTimersByTime(missingResponseMs - 1);
    await arrives(event(2));
    vi.advanceTimersByTime(streamLingerMs - 1);
    await arrives(event(3));
    vi.advanceTimersByTime(1);
    const { bytes, open } = await received;
    expect([bytes.toString(), open]).toEqual([event(1) + event(2) + event(3), true]);
  });

  it('is abandoned if an expected response does not come', async () => {
    const { arrives, received } = await readStream();
    await arrives(event(1));
    vi.advanceTimersByTime(missingResponseMs);
    const { bytes, open } = await received;
    expect([bytes.toString(), open]).toEqual([event(1), true]);
  });
});

describe('a stream of more than 10,000 events', () => {
  const tooMany = 'the response has more than 10000 events';
  const streams = ['data:\n\n', 'data: {\n\n', '\n\n', ': comment\r\n\r\n'].flatMap((broken) => [
    [broken, broken.repeat(400_000) + event(1)],
    [`a response and ${broken}`, event(1) + broken.repeat(400_000)],
  ]);

  it.each(streams)('is no answer, and its rest is not parsed: %j', async (_, stream) => {
    const parse = vi.spyOn(JSON, 'parse');
    const incoming = await answerOf((response) => response.end(stream));
    await expect(receive(incoming, true, 2)).rejects.toThrow(tooMany);
    expect(parse.mock.calls.length).toBeLessThanOrEqual(10_001);
    parse.mockClear();
    expect(valuesIn(stream, 'text/event-stream').length).toBeLessThanOrEqual(1);
    expect(parse.mock.calls.length).toBeLessThanOrEqual(10_001);
    parse.mockRestore();
  });

  it('is no answer for the client of the SDK, either', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {\n\n'.repeat(400_000));
    });
    const port = await listen(server);
    const guards = { timeoutMs: 60_000, admit: () => {}, countTimeout: () => new Error('late') };
    const response = await guardedFetch(guards)(`http://127.0.0.1:${port}/`, { method: 'POST' });
    await expect(response.text()).rejects.toThrow(tooMany);
  });
});

it('an event in many chunks is split once, at its end', () => {
  const split = vi.spyOn(String.prototype, 'split');
  const watch = new ResponseWatch();
  for (let i = 0; i < 100; i += 1) expect(watch.count('data: 1\ndata: 2\n')).toBe(0);
  expect(split).not.toHaveBeenCalled();
  expect(watch.count('\n')).toBe(0);
  expect(watch.count(event(1))).toBe(1);
  split.mockRestore();
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
