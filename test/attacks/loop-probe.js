// Loaded before the server. Answers each message of its parent with the processor time, in ms, that the longest turn of the
// event loop has taken since the previous message. Unlike the delay of a timer, it does not depend on other processes.

const resolution = 5;
let used = process.cpuUsage();
let longest = 0;
setInterval(measure, resolution).unref();
process.on('message', () => {
  measure();
  process.send(longest);
  longest = 0;
});
process.channel?.unref();

function measure() {
  const { user, system } = process.cpuUsage(used);
  used = process.cpuUsage();
  longest = Math.max(longest, (user + system) / 1000);
}
