// Finds the line of the author's code behind a failure.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { directoryAbove } from './process.ts';

const frame = /^\s+at (?:.*\()?(.+?):(\d+):\d+\)?$/gm;

/**
 * Finds the first location of the author's code in a stack, relative to the project: `src/tools/get-price.ts:12`. Undefined if there is
 * none.
 */
export function findAuthorLocation(stack: string | undefined): string | undefined {
  const runtime = path.resolve(import.meta.dirname ?? '', '..');
  for (const [, file = '', line] of stack?.matchAll(frame) ?? []) {
    const filePath = file.startsWith('file:') ? fileURLToPath(file) : file;
    const relativePath = path.relative(findProjectDirectory(), filePath).replaceAll(path.sep, '/');
    const isOwn = path.isAbsolute(filePath) && !/^\.\.|node_modules/.test(relativePath);
    if (isOwn && path.relative(runtime, filePath).startsWith('..')) return `${relativePath}:${line}`;
  }
  return undefined;
}

/**
 * Finds the line that declares a member of an answer, in the file with the request.
 *
 * @param at the location of the request
 * @param member `answer.items[0].owner.login`
 * @returns `at` if the file does not declare the member
 */
export function findDeclaration(member: string, at: string | undefined): string | undefined {
  const file = at?.replace(/:\d+$/, '');
  const names = member.match(/(?<=\.)[^.[\]]+/g);
  if (file === undefined || names === null) return at;
  try {
    const lines = readFileSync(path.join(findProjectDirectory(), file), 'utf8').split('\n');
    let line = lines.findIndex((text) => text.includes('outputSchema'));
    for (const name of names) {
      line = lines.findIndex((text, number) => number >= line && declaresMember(text, name));
      if (line === -1) return at;
    }
    return `${file}:${line + 1}`;
  } catch {
    return at; // the source is not here
  }
}

/** The project around the working directory, which may be its `dist/test/`. */
function findProjectDirectory(): string {
  return directoryAbove(undefined, process.cwd()) ?? process.cwd();
}

function declaresMember(line: string, name: string): boolean {
  return [name, `'${name}'`, JSON.stringify(name)].some((key) => ` ${line}`.includes(` ${key}:`));
}
