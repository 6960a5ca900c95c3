import { monitorEventLoopDelay } from 'node:perf_hooks';

// Loaded before the server. Answers each message of its parent with the delay of the event loop since the previous one, in ms.

const resolution = 5;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();
process.on('message', () => {
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);
  process.send({ p99: ms(delay.percentile(99)), max: ms(delay.max) });
  delay.reset();
});
process.channel?.unref();
