import { build, showSelfCheck } from '../../check/self-check.ts';
import { findProject } from '../../project/manifest.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { type ExitCode, exitCodes } from '../errors.ts';
import type { Output } from '../output.ts';

/** `market-mcp check`: builds the project that the current directory lies in and runs its self-check. */
export async function check(output: Output): Promise<ExitCode> {
  const directory = findProject(process.cwd());
  const progress = output.progress('Building');
  try {
    await build(directory, detectPackageManager(directory, process.env));
  } finally {
    progress.stop();
  }
  const exitCode = await showSelfCheck(directory, output.json ? ['--json'] : []);
  if (exitCode === 0) return exitCodes.ok;
  return exitCode === exitCodes.checkFailed ? exitCodes.checkFailed : exitCodes.notStarted;
}
