import { json } from 'node:stream/consumers';
import autocannon from 'autocannon';
import { vitals } from '../lib/measure.js';
import { percentile } from '../lib/statistics.js';

// The load driver, run as a separate process: reads a job (bench/lib/load.js) from stdin and writes the result as JSON.
// A connection's request is built once; the id and the token of each request overwrite the
// same bytes, so that the driver costs as little as possible.

const job = await json(process.stdin);

const firstId = 1_000_000_000;
const body = JSON.stringify({ jsonrpc: '2.0', method: job.method, params: job.params, id: firstId });
let nextId = firstId;
let nextToken = 0;

await load(job.warmUp);
const before = { seconds: performance.now() / 1000, own: process.cpuUsage(), server: vitals(job.pid) };
const { durations, failures } = await load(job.extent);
const after = { own: process.cpuUsage(before.own), server: vitals(job.pid) };
const seconds = performance.now() / 1000 - before.seconds;
if (durations.length === 0) throw new Error('no answer came in time');

process.stdout.write(
  JSON.stringify({
    requests: durations.length,
    failures,
    perSecond: durations.length / seconds,
    p50: percentile(durations, 50),
    p99: percentile(durations, 99),
    serverCpuUs: ((after.server.cpuMs - before.server.cpuMs) * 1000) / durations.length,
    serverBusy: (after.server.cpuMs - before.server.cpuMs) / 1000 / seconds,
    driverBusy: (after.own.user + after.own.system) / 1e6 / seconds,
    rssMb: { before: before.server.rssMb, after: after.server.rssMb },
  }),
);

/** @param {{ duration: number } | { amount: number }} extent */
async function load(extent) {
  const durations = [];
  let refused = 0;
  let connection = 0;
  const { errors } = await autocannon({
    url: job.url,
    method: 'POST',
    connections: job.identities.length,
    timeout: 60,
    ...extent,
    setupClient(client) {
      client.setHeadersAndBody({ ...job.identities[connection++] }, body);
      const bytes = client.getRequestBuffer();
      const idAt = bytes.lastIndexOf(String(firstId));
      const tokenAt = bytes.indexOf('Bearer ') + 'Bearer '.length;
      client.on('request', () => {
        bytes.write(String(nextId++), idAt);
        if (job.tokens) bytes.write(job.tokens[nextToken++ % job.tokens.length], tokenAt);
      });
      client.on('response', (status, _bytes, ms) => {
        durations.push(ms);
        if (status !== 200) refused += 1;
      });
    },
  });
  return { durations, failures: errors + refused };
}
