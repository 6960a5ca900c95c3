// Loaded into the server under test (`node --expose-gc --import`): answers each message of its parent with the memory
// in use after a full collection.
process.on('message', async () => {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  process.send({ rss, heapUsed, external, sockets, runs: globalThis.runs });
});
// The probe does not keep the process running.
process.channel.unref();
