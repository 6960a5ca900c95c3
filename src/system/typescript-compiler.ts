import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';
import { attempt } from 'market-mcp-contract/json';
import type { PackageManagerCommands } from '../plan/package-manager-commands.ts';
import { parsedJson } from '../project/read/file-text.ts';
import { packageManagerOf } from './detect.ts';

/** A program with its arguments. */
type Started = readonly [file: string, ...args: string[]];

/** How to start the TypeScript compiler that a project has installed; undefined if it has none. */
export function projectCompiler(directory: string): Started | undefined {
  return attempt((): Started => {
    const { resolve } = createRequire(join(directory, 'package.json'));
    const manifest = resolve('typescript/package.json');
    return nativeCompiler(manifest) ?? [process.execPath, join(dirname(manifest), 'bin/tsc')];
  }, undefined);
}

/** The program of this machine that `bin/tsc` of TypeScript 7 starts; undefined in earlier versions. */
function nativeCompiler(manifest: string): Started | undefined {
  const name = `@typescript/typescript-${process.platform}-${process.arch}`;
  if (parsedJson(readFileSync(manifest)).optionalDependencies?.[name] === undefined) return undefined;
  const place = dirname(createRequire(manifest).resolve(`${name}/package.json`));
  return [join(place, 'lib', process.platform === 'win32' ? 'tsc.exe' : 'tsc')];
}

/** What to do in a project without its compiler, which is a development dependency. */
export function installHint({ completeInstall }: PackageManagerCommands): string {
  return `Install its packages, including those for development: ${completeInstall}`;
}

/** Whether the build script of a project runs the compiler and nothing else. */
export function isBuiltByCompiler(directory: string): boolean {
  const manifest = attempt(() => parsedJson(readFileSync(join(directory, 'package.json'))), undefined);
  const { build, prebuild, postbuild } = manifest?.scripts ?? {};
  return build === 'tsc' && !prebuild && !postbuild;
}

const shownErrors = 5;

/** `src/x.ts(3,5): error TS1: …`, or with `--pretty` `src/x.ts:3:5 - error TS1: …`. */
const compilerError =
  /^(?:(?<file>\S.*?)(?:\((?<row>\d+),\d+\):|:(?<line>\d+):\d+ -) )?error (?<what>TS\d+: .*)$/gm;

/** The first errors in the output of a compiler: `src/tools/x.ts:3 TS2322: Type 'number' …`. */
export function compilerErrors(text: string): readonly string[] {
  return [...stripVTControlCharacters(text).matchAll(compilerError)]
    .slice(0, shownErrors)
    .map(({ groups: { file, row, line, what: message } = {} }) =>
      file === undefined ? `${message}` : `${file}:${row ?? line} ${message}`,
    );
}

/** How a compilation ended. */
export interface Compilation {
  readonly ok: boolean;
  /** The first errors: `src/tools/x.ts:3 TS2322: Type 'number' …`. */
  readonly errors: readonly string[];
}

/**
 * Compiles a project. The compiler's messages also go to this process's stderr.
 *
 * @throws CommandError `NOT_INSTALLED` if the project has no compiler.
 */
export async function compileProject(directory: string): Promise<Compilation> {
  const compiler = projectCompiler(directory);
  if (compiler === undefined) {
    const hint = installHint(packageManagerOf(directory));
    throw new CommandError('NOT_INSTALLED', `${directory} has no TypeScript compiler`, hint);
  }
  const [file, ...args] = [...compiler, ...(process.stderr.isTTY ? ['--pretty'] : [])];
  const child = spawn(file, args, { cwd: directory, stdio: ['ignore', 'pipe', 2] });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stderr.write(text);
  });
  const [code] = await once(child, 'close');
  return { ok: code === 0, errors: code === 0 ? [] : compilerErrors(output) };
}
