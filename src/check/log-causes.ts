import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cause } from 'market-mcp-contract/definition';
import { attempt } from 'market-mcp-contract/json';

/** Frames of a stack that a report shows. */
const shownFrames = 8;
/** What is read of an error: to find its frames takes time that grows with the square of a line. */
const readCharacters = 16_000;
const shownCharacters = 1_000;

/**
 * The message and frames of an error, read from the text of its stack.
 *
 * @param text a message, then lines such as `    at run (file:///p/src/tools/x.ts:12:5)`.
 * @param directory the project: places in it are shown relative to it.
 */
export function causeOf(text: string, directory: string): Cause {
  const lines = text.slice(0, readCharacters).split('\n');
  const first = lines.findIndex((line) => frame.test(line));
  const message = (first === -1 ? lines : lines.slice(0, first)).join(' ').trim();
  const places = withoutRuntime(lines.flatMap((line) => frameLocation(line, directory) ?? []));
  // The place for the author to change: in a tool or its imports, rather than in the runtime.
  const at = places.find(({ isOwn }) => isOwn)?.at;
  // The causes of an error, and other text between the frames.
  const causeLines = first === -1 ? [] : lines.slice(first).filter((line) => /^\s*\[?cause\]?:/.test(line));
  return {
    message: [message, ...causeLines.map((line) => line.trim())].join(' ').slice(0, shownCharacters),
    ...(at !== undefined && { at }),
    stack: places.slice(0, shownFrames).map(({ text }) => text),
  };
}

/**
 * The error that ended a Node process, read from its standard error: an uncaught exception, an
 * explicit exit, or a lack of memory. Undefined if it names none.
 */
export function findCrash(errors: string, directory: string): Cause | undefined {
  const memory = /^FATAL ERROR: (.*)$/m.exec(errors)?.[1];
  if (memory !== undefined) return { message: memory, stack: [] };
  const uncaught = [...errors.matchAll(uncaughtException)].at(-1)?.groups;
  if (uncaught?.text !== undefined) {
    const cause = causeOf(uncaught.text.replace(/\n\(Use `node [^\n]*/, ''), directory);
    const place = projectLocation(uncaught.place ?? '', uncaught.line ?? '', directory);
    if (cause.at === undefined && place?.isOwn) return { ...cause, at: place.at };
    return cause;
  }
  const exit = [...errors.matchAll(explicitExit)].at(-1);
  if (!exit) return undefined;
  const { at, stack } = causeOf(exit[2] ?? '', directory);
  return { message: `process.exit(${exit[1]}) was called`, ...(at !== undefined && { at }), stack };
}

/** What Node prints for an uncaught exception: the place, the source line, a marker, the error, its version. */
const uncaughtException =
  /^(?<place>\S.*):(?<line>\d+)\n(?:.*\n)?[ \t~]*\^+\n+(?<text>[\s\S]*?)\n+(?=Node\.js v\d)/gm;
/** What `--trace-exit` prints. */
const explicitExit =
  /^\(node:\d+\) WARNING: Exited the environment with code (\d+)\n((?: {4}at [^\n]*\n?)+)/gm;
const frame = /^\s+at (?:.*\()?(.+?):(\d+):\d+\)?$/;

interface Place {
  /** The frame as a report shows it. */
  readonly text: string;
  readonly at: string;
  /** Whether it is a file of the project itself. */
  readonly isOwn: boolean;
}

function frameLocation(line: string, directory: string): Place | undefined {
  const [, file = '', number = ''] = frame.exec(line) ?? [];
  const place = projectLocation(file, number, directory);
  return (
    place && {
      ...place,
      text: line
        .trim()
        .replace(/\(?(?:file:\/\/|\/).*$/, '')
        .trim()
        .concat(` ${place.at}`),
    }
  );
}

function projectLocation(file: string, line: string, directory: string): Place | undefined {
  if (file === '' || file.startsWith('node:')) return undefined;
  // The URL in a frame of a log may name no path.
  const path = file.startsWith('file:') ? attempt(() => fileURLToPath(file), undefined) : file;
  if (path === undefined) return undefined;
  const source = mappedLocation(path, Number(line)) ?? { path, line: Number(line) };
  const sourcePath = relative(directory, source.path);
  const isOwn = !sourcePath.startsWith('..') && !sourcePath.split(/[\\/]/).includes('node_modules');
  const at = `${isOwn ? sourcePath : source.path}:${source.line}`;
  return { text: at, at, isOwn };
}

/** The frames without those of the runtime, unless there are no others. */
function withoutRuntime(places: readonly Place[]): readonly Place[] {
  const authored = places.filter(({ at }) => !runtime.test(at));
  if (authored.some(({ isOwn }) => isOwn)) return authored;
  return places;
}

/** Files of the runtime's package. */
const runtime = /[\\/]node_modules[\\/]market-mcp-runtime[\\/]/;

/** The source line of a compiled line; `--trace-exit` does not translate it. */
function mappedLocation(
  path: string,
  line: number,
): { readonly path: string; readonly line: number } | undefined {
  if (!path.endsWith('.js')) return undefined;
  return attempt(() => {
    const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
    const entry = map.findEntry(line - 1, Number.MAX_SAFE_INTEGER);
    if (!('originalSource' in entry)) return undefined;
    return { path: resolve(dirname(path), entry.originalSource), line: entry.originalLine + 1 };
  }, undefined);
}
