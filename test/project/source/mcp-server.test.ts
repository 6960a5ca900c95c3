import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { readDocumentText } from '../../../src/project/read/read-document.ts';
import { listServer } from '../../../src/project/source/mcp-server.ts';
import { startApi } from '../../api-server.ts';
import { listen } from '../../listen.ts';

interface Message {
  readonly id?: number;
  /** Absent in an answer to a request of the server. */
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** Answers tools/list. */
type Lister = (response: ServerResponse, id: number | undefined, count: number) => void;

/** An MCP server with sessions whose answer to tools/list is under test. `left` resolves when no exchange is open. */
async function serve(list: Lister) {
  let count = 0;
  let open = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    response.once('close', () => (open -= 1));
    if (request.url?.startsWith('/endless')) return list(response, undefined, 1);
    if (request.method !== 'POST') return response.writeHead(405).end();
    // An import that gives up may leave in the middle of its request.
    const message = (await json(request).catch(() => undefined)) as Message | undefined;
    if (!message) return response.destroy();
    const { id, method, params } = message;
    if (method === 'tools/list') count += 1;
    if (method === 'tools/list') return list(response, id, count);
    if (method !== 'initialize') return response.writeHead(202).end();
    const { protocolVersion } = params ?? {};
    const serverInfo = { name: 'Weather', version: '1' };
    return answer(response, { id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  });
  const port = await listen(server);
  const left = () => vi.waitFor(() => expect(open).toBe(0), { timeout: 120_000 });
  return { url: `http://127.0.0.1:${port}/mcp`, left };
}

function answer(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

const tool = { name: 'get_weather', description: 'The weather.', inputSchema: { type: 'object' } };

/** A stream that repeats a piece until its reader leaves. */
function endless(
  piece: (id: number | undefined) => string,
  first: (id: number | undefined) => string = piece,
) {
  return async (response: ServerResponse, id: number | undefined) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(first(id));
    while (!response.destroyed) {
      response.write(piece(id));
      await setTimeout(5);
    }
  };
}

const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const notification = () => event({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
const comment = () => ': still here\n\n';
const hostile: { readonly [name: string]: Lister } = {
  'an endless stream of comments': endless(comment),
  'an endless stream of notifications': endless(notification),
  'endless progress': endless((id) =>
    event({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }),
  ),
  'endless requests': endless(() => event({ id: 'p', method: 'ping' })),
  'one byte after the other': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 5);
    response.once('close', () => clearInterval(timer));
  },
  'no answer': () => {},
  'page after page': async (response, id, count) => {
    await setTimeout(30);
    answer(response, { id, result: { tools: [{ ...tool, name: `t${count}` }], nextCursor: `${count}` } });
  },
};

it.each(Object.entries(hostile))(
  'an import ends where the server sends %s, and names the address and the limit',
  async (_, list) => {
    const { url, left } = await serve(list);
    const listing = listServer(`${url}?key=s3cret`, undefined, { answer: 300, list: 600 });
    await expect(listing).rejects.toMatchObject({
      code: 'NOT_ANSWERED',
      exitCode: 3,
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp: .* within 0\.[36] seconds$/),
    });
    await left();
  },
);

it.each([
  ['responses to other requests', endless(() => event({ id: 99_999, result: {} }))],
  ['a response to another request, then comments', endless(comment, () => event({ id: 99_999, result: {} }))],
])('an import leaves %s, which are no list', async (_, list) => {
  const { url, left } = await serve(list);
  const message = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp: its tools cannot be listed/);
  await expect(listServer(url, undefined)).rejects.toMatchObject({ code: 'NOT_READABLE', message });
  await left();
});

it('an import leaves a stream that stays open after the list', async () => {
  const { url, left } = await serve(endless(comment, (id) => event({ id, result: { tools: [tool] } })));
  expect(await listServer(url, undefined)).toMatchObject({ title: 'Weather', tools: [tool] });
  await left();
});

it('a document whose server never ends it is given up, too', async () => {
  const { url, left } = await serve(endless(() => '# still here\n'));
  const { origin } = new URL(url);
  await expect(readDocumentText(`${origin}/endless?key=s3cret`, [], 300)).rejects.toMatchObject({
    code: 'NOT_ANSWERED',
    exitCode: 3,
    message: `${origin}/endless: it was not read within 0.3 seconds`,
  });
  await left();
});

it('a redirect is reported with its target, without the keys in it, and not followed', async () => {
  const { origin, requests } = await startApi(() => ({
    status: 308,
    headers: { location: 'https://tools.x.test/mcp?api_key=k3y-0f-the-target' },
  }));
  await expect(listServer(`${origin}/mcp`, undefined)).rejects.toMatchObject({
    message: `${origin}/mcp: it redirects to https://tools.x.test/mcp?api_key=$URL_KEY`,
    hint: 'Redirects are not followed: give that address if you trust it.',
  });
  expect(requests).toHaveLength(1);
});
