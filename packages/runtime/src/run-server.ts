// Runs a configured server: log, start, signals, exit.

import path from 'node:path';
import type { Config, Configured, MetricsOptions, Platform } from './config.ts';
import { listen } from './listen.ts';
import { connectionLimit, readServerInfo, refuseStart, startWarnings } from './process.ts';
import { createReplicas, setSharedSourceState } from './replicas.ts';
import type { RouteOptions } from './server/author-routes.ts';
import type { Tool } from './server/define-tool.ts';
import { errorDetail } from './server/error-detail.ts';
import { createHttpApp } from './server/http-app.ts';
import { createBatch, createLog, type Log } from './server/log.ts';
import type { ServerInfo } from './server/mcp-methods.ts';
import { loadPatterns } from './server/pattern-matcher.ts';
import { type Sentinel, secretsInUrl, sentinelOf } from './state-url.ts';
import type { SharedState } from './store.ts';

/** The tools of a server, and its settings that are not environment variables. */
export interface ServeOptions extends RouteOptions {
  /** In the order of `tools/list`. */
  readonly tools: readonly Tool[];
  readonly platform: Platform;
  /**
   * Whether requests of MCP 2026-07-28, which has no sessions, are answered beside those of earlier versions; true by default.
   * If not, each of them gets 400 (C§3.1).
   */
  readonly modern?: boolean;
  /**
   * Connects to the store that replicas share, at the address of `STATE_URL`; not called without that variable. They then share ended
   * sessions, used tokens (`TOKEN_ONCE`), the `perMinute` of each API, and cached answers. Called again for `TOKEN_STATE_URL`. With a
   * URL of Sentinels, `sentinel` has its parts.
   */
  readonly state?: (url: string, sentinel?: Sentinel) => SharedState;
}

/** How long a start waits to know which sessions have ended, in milliseconds. */
const stateWaitMs = 3_000;
const missingStateWarning =
  'STATE_URL is set, but serve in src/main.ts has no option state: replicas share nothing. Write it with: market-mcp deploy add redis';

/** Output that the reader of the log has not read yet, in bytes. Further lines are dropped. */
const maxUnreadBytes = 262_144;

/** Runs a configured server until a signal ends it; see `serve`. */
export async function runServer(
  { config, warnings }: Configured,
  { tools, platform: _, state, ...otherOptions }: ServeOptions,
): Promise<void> {
  const info = readServerInfo();
  const runtime = readServerInfo(path.join(import.meta.dirname, '..')).version;

  // If the reader of the log ends or stops reading, lines are lost, but the server goes on.
  const { stdout } = process;
  for (const stream of [stdout, process.stderr]) stream.on('error', () => {});
  const batch = createBatch((lines) => stdout.write(lines));
  const log = createLog(batch.add, () => stdout.writable && stdout.writableLength < maxUnreadBytes);
  process.on('exit', batch.flush);
  process.on('unhandledRejection', (reason) => {
    log('incident', { detail: errorDetail(reason) });
  });

  const start = async () => {
    const metrics = await startMetrics(config, info);
    await loadPatterns(tools);
    const shared = state ? createShared(state, config, info.name, log) : null;
    const app = createHttpApp(
      { ...config, ...info, ...otherOptions, replicas: shared?.replicas ?? null },
      tools,
      log,
    );
    await shared?.start(stateWaitMs);
    const maxConnections = Math.min(config.maxConnections, connectionLimit());
    return { metrics, app, server: await listen(app, { ...config, maxConnections }, log) };
  };
  const { metrics, app, server } = await start().catch((error: Error) => refuseStart([error.message], ''));

  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      if (isStopping) return;
      isStopping = true;
      log('stopping', { signal });
      log('stopped', await server.stop());
      process.exit(0);
    });
  }

  // Before the line `listening`, because its reader may end the server at once.
  for (const text of [...warnings, ...graceWarnings(config), ...startWarnings]) log('warning', { text });
  if (config.stateUrl !== null && !state) log('warning', { text: missingStateWarning });
  const { host, token } = config;
  const audience = token && { audience: token.audience, audienceFrom: token.audienceFrom };
  const key = app.keyInUse();
  log('listening', {
    ...info,
    runtime,
    host,
    port: server.port,
    tools: tools.length,
    ...audience,
    key,
    metrics,
  });
  if (stdout.isTTY) console.error(`Serving at ${endpointUrl(host, server.port)}`);
  void app.prepare();
}

/** Time between CALL_TIMEOUT_MS and the end of the process, in milliseconds. In the last second of it, calls are aborted. */
const callReserveMs = 2_000;

/** Warns if calls are aborted although they would end within their time. Vercel has no such limit. */
function graceWarnings({ production, shutdownGraceMs, drainMs, callTimeoutMs }: Config): readonly string[] {
  const isLongEnough = shutdownGraceMs - drainMs >= callTimeoutMs;
  if (!production || process.env.VERCEL || isLongEnough) return [];
  const sufficientMs = drainMs + callTimeoutMs + callReserveMs;
  return [
    `SHUTDOWN_GRACE_MS - DRAIN_MS is ${shutdownGraceMs - drainMs}, but CALL_TIMEOUT_MS is ${callTimeoutMs}: calls that run when the server stops may be aborted. Set SHUTDOWN_GRACE_MS=${sufficientMs}, and let the host wait 5 seconds longer before it kills the process.`,
  ];
}

/** Serves metrics if they are switched on. Returns their address. Otherwise their code is not loaded. */
async function startMetrics(
  { metricsPort, metricsHost }: MetricsOptions,
  info: ServerInfo,
): Promise<string | undefined> {
  if (metricsPort === null) return undefined;
  const { serveMetrics } = await import('./metrics.ts');
  return serveMetrics(metricsHost, metricsPort, info);
}

/** Connects to the stores that replicas share, also for the requests to APIs; null without one. */
function createShared(
  state: NonNullable<ServeOptions['state']>,
  { stateUrl, tokenStateUrl, cacheSharedBytes: cacheBytes, token }: Config,
  name: string,
  log: Log,
): ReturnType<typeof createReplicas> | null {
  if (stateUrl === null) return null;
  const secrets = [stateUrl, tokenStateUrl].flatMap((url) => (url && secretsInUrl(url)) || []);
  const hide = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  const connect = (url: string) => state(url, sentinelOf(url));
  const shared = createReplicas(connect(stateUrl), {
    namespace: token?.audience ?? name,
    cacheBytes,
    once: token?.once ?? 'off',
    log,
    hide,
    tokens: tokenStateUrl === null ? null : connect(tokenStateUrl),
  });
  setSharedSourceState(shared.replicas);
  return shared;
}

/** The endpoint with the host name that tokens have in development. */
function endpointUrl(host: string, port: number): string {
  return `http://${urlHost(host)}:${port}/mcp`;
}

function urlHost(host: string): string {
  if (['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
