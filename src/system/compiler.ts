import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { parsedJson } from '../project/read/text.ts';

/** The TypeScript compiler that a project has installed, a program for Node; undefined if it has none. */
export function compilerOf(directory: string): string | undefined {
  try {
    const { resolve } = createRequire(join(directory, 'package.json'));
    return join(dirname(resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return undefined;
  }
}

/** Whether the build script of a project runs the compiler and nothing else. */
export function isBuiltByCompiler(directory: string): boolean {
  try {
    const { scripts } = parsedJson(readFileSync(join(directory, 'package.json')));
    return scripts.build === 'tsc' && !scripts.prebuild && !scripts.postbuild;
  } catch {
    return false;
  }
}

const shownErrors = 5;

/** `src/x.ts(3,5): error TS1: …`, or with `--pretty` `src/x.ts:3:5 - error TS1: …`. */
const compilerError =
  /^(?:(?<file>\S.*?)(?:\((?<row>\d+),\d+\):|:(?<line>\d+):\d+ -) )?error (?<what>TS\d+: .*)$/gm;

/** The first errors in the output of a compiler: `src/tools/x.ts:3 TS2322: Type 'number' …`. */
export function compilerErrors(text: string): readonly string[] {
  return [...stripVTControlCharacters(text).matchAll(compilerError)]
    .slice(0, shownErrors)
    .map(({ groups: { file, row, line, what } = {} }) =>
      file === undefined ? `${what}` : `${file}:${row ?? line} ${what}`,
    );
}
