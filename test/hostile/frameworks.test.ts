import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { expect, it } from 'vitest';
import { createSteps, type Steps } from '../broken/good-server.ts';
import { trust } from '../broken/trust.ts';
import type { Answer } from '../broken/wire.ts';
import { listen } from '../listen.ts';

const limit = 1024 * 1024;

/** Serves the good server's steps with a framework whose body limit answers 413 while the body is still arriving. */
type Framework = (steps: Steps) => Server | Promise<Server>;

const frameworks: Readonly<Record<string, Framework>> = {
  'Hono, bodyLimit on @hono/node-server': (steps) => {
    const app = new Hono();
    app.use('*', bodyLimit({ maxSize: limit }));
    app.all('*', async ({ req }) => {
      const { status, headers, body } = written(
        await steps.answer({
          method: req.method,
          path: new URL(req.url).pathname,
          headers: Object.fromEntries(req.raw.headers),
          body: await req.text(),
        }),
      );
      return new Response(status === 202 || status === 204 ? null : body, { status, headers });
    });
    return createServer(getRequestListener(app.fetch));
  },
  'Express, express.text with a limit': async (steps) => {
    // Express has no types.
    const { default: express } = (await import('express' as string)) as { default: ExpressLike };
    const app = express();
    app.use(express.text({ type: () => true, limit }));
    app.use(async (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => {
      const { url = '/', method = '', headers } = request;
      const path = new URL(url, 'http://localhost').pathname;
      const body = typeof request.body === 'string' ? request.body : '';
      send(response, await steps.answer({ method, path, headers, body }));
    });
    return createServer(app);
  },
  'node:http, refused by the declared length as Fastify does': (steps) =>
    plain(steps, (response) => response.writeHead(413, { connection: 'close' }).end('{"error":"too large"}')),
  'node:http, refused and the connection reset at once': (steps) =>
    plain(steps, (response) => {
      const { socket } = response;
      response.writeHead(413, { 'content-length': 2 }).end('{}', () => socket?.resetAndDestroy());
    }),
};

interface ExpressLike {
  (): RequestListener & { use(handler: unknown): void };
  text(options: object): unknown;
}

const program = join(import.meta.dirname, '../../bin/market-mcp.js');
const chosen = ['discovery.tools-list', 'http.large-body'];

/** Runs the built program in a separate process, so that an uncaught error ends it. */
async function check(url: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [program, 'check', url, '--json', '--only', chosen.join()]);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

it.each(Object.entries(frameworks))(
  '%s refuses a large body while it is being sent: the check completes its report',
  async (_, framework) => {
    const port = await listen(await framework(createSteps(trust)));
    for (let run = 1; run <= 5; run++) {
      const { code, stdout, stderr } = await check(`http://127.0.0.1:${port}/mcp`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const verdicts = JSON.parse(stdout).rules.map(({ id, status }: Record<string, string>) => [id, status]);
      expect(verdicts, stdout).toEqual(chosen.map((id) => [id, 'pass']));
    }
  },
);

/** Refuses a POST that declares or sends too long a body, before the body is complete. */
function plain(steps: Steps, refuse: (response: ServerResponse) => void): Server {
  return createServer(async (request, response) => {
    response.on('error', () => {});
    const { url = '/', method = '', headers } = request;
    if (Number(headers['content-length'] ?? 0) > limit) return refuse(response);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > limit) return refuse(response);
      }
    } catch {
      return;
    }
    const path = new URL(url, 'http://localhost').pathname;
    send(response, await steps.answer({ method, path, headers, body: Buffer.concat(chunks).toString() }));
  });
}

function written({ status, headers, body }: Answer) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const json = typeof body === 'string' ? body : text;
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: json };
}

function send(response: ServerResponse, answer: Answer): void {
  const { status, headers, body } = written(answer);
  response.writeHead(status, headers);
  if (answer.stream) response.flushHeaders();
  else response.end(body);
}
