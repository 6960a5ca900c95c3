import { once } from 'node:events';
import { connect } from 'node:net';

// The attacker, in a process of its own: what it takes of a processor is not what the honest caller waits for.
// Receives a `Flood`, sends the number of bytes that it has sent, and holds its connections until it is ended.

const batchSize = 100;

process.on('message', async (flood) => {
  const text = flood.parts.map(([part, times]) => part.repeat(times)).join('');
  let bytes = 0;
  for (const [index, from] of flood.addresses.entries()) {
    let left = flood.connections / flood.addresses.length;
    for (; left > 0; left -= batchSize) {
      const batch = Array.from({ length: Math.min(batchSize, left) }, () => open(flood.port, from));
      for (const socket of await Promise.all(batch)) {
        const own =
          flood.first === undefined ? text : text.replaceAll('SESSION', await sessionOf(socket, flood.first));
        socket.pause().write(own);
        bytes += own.length;
      }
    }
    if (index === flood.addresses.length - 1) process.send(bytes);
  }
});
process.on('disconnect', () => process.exit());

async function open(port, from) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

/** Opens a session on a connection; its id, or an empty one where the server has closed the connection. */
async function sessionOf(socket, request) {
  if (socket.destroyed) return '';
  socket.write(request);
  const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return /mcp-session-id: (\S+)/i.exec(String(data))?.[1] ?? '';
}
