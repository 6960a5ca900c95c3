import { RE2JS } from 're2js';
import type { Tool } from './server/define-tool.ts';
import { type App, type AppConfig, createHttpApp } from './server/http-app.ts';
import type { Log } from './server/log.ts';
import { matchPatternsBy } from './server/pattern-matcher.ts';

export { type Config, type ConfigResult, type Configured, readConfig } from './config.ts';
export type { App, AppConfig } from './server/http-app.ts';
export { createLog, type Log } from './server/log.ts';

/**
 * Serves tools on the endpoints of C§4: `POST`, `GET` and `DELETE` of `/mcp`, `GET /health`, `GET /ready`, routes, and files
 * under `/.well-known/`. It needs no process: it reads no file and no variable, and does nothing until the first request.
 *
 * @throws Error if two tools have the same name, a schema does not compile, or a route, file or header is invalid.
 */
export function createApp(config: AppConfig, tools: readonly Tool[], log: Log): App {
  matchPatternsBy(RE2JS);
  return createHttpApp(config, tools, log);
}
