import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

let found: string | undefined;

/**
 * The project's directory: the nearest one with a package.json above the started file, else above the working directory.
 * It is determined once, when it is first needed.
 *
 * @throws Error if there is none, as on a host without files
 */
export function projectDirectory(): string {
  found ??= [process.argv[1], path.join(process.cwd(), 'any')]
    .map((start) => (start === undefined ? undefined : nearestPackage(path.dirname(path.resolve(start)))))
    .find((directory) => directory !== undefined);
  if (found === undefined) throw new Error('There is no package.json above the started file.');
  return found;
}

function nearestPackage(directory: string): string | undefined {
  if (existsSync(path.join(directory, 'package.json'))) return directory;
  const parent = path.dirname(directory);
  return parent === directory ? undefined : nearestPackage(parent);
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
  const file = path.join(projectDirectory(), '.env');
  try {
    if (existsSync(file)) process.loadEnvFile(file);
  } catch (error) {
    refuse([`.env cannot be read: ${(error as Error).message}`]);
  }
}

/** Ends the process with 1 if a variable of the author's modules is missing or invalid, and prints which. */
export function requireVariables(): void {
  if (ownErrors.length > 0) refuse(ownErrors);
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
