import { subscribe } from 'node:diagnostics_channel';

// Loaded into the server under test (`node --expose-gc --import`): answers each message of its parent with the memory
// in use after a full collection.
process.on('message', async () => {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  process.send({ rss, heapTotal, heapUsed, external, sockets, runs: globalThis.runs });
});
// The probe does not keep the process running.
process.channel.unref();

const kept = [];
/** What loses a kilobyte with each request. glibc keeps every value that a variable of the environment ever had. */
const leaks = {
  buffer: () => kept.push(Buffer.alloc(1000)),
  native: () => {
    process.env.LEAKED = String(Math.random()).padEnd(1000);
  },
};
const leak = leaks[process.env.LEAK];
if (leak) subscribe('http.server.request.start', leak);
