// The process of a server: project directory, `.env`, crashes, a refused start.

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { errorDetail } from './server/error-detail.ts';
import { createLog } from './server/log.ts';
import type { ServerInfo } from './server/mcp-methods.ts';

let found: string | null | undefined;

/** The project's directory, found on first use; null if there is none, as on a host without files. */
export function projectDirectory(): string | null {
  if (found === undefined) found = directoryAbove(process.argv[1], process.cwd());
  return found;
}

/**
 * The nearest directory above the started file, else above the working directory, whose package.json names the runtime as a
 * dependency: the started file may be a test runner. If none does, the nearest with any package.json; null if there is none.
 */
export function directoryAbove(startedFile: string | undefined, workingDirectory: string): string | null {
  const manifests = [
    ...manifestsAbove(realPath(startedFile ?? workingDirectory)),
    ...manifestsAbove(workingDirectory),
  ];
  const isOwn = (file: string) => readFileSync(file, 'utf8').includes('"market-mcp-runtime":');
  const manifest = manifests.find(isOwn) ?? manifests[0];
  if (manifest === undefined) return null;
  return path.dirname(manifest);
}

function manifestsAbove(from: string): readonly string[] {
  const parent = path.dirname(from);
  const file = path.join(from, 'package.json');
  const manifests = existsSync(file) ? [file] : [];
  if (parent === from) return manifests;
  return [...manifests, ...manifestsAbove(parent)];
}

/** The file that a path leads to; the path itself if there is none. */
function realPath(file: string): string {
  return existsSync(file) ? realpathSync(file) : file;
}

/**
 * The server's identity: the name and version of the project's package.json.
 *
 * @throws Error if there is no project
 */
export function readServerInfo(directory = projectDirectory()): ServerInfo {
  if (directory === null) {
    throw new Error(`No package.json in ${process.cwd()} or above: start the server in its project.`);
  }
  const text = readFileSync(path.join(directory, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(text.replace(/^\ufeff/, '')); // Windows editors write a byte order mark
  return { name, version };
}

let agent: string | undefined;

/** How requests name this server (RFC 9110 §10.1.5): the name and version of the project, where it has files. */
export function userAgent(): string {
  if (agent !== undefined) return agent;
  const directory = projectDirectory();
  const { name, version }: { name?: unknown; version?: unknown } =
    directory === null ? {} : readServerInfo(directory);
  const ownName = typeof name === 'string' ? name : 'market-mcp-runtime';
  const product = ownName.replace(/^@[^/]*\//, '').replaceAll(/[^\w!#$%&'*+.^`|~-]/g, '-');
  agent = typeof version === 'string' && /^[\w.+-]+$/.test(version) ? `${product}/${version}` : product;
  return agent;
}

/** Reasons why the server cannot start, collected while `src/env.ts` is loaded. */
export const startErrors: string[] = [];

/** Warnings of the author's modules, collected like `startErrors`. */
export const startWarnings: string[] = [];

export function isProduction(): boolean {
  const { NODE_ENV } = process.env; // wrangler replaces `process.env.NODE_ENV`
  return NODE_ENV?.trim().toLowerCase() === 'production';
}

/** Adds the variables of the project's `.env`, if it exists, to the environment; variables that are already set win. */
export function loadEnvironment(directory = projectDirectory()): void {
  if (directory === null) return;
  const file = path.join(directory, '.env');
  try {
    if (existsSync(file)) process.loadEnvFile(file);
  } catch (error) {
    refuseStart([`.env cannot be read: ${(error as Error).message}`], '');
  }
}

/** Ends the process with 1 if a variable of `defineEnv` is missing or invalid, and prints which, as `serve` does. */
export function requireVariables(): void {
  if (startErrors.length > 0) refuseStart(startErrors);
}

/** Writes a log line on standard error at once, for a process that may end with it. */
export const logToStderr = createLog((line) => console.error(line.trimEnd()));

let logsCrashes = false;

/**
 * In production, an error that nothing catches becomes one log line, and ends the process with 1, as Node does. A
 * listener of the author decides instead, as it does without this one.
 */
export function logCrashes(): void {
  if (logsCrashes || !isProduction()) return;
  logsCrashes = true;
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') > 1) return;
    logToStderr('crash', { detail: errorDetail(error) });
    process.exit(1);
  });
}

/**
 * Prints on stderr why the process cannot start, as one log line in production, and ends it with 1.
 *
 * @param hint what to do, one line; by default where to set variables
 */
export function refuseStart(reasons: readonly string[], hint = whereToSet()): never {
  if (isProduction()) logToStderr('cannot-start', { reasons, hint: hint || undefined });
  else {
    const lines = ['Cannot start.', ...reasons.map((reason) => `- ${reason}`), hint];
    console.error(lines.filter((line) => line !== '').join('\n'));
  }
  process.exit(1);
}

function whereToSet(): string {
  const exists = (file: string) => existsSync(path.join(projectDirectory() ?? '.', file));
  const copy = exists('.env') || !exists('.env.example') ? '' : ' (copy .env.example to it first)';
  return `Set variables in the file .env of the project${copy}, or where the server runs.`;
}

/** The number of connections that the file descriptors of this process allow; a quarter of them is left for the tools. */
export function connectionLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, descriptors] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    if (descriptors === undefined) return Number.POSITIVE_INFINITY;
    return Math.floor(Number(descriptors) * 0.75);
  } catch {
    return Number.POSITIVE_INFINITY; // the number is not known
  }
}
