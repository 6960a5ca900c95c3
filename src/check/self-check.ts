import type { PackageManager } from '../questions/package-managers.ts';
import { compilerOf, isBuiltByCompiler } from '../system/compiler.ts';
import { SystemError } from '../system/errors.ts';
import { run } from '../system/processes.ts';
import { type CheckOptions, examine } from './examine.ts';
import type { CheckReport } from './model.ts';
import { holdProject } from './project.ts';

/**
 * Builds a project. Where the script is the compiler alone, it is started without the package manager, which takes as long
 * as the compiler does.
 *
 * @throws SystemError `BUILD_FAILED` with the compiler's last lines.
 */
export async function build(directory: string, packageManager: PackageManager): Promise<void> {
  const compiler = isBuiltByCompiler(directory) ? compilerOf(directory) : undefined;
  const ended = await (compiler === undefined
    ? run(packageManager, ['run', 'build'], { cwd: directory })
    : run(process.execPath, [compiler], { cwd: directory }));
  if (ended.exitCode === 0) return;
  const command = `${packageManager} run build`;
  throw new SystemError(
    'BUILD_FAILED',
    `${command} failed`,
    `In ${directory} run: ${command}`,
    ended.lastLines,
  );
}

/**
 * Starts the server of a built project, runs the whole contract on it, and stops it.
 *
 * @throws SystemError `NOT_STARTED` with the last lines of the server, `UNREACHABLE` if it stops answering.
 */
export async function selfCheck(directory: string, onRule: CheckOptions['onRule']): Promise<CheckReport> {
  const { release, ...held } = await holdProject(directory);
  try {
    const demands = { level: 'must', requireAll: false } as const;
    return (await examine(held, { demands, selects: () => true, ...(onRule && { onRule }) })).report;
  } finally {
    await release();
  }
}
