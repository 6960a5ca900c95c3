import { readConfig } from './config.ts';
import { platform, runtime } from './platform.ts';
import {
  loadEnvironment,
  mostConnections,
  ownErrors,
  ownWarnings,
  readServerInfo,
  refuse,
} from './process.ts';
import { createApp } from './server/http.ts';
import { listen } from './server/listen.ts';
import { createLog } from './server/log.ts';
import { tools } from './tools/index.ts';

// Runs the server as this process until SIGTERM or SIGINT, then exits with 0. If it cannot start, prints the reasons on stderr
// and exits with 1. The same signal again ends the process at once.

loadEnvironment();
const configured = readConfig(process.env, platform);
if (!configured.ok || ownErrors.length > 0) {
  refuse([...(configured.ok ? [] : configured.errors), ...ownErrors]);
}
const { config, warnings } = configured;
const info = readServerInfo();

// The reader of the log may go away or stand still: that ends the log or leaves it with gaps, but does not end the server.
const mostUnread = 262_144;
const { stdout } = process;
for (const stream of [stdout, process.stderr]) stream.on('error', () => {});
const log = createLog(
  (lines) => stdout.write(lines),
  () => stdout.writable && stdout.writableLength < mostUnread,
);
process.on('exit', log.flush);
process.on('unhandledRejection', (reason) => {
  log('incident', { detail: reason instanceof Error ? reason.stack : String(reason) });
});

const { app, server } = await start().catch((error: Error) => refuse([error.message]));

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    if (stopping) return;
    stopping = true;
    log('stopping', { signal });
    await server.stop();
    process.exit(0);
  });
}

// A reader of this line may end the server at once.
for (const text of [...warnings, ...ownWarnings]) log('warning', { text });
const { host } = config;
log('listening', { ...info, runtime, host, port: server.port, tools: tools.length, key: app.keyInUse() });
if (stdout.isTTY) console.error(`Serving at ${addressOf(host, server.port)}`);
void app.prepare();

async function start() {
  const app = createApp({ ...config, ...info }, tools, log);
  const maxConnections = Math.min(config.maxConnections, mostConnections());
  return { app, server: await listen(app, { ...config, maxConnections }, log) };
}

/** The endpoint with the host name that tokens have in development. */
function addressOf(host: string, port: number): string {
  const isHere = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host);
  return `http://${isHere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}/mcp`;
}
