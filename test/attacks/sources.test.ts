import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { always, errorOf, gas, json, quiet, source, sourceServer } from '../runtime/source-server.ts';

// A source that breaks its protocol fails one call at once, and blocks none.

quiet();

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const notification = (length: number) =>
  event({ method: 'notifications/message', params: 'x'.repeat(length) });
const response = (id: unknown, text: string) => event({ id, result: { structuredContent: { text } } });

describe('a response on an event stream that stays open is used at once', () => {
  /** A server whose streams do not end before the test. */
  async function openServer(said: (id: unknown) => readonly string[]) {
    const { url } = await sourceServer(({ body }, answer) => {
      const { id, method } = JSON.parse(body);
      if (id === undefined) return void answer.writeHead(202).end();
      onTestFinished(() => void answer.destroy());
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      const opened = event({ id, result: { protocolVersion: '2025-06-18' } });
      for (const part of method === 'initialize' ? [opened] : said(id)) answer.write(part);
    });
    return url;
  }

  const long = 'é'.repeat(150_000);
  it.each<[string, string, (id: unknown) => readonly string[]]>([
    ['a short one', 'a', (id) => [response(id, 'a')]],
    ['a long one', long, (id) => [response(id, long)]],
    ['one before other events', 'a', (id) => [response(id, 'a'), notification(10)]],
    ['one behind a long event', 'a', (id) => [notification(150_000), response(id, 'a')]],
    ['a long one behind a long event', long, (id) => [notification(150_000) + response(id, long)]],
    ['one in two parts', 'a', (id) => [response(id, 'a').slice(0, 20), response(id, 'a').slice(20)]],
  ])('%s', async (_, text, said) => {
    const baseUrl = await openServer(said);
    for (const options of [{}, { protocolVersion: '2026-07-28' } as const]) {
      const source = mcpSource({ baseUrl, ...options });
      expect(await source.call('x', { schema })).toEqual({ text });
    }
  });
});

describe('a wait that cannot be read is ignored', () => {
  it.each([
    ['retry-after', 'soon'],
    ['retry-after', 'PT5S'],
    ['retry-after', 'May 5'],
    ['retry-after', '-1'],
    ['retry-after', '1, 2'],
    ['retry-after', 'Infinity'],
    ['ratelimit-reset', 'abc'],
    ['x-ratelimit-retry-after', 'abc'],
    ['x-ratelimit-reset', 'abc'],
    ['x-rate-limit-reset', 'abc'],
  ])('%s: %s', async (name, value) => {
    const { api, received } = await source((_, response, count) =>
      count === 1 ? json(response, {}, 503, { [name]: value }) : json(response, { gwei: 1 }),
    );
    expect(await api.get('/', { schema: gas })).toEqual({ gwei: 1 });
    expect(received).toHaveLength(2);
  });

  it('and the call fails with the code of its answer', async () => {
    const answer = always({}, 429, { 'retry-after': 'soon', 'ratelimit-reset': '7' });
    const { api } = await source(answer, { timeoutMs: 5_000 });
    expect(await errorOf(api.get('/', { schema: gas }))).toMatchObject({
      code: 'RATE_LIMITED',
      hints: { retryAfterSeconds: 7 },
    });
  });
});

describe('an MCP tool with an outputSchema that does not return an object is SOURCE_MALFORMED', () => {
  const content = (text: string) => [{ type: 'text', text }];
  it.each<[string, unknown, string]>([
    ['a text', { content: content('the tide is high') }, 'answer: expected object, got nothing'],
    ['nothing', {}, 'answer: expected object, got nothing'],
    ['no parts', { content: [] }, 'answer: expected object, got nothing'],
    ['an invalid part', { content: [null, 5, { type: 'text' }] }, 'answer: expected object, got nothing'],
    ['a number as text', { content: content('5') }, 'answer: expected object, got nothing'],
    ['a list as text', { content: content('[5]') }, 'answer: expected object, got array'],
    ['a text as structured content', { structuredContent: 'high' }, 'answer: expected object, got string'],
    ['a number as structured content', { structuredContent: 5 }, 'answer: expected object, got number'],
    ['a list as structured content', { structuredContent: [5] }, 'answer: expected object, got array'],
    ['null as structured content', { structuredContent: null }, 'answer: expected object, got nothing'],
    ['a text as result', 'high', 'The source answered in a form that this tool does not know.'],
    ['null as result', null, 'The source answered in a form that this tool does not know.'],
  ])('%s', async (_, result, detail) => {
    const { url } = await sourceServer(({ body }, response) => {
      json(response, { jsonrpc: '2.0', id: JSON.parse(body).id, result });
    });
    for (const keep of [undefined, 'declared'] as const) {
      vi.mocked(console.error).mockClear();
      const upstream = mcpSource({ baseUrl: url, protocolVersion: '2026-07-28' });
      expect(await errorOf(upstream.call('tides', { schema, keep }))).toMatchObject({
        code: 'SOURCE_MALFORMED',
      });
      const lines = vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line));
      const place = { at: expect.stringMatching(/^test\/attacks\/sources\.test\.ts:\d+$/) };
      expect(lines).toEqual([expect.objectContaining({ event: 'source', path: '/tides', detail, ...place })]);
    }
  });
});

describe('a key that an API repeats in another form reaches no caller', () => {
  const awkwardKey = 'k3y-"of"-the-<author>';
  const inBase64 = (text: string) => Buffer.from(text).toString('base64');
  const inHtml = awkwardKey.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const headers = { 'x-api-key': new Secret('API_KEY', awkwardKey) };
  const echoed = { type: 'object', properties: { echo: { type: 'string' } }, required: ['echo'] } as const;

  it.each([
    ['base64', inBase64(awkwardKey)],
    ['base64 behind one byte', inBase64(`:${awkwardKey}`)],
    ['base64 behind two bytes', inBase64(`a:${awkwardKey}:b`)],
    ['HTML', inHtml],
  ])('%s', async (_, form) => {
    const { api } = await source(always({ echo: form }), { headers });
    const { echo } = (await api.get('/', { schema: echoed })) as { readonly echo: string };
    expect(Buffer.from(echo, 'base64').toString()).not.toContain(awkwardKey);
    expect(echo).not.toContain(inHtml);
    expect(echo).toContain('[secret]');
  });
});
