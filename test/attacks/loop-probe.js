import { readFileSync } from 'node:fs';

// Loaded before the server. Answers the message `turn` with the processor time, in ms, that the longest turn of the event loop
// has taken since the previous such message. Linux gives the time of the main thread; elsewhere the threads that collect garbage
// count, too.

const resolution = 5;
const schedule = `/proc/self/task/${process.pid}/schedstat`;
let used = usedMs();
let longest = 0;
setInterval(measure, resolution).unref();
process.on('message', () => {
  measure();
  process.send(longest);
  used = usedMs();
  longest = 0;
});
process.channel?.unref();

function measure() {
  const before = used;
  used = usedMs();
  longest = Math.max(longest, used - before);
}

function usedMs() {
  try {
    return Number(readFileSync(schedule, 'utf8').split(' ', 1)) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
