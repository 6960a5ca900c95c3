import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

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
    const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return scripts.build === 'tsc' && !scripts.prebuild && !scripts.postbuild;
  } catch {
    return false;
  }
}
