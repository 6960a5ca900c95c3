import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerInfo } from './methods.ts';

/** The project's directory; this module runs from `dist/src/server`. */
export const projectDirectory = fileURLToPath(new URL('../../../', import.meta.url));

/** The server's identity: the name and version of the project's package.json. */
export function readServerInfo(): ServerInfo {
  const { name, version } = JSON.parse(readFileSync(path.join(projectDirectory, 'package.json'), 'utf8'));
  return { name, version };
}

/** Adds the variables of the project's `.env`, if it has one, to the environment; those already set stay. */
export function loadEnvironment(): void {
  const file = path.join(projectDirectory, '.env');
  if (!existsSync(file)) return;
  if (typeof process.loadEnvFile === 'function') process.loadEnvFile(file);
  else console.error('.env is not read: that needs Node 20.12 or later.');
}
