import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { packageManagerCommands } from '../plan/package-manager-commands.ts';
import { workspaceRoot } from '../project/read/workspace.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { type ProcessResult, runProgram } from './processes.ts';

/**
 * Installs a project's dependencies, including those for development.
 *
 * @param laterSteps the commands that finish the project after it, for an error.
 * @param onProgress called with the number of packages fetched so far, or with a line of the package manager's output.
 * @throws CommandError `INSTALL_FAILED` with the last lines, or `PACKAGE_MANAGER_MISSING`.
 */
export async function install(
  name: PackageManager,
  directory: string,
  onProgress: (text: string) => void,
  laterSteps: readonly string[] = [],
): Promise<void> {
  const removeKnownLock = name === 'npm' ? await writeKnownLock(directory) : () => {};
  // npm uses its cached metadata without a request.
  const cacheOptions = name === 'npm' ? ['--prefer-offline'] : [];
  let result = await runInstall(name, cacheOptions, directory, onProgress);
  if (result.exitCode === 0) return;
  removeKnownLock();
  if (name === 'npm' && result.lastLines.some((line) => outdated.test(line))) {
    result = await runInstall(name, [], directory, onProgress);
  }
  if (result.exitCode === 0) return;
  const command = packageManagerCommands[name].install;
  const hint = `All files are written. To continue, run in ${directory}: ${[command, ...laterSteps].join(', then ')}`;
  if (result.missing) throw new CommandError('PACKAGE_MANAGER_MISSING', `${name} is not installed`, hint);
  const [code] = unreachable.exec(result.lastLines.join('\n')) ?? [];
  const reason = code === undefined ? '' : `: ${name} could not reach its registry (${code})`;
  throw new CommandError('INSTALL_FAILED', `${command} failed${reason}`, hint, { details: result.lastLines });
}

/** What Node and Bun name an address that does not answer. */
const unreachable =
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ConnectionRefused)\b/;

/** The cached metadata may lack a version that we name, and a registry may have other bytes than we know. */
const outdated = /ETARGET|EINTEGRITY/;

/**
 * Writes what npm would find out first, unless the project has a lock file, or its workspace has one at its root.
 *
 * @returns a function that removes it
 */
async function writeKnownLock(directory: string): Promise<() => void> {
  const file = join(directory, packageManagerCommands.npm.lockFile);
  if (existsSync(file) || workspaceRoot(directory) !== undefined) return () => {};
  const { knownLock } = await import('../project/package/lockfile.ts');
  writeFileSync(file, knownLock(directory));
  return () => rmSync(file, { force: true });
}

/** The version of a package manager; null if it is not installed. */
export async function installedVersion(name: PackageManager): Promise<string | null> {
  // Outside of any project: pnpm and Yarn run the version that a project names or contains.
  const versionResult = await runProgram(name, ['--version'], { cwd: parse(process.cwd()).root });
  if (versionResult.exitCode === 0) return versionResult.stdout.trim().split('\n').at(-1) ?? null;
  return null;
}

function runInstall(
  name: PackageManager,
  cacheOptions: readonly string[],
  directory: string,
  onProgress: (text: string) => void,
): Promise<ProcessResult> {
  const [program = name, ...args] = packageManagerCommands[name].completeInstall.split(' ');
  let fetched = 0;
  return runProgram(program, [...args, ...unattendedOptions[name], ...cacheOptions], {
    cwd: directory,
    // With NODE_ENV=production, the compiler would not be installed.
    // In CI, Yarn would refuse to update the lock file.
    env: { NODE_ENV: undefined, YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' },
    isNoise: isFetch,
    onLine: (line) => {
      if (isFetch(line)) fetched += 1;
      onProgress(isFetch(line) ? `${fetched} packages` : line.trim());
    },
  });
}

/** The options of an installation that nobody watches, in addition to `completeInstall`. */
const unattendedOptions: { readonly [name in PackageManager]: readonly string[] } = {
  npm: ['--no-audit', '--no-fund', '--loglevel=http'],
  // In CI, pnpm would refuse to update the lock file.
  pnpm: ['--reporter=append-only', '--no-frozen-lockfile'],
  yarn: [],
  bun: [],
};

/** npm logs each request on this level: `npm http fetch GET 200 …`. */
function isFetch(line: string): boolean {
  return /^npm http /.test(line);
}
