import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  drip,
  forever,
  type HostileServer,
  instead,
  onEverything,
  onHealth,
  onPost,
} from '../hostile-server.ts';

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const html = { 'content-type': 'text/html' };
const initialized = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'prís', version: '1' } },
});

/** 64 MB of zeros. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

/** Answers that never end, never begin, redirect elsewhere, or are not HTTP. */
const servers: readonly HostileServer[] = [
  {
    name: 'an endless body',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => {
      response.writeHead(200, json);
      forever(response, ' '.repeat(65_536));
    }),
  },
  {
    name: 'an endless body of GET /health',
    finds: ['health.status'],
    attach: onHealth((_, response) => {
      response.writeHead(200, json);
      forever(response, '{"status":'.repeat(6_000));
    }),
  },
  {
    name: 'an endless body without a line break that claims to be events',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => {
      response.writeHead(200, events);
      forever(response, 'data: x'.repeat(10_000));
    }),
  },
  {
    name: 'endless events, none of them the response',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => {
      response.writeHead(200, events);
      forever(response, 'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'.repeat(500));
    }),
  },
  {
    name: 'endless comments between events',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => {
      response.writeHead(200, events);
      drip(response, ': still here\n\n');
    }),
  },
  {
    name: 'a stream that goes on for ever after the response',
    finds: ['http.stream-ends'],
    breaks: {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (request.method !== 'POST' || answer.status !== 200) return answer;
        const body = `data: ${JSON.stringify(answer.body)}\n\n`;
        return { ...answer, headers: { ...answer.headers, ...events }, body, stream: true };
      },
    },
  },
  {
    name: 'a byte at a time',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => {
      response.writeHead(200, json);
      drip(response, ' ');
    }),
  },
  {
    name: 'headers that never end',
    finds: ['discovery.initialize'],
    attach: onPost(({ socket }, response) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-filler: x\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
      response.on('close', () => clearInterval(timer));
    }),
  },
  {
    name: 'endless interim answers',
    finds: ['discovery.initialize'],
    attach: onPost(({ socket }) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    }),
  },
  {
    name: 'headers of a megabyte',
    finds: ['discovery.initialize'],
    attach: onPost(({ socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(1_000_000)}\r\n\r\n`);
    }),
  },
  { name: 'no answer to any POST', finds: ['discovery.initialize'], attach: onPost(() => {}) },
  { name: 'no answer at all', finds: [], attach: onEverything(() => {}) },
  {
    name: 'a connection that breaks off in the body',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => {
      response.writeHead(200, { ...json, 'content-length': 1_000 });
      response.write('{"jsonrpc":');
      setTimeout(() => response.destroy(), 20);
    }),
  },
  {
    name: 'something that is not HTTP',
    finds: [],
    attach: (server) => {
      server.removeAllListeners('request');
      server.on('connection', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
    },
  },
  { name: 'a redirect to another host', finds: ['discovery.initialize'], attach: redirecting(307) },
  { name: 'a permanent redirect to another host', finds: ['discovery.initialize'], attach: redirecting(308) },
  {
    name: 'a redirect of the SDK alone to another host',
    finds: ['discovery.client'],
    attach: redirecting(307, ({ headers }) => headers['user-agent'] !== undefined),
  },
  {
    name: 'a redirect to itself',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) => response.writeHead(307, { location: '/mcp' }).end()),
  },
  {
    name: 'a redirect of GET /health to a file',
    finds: ['health.status'],
    attach: onHealth((_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()),
  },
  {
    name: 'an error page',
    finds: ['health.status', 'discovery.initialize'],
    attach: onEverything((_, response) => response.writeHead(500, html).end('<h1>Oops</h1>'.repeat(1_000))),
  },
  {
    name: 'a page that says 200 to everything',
    finds: ['health.fields', 'discovery.initialize'],
    attach: onEverything((_, response) =>
      response.writeHead(200, html).end('<!doctype html><h1>Welcome</h1>'),
    ),
  },
  {
    name: 'nothing, with 204',
    finds: ['health.status', 'discovery.initialize'],
    attach: onEverything((_, response) => response.writeHead(204).end()),
  },
  {
    name: 'JSON in Latin-1',
    finds: ['answers.utf8'],
    attach: onPost((_, response) => response.writeHead(200, json).end(Buffer.from(initialized, 'latin1'))),
  },
  {
    name: 'JSON in UTF-16',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-16' })
        .end(Buffer.from(`\ufeff${initialized}`, 'utf16le')),
    ),
  },
  {
    name: 'a gzip bomb that nobody has asked for',
    finds: ['discovery.initialize'],
    attach: onPost((_, response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
    ),
  },
  {
    name: 'a server that goes away in the middle',
    finds: ['endpoint.stays-up'],
    attach: (server) => {
      let requests = 0;
      server.prependListener('request', ({ socket }) => {
        requests += 1;
        if (requests > 4) {
          server.close();
          socket.destroy();
        }
      });
    },
  },
];

/** Each of them leaves a request without an answer. */
export const hostileTransport: readonly HostileServer[] = servers.map((server) => ({
  ...server,
  timeoutMs: 500,
}));

/** Requests that reached the target of a redirect: none may. */
export let strayed = 0;

/** Redirects every POST, or the selected ones, to another server. */
function redirecting(
  status: number,
  concerns: (request: IncomingMessage) => boolean = () => true,
): HostileServer['attach'] {
  const trap = createServer((_, response) => {
    strayed += 1;
    response.writeHead(200, json).end(initialized);
  });
  trap.listen(0, '127.0.0.1').unref();
  return instead(
    (request) => request.method === 'POST' && concerns(request),
    (_, response) => {
      const { port } = trap.address() as AddressInfo;
      response.writeHead(status, { location: `http://127.0.0.1:${port}/mcp` }).end();
    },
  );
}
