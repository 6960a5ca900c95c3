import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';

/**
 * A proxy on a free port.
 *
 * @typedef {object} Proxy
 * @property {string} url the MCP endpoint behind it
 * @property {(origins: readonly string[]) => void} forwardTo
 * @property {() => void} close
 */

/**
 * A plain proxy that forwards requests to its servers in turn, regardless of their sessions.
 *
 * @returns {Promise<Proxy>}
 */
export async function roundRobin() {
  const agent = new Agent({ keepAlive: true });
  /** @type {readonly URL[]} */
  let targets = [];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const target = targets[turn++ % targets.length];
    const { method, url: path, headers } = incoming;
    const options = { agent, hostname: target?.hostname, port: target?.port, method, path, headers };
    const forwarded = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
    outgoing.on('close', () => {
      if (!outgoing.writableEnded) forwarded.destroy();
    });
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    forwardTo(origins) {
      targets = origins.map((origin) => new URL(origin));
    },
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
