import { readConfig } from './config.ts';
import { loadEnvironment, logCrashes, ownErrors, refuseStart } from './process.ts';
import type { ServeOptions } from './run.ts';

export type { Platform } from './config.ts';
export type { ServeOptions } from './run.ts';
export type { RouteHandler, RouteOptions } from './server/routes.ts';
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
  if (!configured.ok || ownErrors.length > 0) {
    refuseStart([...(configured.ok ? [] : configured.errors), ...ownErrors]);
  }
  // A start that is refused loads neither the server nor the packages inside this one.
  const { run } = await import('./run.ts');
  await run(configured, options);
}
