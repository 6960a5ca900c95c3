import { type ChildProcess, spawn } from 'node:child_process';
import { ProjectError } from '../project/errors.ts';
import { compilerOf } from '../system/compiler.ts';

/**
 * Starts the compiler of a project. It writes its messages to this process's stderr.
 *
 * @throws ProjectError `NOT_INSTALLED` if the project has no compiler.
 */
export function startCompiler(directory: string): ChildProcess {
  const compiler = compilerOf(directory);
  if (compiler !== undefined) {
    return spawn(process.execPath, [compiler], { cwd: directory, stdio: ['ignore', 2, 2] });
  }
  const hint =
    'Install its packages first: run npm install, or the install command of the package manager that the project uses.';
  throw new ProjectError('NOT_INSTALLED', `${directory} has no TypeScript compiler`, hint);
}
