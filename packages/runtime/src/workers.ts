import { httpServerHandler } from 'cloudflare:node';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { startErrors, startWarnings } from './process.ts';
import { servedOptions } from './serve-workerd.ts';
import { createLog, createThrottledLog } from './server/log.ts';
import type { ServerInfo } from './server/mcp-methods.ts';

/** The entry of a Worker: what its main module exports as default. */
export interface Worker {
  fetch(request: Request, env: unknown, context: unknown): Promise<Response>;
}

/** An isolate has 128 MB for everything. */
const maxMemoryBytes = 64_000_000;
const defaults = { MAX_MEMORY_BYTES: String(maxMemoryBytes) };

/** Settings of a process and its port, which a Worker does not have, and counts of calls and a shared store, which it cannot keep. */
const withoutEffect = [
  ...['METRICS_PORT', 'DRAIN_MS', 'SHUTDOWN_GRACE_MS', 'REQUEST_TIMEOUT_MS', 'MAX_LOOP_DELAY_MS'],
  ...['MAX_CONNECTIONS', 'MAX_PIPELINED', 'MAX_CALLS', 'MAX_CALLS_PER_TOKEN', 'STATE_URL'],
  ...['TOKEN_STATE_URL', 'CACHE_SHARED_BYTES'],
];

const refusalsMs = 60_000;
/** Each line at once: what waits for the next turn is lost with the request. */
const log = createLog((line) => console.log(line.trimEnd()));

/**
 * Starts what `serve` was given. Its variables are those of the Worker. Where they are missing or invalid, each request gets 503, and
 * the log says why: Workers may be started without their secrets while they are deployed.
 *
 * @throws Error if `serve` was not called, and for the reasons of `createApp`
 */
export function createWorker({ name, version }: ServerInfo): Worker {
  const options = servedOptions();
  if (options === undefined) throw new Error('src/main.ts has not called serve.');
  const { tools, platform, ...otherOptions } = options;
  const configured = readConfig({ ...defaults, ...process.env }, platform, () => {
    throw Object.assign(new Error(), { code: 'a Worker has none' });
  });
  const configErrors = configured.ok ? memoryErrors(configured.config) : configured.errors;
  const reasons = [...configErrors, ...startErrors];
  if (!process.env.SESSION_SECRET?.trim()) {
    reasons.unshift('SESSION_SECRET: must be set: the isolates of a Worker share sessions by it.');
  }
  if (configured.ok && configured.config.token?.once === 'strict') {
    reasons.push('TOKEN_ONCE: "strict" needs a store that replicas share, which a Worker does not have.');
  }
  if (!configured.ok || reasons.length > 0) return handleRequests(refusing(reasons));

  const { config, warnings } = configured;
  const app = createApp({ ...config, name, version, ...otherOptions }, tools, log);
  const unused = withoutEffect.filter((variable) => process.env[variable]);
  const announce = () => {
    for (const text of [...warnings, ...startWarnings]) log('warning', { text });
    if (unused.length > 0) log('warning', { text: `${unused.join(', ')}: without effect on a Worker.` });
    const audience = config.token && {
      audience: config.token.audience,
      audienceFrom: config.token.audienceFrom,
    };
    log('listening', { name, version, tools: tools.length, ...audience, key: app.keyInUse() });
  };
  let hasAnnounced = false;
  return handleRequests((request, response) => {
    // While a Worker starts there is no time, and nobody reads its log.
    if (!hasAnnounced) announce();
    hasAnnounced = true;
    void app.handle(request, response);
  });
}

function memoryErrors(config: Config): string[] {
  if (config.maxMemoryBytes > maxMemoryBytes)
    return [`MAX_MEMORY_BYTES: expected at most ${maxMemoryBytes}.`];
  return [];
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers 503, and logs why at most once a minute. */
function refusing(reasons: readonly string[]): Handle {
  const logThrottled = createThrottledLog(log, 'cannot-start', refusalsMs);
  const hint = 'Set variables in wrangler.jsonc, secrets with: npx wrangler secret put <name>';
  return (_, response) => {
    logThrottled('', { reasons, hint });
    response.writeHead(503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'The server is not configured: its log says why.' }));
  };
}

/** Never reached from outside: the name of a server inside the Worker. */
const port = 8080;

function handleRequests(handle: Handle): Worker {
  const callers = new AsyncLocalStorage<AbortSignal>();
  const server = createServer((request, response) => {
    // With the flag `enable_request_signal`. After this turn the host drops what the request has begun.
    callers.getStore()?.addEventListener('abort', () => {
      response.destroy();
      response.emit('close');
    });
    handle(request, response);
  });
  server.listen(port);
  const handler = httpServerHandler({ port });
  return {
    fetch: (request, ...rest) => callers.run(request.signal, () => handler.fetch(request, ...rest)),
  };
}
