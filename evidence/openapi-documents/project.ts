import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { sourceDependencies } from '../../src/plan/package-versions.ts';

/** The built program; this code runs from a bundle, started in the repository. */
const program = join(process.cwd(), 'bin/create-market-mcp.js');

/** Timeout of one run of the program or of the compiler, in milliseconds. */
const timeout = 600_000;

/**
 * Runs `create-market-mcp` and returns its output.
 *
 * @throws Error with the end of its output if it does not exit with 0
 */
export async function runProgram(args: readonly string[], cwd: string): Promise<string> {
  const ran = await execa(process.execPath, [program, ...args], {
    cwd,
    timeout,
    maxBuffer: 400_000_000,
    reject: false,
    stdin: 'ignore',
  });
  if (ran.exitCode === 0) return ran.stdout;
  throw new Error(`the program exited ${ran.exitCode}: ${ran.stderr.slice(-2_000)}`);
}

/** Makes a project with a name and compiles it. */
export async function makeProject(name: string, args: readonly string[], place: string, modules: string) {
  const flags = ['--platform', 'context', '--yes', '--json', '--no-install', '--no-git'];
  const result: { readonly directory: string; readonly tools: readonly string[] } = JSON.parse(
    await runProgram([name, ...flags, ...args], place),
  );
  symlinkSync(modules, join(result.directory, 'node_modules'), 'dir');
  const compiler = join(modules, '.bin/tsc');
  const built = await execa(compiler, [], { cwd: result.directory, timeout, reject: false });
  if (built.exitCode !== 0) throw new Error(`tsc exited ${built.exitCode}: ${built.stdout.slice(0, 4_000)}`);
  return result;
}

/** Installs the dependencies of generated projects and returns the node_modules directory. */
export async function installModules(place: string): Promise<string> {
  const directory = join(place, 'shared');
  await runProgram(['shared', '--yes', '--no-install', '--no-git'], place);
  const file = join(directory, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const { 'create-market-mcp': _, ...devDependencies } = manifest.devDependencies;
  const dependencies = { ...manifest.dependencies, ...sourceDependencies };
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies, devDependencies }));
  await execa('npm', ['install', '--no-audit', '--no-fund'], { cwd: directory, timeout });
  return join(directory, 'node_modules');
}
