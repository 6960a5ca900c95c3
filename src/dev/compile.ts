import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ProjectError } from '../project/errors.ts';

/**
 * Starts the compiler of a project. It writes its messages to this process's stderr.
 *
 * @throws ProjectError `NOT_INSTALLED` if the project has no compiler.
 */
export function startCompiler(directory: string): ChildProcess {
  return spawn(process.execPath, [compilerOf(directory)], { cwd: directory, stdio: ['ignore', 2, 2] });
}

function compilerOf(directory: string): string {
  try {
    const { resolve } = createRequire(join(directory, 'package.json'));
    return join(dirname(resolve('typescript/package.json')), 'bin/tsc');
  } catch (error) {
    const hint =
      'Install its packages first: run npm install, or the install command of the package manager that the project uses.';
    throw new ProjectError('NOT_INSTALLED', `${directory} has no TypeScript compiler`, hint, {
      cause: error,
    });
  }
}
