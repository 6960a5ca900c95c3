import type { Configured } from '../config.ts';
import { createApp } from './app.ts';
import type { Tool } from './define-tool.ts';
import { listen, type RunningServer } from './listen.ts';
import { createLog } from './log.ts';
import type { ServerInfo } from './methods.ts';
import { refuse } from './refuse.ts';

/**
 * Runs the server as this process until SIGTERM or SIGINT, then exits with 0. Where it cannot start, says why on
 * stderr and exits with 1. The same signal again ends the process at once.
 */
export async function serve(
  { config, warnings }: Configured,
  info: ServerInfo,
  tools: readonly Tool[],
): Promise<void> {
  const log = createLog();
  process.on('exit', log.flush);
  process.on('unhandledRejection', (reason) => {
    log('incident', { detail: reason instanceof Error ? reason.stack : String(reason) });
  });

  let server: RunningServer;
  try {
    server = await listen(createApp(config, info, tools, log), config);
  } catch (error) {
    return refuse([(error as Error).message]);
  }

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log('stopping', { signal });
    await server.stop();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);

  // Whoever reads this may end the server at once.
  for (const text of warnings) log('warning', { text });
  log('listening', { ...info, host: config.host, port: server.port, tools: tools.length });
  if (process.stdout.isTTY) console.error(`Serving at ${addressOf(config.host, server.port)}`);
}

/** The endpoint as a person at this machine calls it. */
function addressOf(host: string, port: number): string {
  const isEvery = host === '0.0.0.0' || host === '::';
  return `http://${isEvery ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}/mcp`;
}
