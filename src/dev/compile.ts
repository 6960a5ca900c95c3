import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CommandError } from 'market-mcp-contract/command';
import { compilerErrors, compilerOf } from '../system/compiler.ts';
import { packageManagerOf } from '../system/detect.ts';

/** How a compilation ended. */
export interface Compilation {
  readonly ok: boolean;
  /** The first errors: `src/tools/x.ts:3 TS2322: Type 'number' …`. */
  readonly errors: readonly string[];
}

/**
 * Compiles a project. The compiler's messages go to this process's stderr, too.
 *
 * @throws CommandError `NOT_INSTALLED` if the project has no compiler.
 */
export async function compile(directory: string): Promise<Compilation> {
  const compiler = compilerOf(directory);
  if (compiler === undefined) {
    const hint = `Install its packages first: ${packageManagerOf(directory).install}`;
    throw new CommandError('NOT_INSTALLED', `${directory} has no TypeScript compiler`, hint);
  }
  const args = [compiler, ...(process.stderr.isTTY ? ['--pretty'] : [])];
  const child = spawn(process.execPath, args, { cwd: directory, stdio: ['ignore', 'pipe', 2] });
  let written = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    process.stderr.write(text);
  });
  const [code] = await once(child, 'close');
  return { ok: code === 0, errors: code === 0 ? [] : compilerErrors(written) };
}
