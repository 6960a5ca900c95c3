import { once } from 'node:events';
import { connect } from 'node:net';

// The attacker in a separate process, so that the CPU time of the attacker does not delay the honest callers.
// Receives a `Flood`, sends the number of bytes that it has sent, and keeps its connections open until it is ended.

const batchSize = 100;

process.on('message', async (flood) => {
  const text = flood.parts.map(([part, times]) => part.repeat(times)).join('');
  let bytes = 0;
  const sockets = [];
  while (sockets.length < flood.connections) {
    const count = Math.min(batchSize, flood.connections - sockets.length);
    const batch = Array.from({ length: count }, (_, index) => {
      const number = Math.floor(((sockets.length + index) * flood.addresses.length) / flood.connections);
      return open(flood.port, flood.addresses[number]);
    });
    for (const socket of await Promise.all(batch)) {
      const own =
        flood.first === undefined ? text : text.replaceAll('SESSION', await sessionOf(socket, flood.first));
      socket.pause().write(own);
      bytes += own.length;
      sockets.push(socket);
    }
  }
  if (flood.last !== undefined) {
    await Promise.all(sockets.map(sent));
    for (const socket of sockets) socket.write(flood.last);
  }
  process.send(bytes);
});
process.on('disconnect', () => process.exit());

async function open(port, from) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

/** Resolves when a connection has handed over all its data, or is closed. */
async function sent(socket) {
  while (socket.writableLength > 0 && !socket.destroyed) {
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
}

/** Opens a session on a connection; returns its id, or an empty string if the server closed the connection. */
async function sessionOf(socket, request) {
  if (socket.destroyed) return '';
  socket.write(request);
  const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return /mcp-session-id: (\S+)/i.exec(String(data))?.[1] ?? '';
}
