import { CommandError } from 'market-mcp-contract/command';
import { packageManagerCommands } from '../plan/package-manager-commands.ts';
import { detectPackageManager } from '../system/detect.ts';
import { runProgram } from '../system/processes.ts';
import {
  compilerErrors,
  installHint,
  isBuiltByCompiler,
  projectCompiler,
} from '../system/typescript-compiler.ts';

/**
 * Builds a project. A script that is only the compiler is started without the package manager, which takes as long
 * as the compiler does.
 *
 * @throws CommandError `BUILD_FAILED` with the compiler's errors, else with the last lines of the build.
 */
export async function buildProject(
  directory: string,
  packageManager = detectPackageManager(directory),
): Promise<void> {
  const compiler = isBuiltByCompiler(directory) ? projectCompiler(directory) : undefined;
  const [file, ...args] = compiler ?? [packageManager, 'run', 'build'];
  const result = await runProgram(file, args, { cwd: directory });
  if (result.exitCode === 0) return;
  const command = `${packageManager} run build`;
  const errors = compilerErrors(result.lastLines.join('\n'));
  const [at] = /^\S+:\d+(?= )/.exec(errors[0] ?? '') ?? [];
  const hasNoCompiler = isBuiltByCompiler(directory) && compiler === undefined && errors.length === 0;
  const install = installHint(packageManagerCommands[packageManager]);
  const hint = hasNoCompiler ? install : `In ${directory} run: ${command}`;
  throw new CommandError('BUILD_FAILED', `${command} failed`, at === undefined ? hint : `Correct ${at}`, {
    details: errors.length > 0 ? errors : result.lastLines,
  });
}
