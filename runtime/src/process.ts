import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerInfo } from './server/mcp.ts';

/** The project's directory; this module runs from `dist/src`. */
export const projectDirectory = fileURLToPath(new URL('../../', import.meta.url));

/** The server's identity: the name and version of the project's package.json. */
export function readServerInfo(): ServerInfo {
  const { name, version } = JSON.parse(readFileSync(path.join(projectDirectory, 'package.json'), 'utf8'));
  return { name, version };
}

/** Reasons why the server cannot start, collected while `src/env.ts` is loaded. */
export const ownErrors: string[] = [];

/** Warnings of the author's modules, collected like `ownErrors`. */
export const ownWarnings: string[] = [];

export function isProduction(): boolean {
  return process.env.NODE_ENV?.trim().toLowerCase() === 'production';
}

/** Adds the variables of the project's `.env`, if it exists, to the environment; variables that are already set win. */
export function loadEnvironment(): void {
  const file = path.join(projectDirectory, '.env');
  try {
    if (existsSync(file)) process.loadEnvFile(file);
  } catch (error) {
    refuse([`.env cannot be read: ${(error as Error).message}`]);
  }
}

/** Prints on stderr why the process cannot start, and ends it with 1. */
export function refuse(reasons: readonly string[]): never {
  console.error(['Cannot start.', ...reasons.map((reason) => `- ${reason}`)].join('\n'));
  process.exit(1);
}

/** The number of connections that the file descriptors of this process allow; a quarter of them is left for the tools. */
export function mostConnections(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, descriptors] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return descriptors === undefined ? Number.POSITIVE_INFINITY : Math.floor(Number(descriptors) * 0.75);
  } catch {
    return Number.POSITIVE_INFINITY; // the number is not known
  }
}
