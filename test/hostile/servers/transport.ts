import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Variant } from '../../broken/variant.ts';
import {
  drip,
  forever,
  type HostileServers,
  instead,
  onEverything,
  onHealth,
  onPost,
} from '../hostile-server.ts';

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const initialized = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'prís', version: '1' } },
});

/** 64 MB of zeros. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

/** Answers that never end, never begin, redirect elsewhere, or are not HTTP. */
export const hostileTransport: HostileServers = {
  'discovery.initialize': {
    'an endless body': onPost((_, response) => {
      response.writeHead(200, json);
      forever(response, ' '.repeat(65_536));
    }),
    'an endless body without a line break that claims to be events': onPost((_, response) => {
      response.writeHead(200, events);
      forever(response, 'data: x'.repeat(10_000));
    }),
    'endless events, none of them the response': onPost((_, response) => {
      response.writeHead(200, events);
      forever(response, 'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'.repeat(500));
    }),
    'endless comments between events': onPost((_, response) => {
      response.writeHead(200, events);
      drip(response, ': still here\n\n');
    }),
    'a byte at a time': onPost((_, response) => {
      response.writeHead(200, json);
      drip(response, ' ');
    }),
    'headers that never end': onPost(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      forever(socket, 'x-filler: x\r\n'.repeat(100));
    }),
    'endless interim answers': onPost(({ socket }) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    }),
    'headers of a megabyte': onPost(({ socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\nx-filler: ${'x'.repeat(1_000_000)}\r\n\r\n`);
    }),
    'a connection that breaks off in the body': onPost((_, response) => {
      response.writeHead(200, { ...json, 'content-length': 1_000 });
      response.write('{"jsonrpc":', () => response.destroy());
    }),
    'a redirect to another host': redirecting(307),
    'a permanent redirect to another host': redirecting(308),
    'a redirect to itself': onPost((_, response) => response.writeHead(307, { location: '/mcp' }).end()),
    'JSON in UTF-16': onPost((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-16' })
        .end(Buffer.from(`\ufeff${initialized}`, 'utf16le')),
    ),
    'a gzip bomb that nobody has asked for': onPost((_, response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
    ),
  },
  'health.status': {
    'an endless body of GET /health': onHealth((_, response) => {
      response.writeHead(200, json);
      forever(response, '{"status":'.repeat(6_000));
    }),
    'a redirect of GET /health to a file': onHealth((_, response) =>
      response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    ),
  },
  'http.stream-ends': {
    'a stream that goes on for ever after the response': {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (request.method !== 'POST' || answer.status !== 200) return answer;
        const body = `data: ${JSON.stringify(answer.body)}\n\n`;
        return { ...answer, headers: { ...answer.headers, ...events }, body, stream: true };
      },
    },
  },
  '': {
    'something that is not HTTP': {
      attach: (server) => {
        server.removeAllListeners('request');
        server.on('connection', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
      },
    },
  },
  'discovery.client': {
    'a redirect of the SDK alone to another host': redirecting(
      307,
      ({ headers }) => headers['user-agent'] !== undefined,
    ),
  },
  'health.status discovery.initialize': {
    'nothing, with 204': onEverything((_, response) => response.writeHead(204).end()),
  },
  'answers.utf8': {
    'JSON in Latin-1': onPost((_, response) =>
      response.writeHead(200, json).end(Buffer.from(initialized, 'latin1')),
    ),
  },
};

/** Requests that reached the target of a redirect: none may. */
export let strayed = 0;

/** Redirects every POST, or the selected ones, to another server. */
function redirecting(status: number, concerns: (request: IncomingMessage) => boolean = () => true): Variant {
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
