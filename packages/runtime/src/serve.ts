import { readConfig } from './config.ts';
import { loadEnvironment, logCrashes, refuseStart, startErrors } from './process.ts';
import type { ServeOptions } from './run-server.ts';

export type { Platform } from './config.ts';
export type { ServeOptions } from './run-server.ts';
export type { RouteHandler, RouteOptions } from './server/author-routes.ts';
export type { Sentinel } from './state-url.ts';
export type { SharedEntry, SharedState } from './store.ts';

// The modules of the tools are loaded after this one, and may throw.
logCrashes();

/**
 * Runs the server as this process until SIGTERM or SIGINT, then exits with 0. Its options come from the environment and from
 * the project's `.env`, its name and version from the project's package.json. If it cannot start, it prints all reasons on stderr and
 * exits with 1. The same signal again ends the process at once.
 */
export async function serve(options: ServeOptions): Promise<void> {
  loadEnvironment();
  logCrashes();
  const configured = readConfig(process.env, options.platform);
  if (!configured.ok) refuseStart([...configured.errors, ...startErrors]);
  if (startErrors.length > 0) refuseStart(startErrors);
  // Loaded only now, because a process that cannot start does not need the server.
  const { runServer } = await import('./run-server.ts');
  await runServer(configured, options);
}
