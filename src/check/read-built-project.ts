import { CommandError } from 'market-mcp-contract/command';
import { resultOutcome, type ToolExample } from 'market-mcp-contract/definition';
import { type Json, type JsonObject, objectOr } from 'market-mcp-contract/json';
import { runtimePackage } from '../plan/package-versions.ts';
import type { ServerPlatform } from '../plan/plan-project.ts';
import { packageManagerOf } from '../system/detect.ts';
import { runProgram } from '../system/processes.ts';
import { findCrash } from './log-causes.ts';

/** A tool as its compiled code declares it. */
export interface ProjectTool {
  readonly name: string;
  readonly annotations?: JsonObject;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly examples?: readonly ToolExample[];
}

/** What the compiled code of a project declares. */
export interface ProjectFacts {
  readonly platform: ServerPlatform;
  readonly tools: readonly ProjectTool[];
}

/**
 * What a built project declares. It is read in a separate process: the author's code is not loaded into this one.
 *
 * @throws CommandError `NOT_STARTED` with the last lines, if the tools cannot be loaded.
 */
export function projectFacts(directory: string): Promise<ProjectFacts> {
  return evaluated(
    directory,
    ['./dist/src/platform.js', toolsModule],
    '({ platform }, { tools }) => ({ platform, tools })',
  );
}

/** An example of a tool that was called for real. */
export interface CalledExample {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly expect: ToolExample['expect'];
  readonly outcome: ToolExample['expect'];
  /** The code of the failure. */
  readonly error?: string;
  /** The reason that the API gave. */
  readonly detail?: string;
  /** What failed, where, and what to do, in the lines that a unit test prints; absent if it ended as expected. */
  readonly cause?: readonly string[];
  /** The answers of sources that the outputSchema of the tool describes, as they arrived; absent if they are not recorded. */
  readonly answers?: readonly ArrivedAnswer[];
}

/** A call of an example, with the result as the project's process returns it. */
interface ExampleCall extends Omit<CalledExample, 'outcome' | 'error' | 'detail'> {
  readonly result: JsonObject;
}

/** An answer of a source in the form of the tool. */
export interface ArrivedAnswer {
  readonly value: Json;
  /** Those that name its place among pages. */
  readonly headers?: JsonObject;
}

/**
 * Calls each example of these tools of a built project once, for real.
 *
 * @param answersDirectory a directory that keeps the answers; by default they are recorded in `test/recordings/`.
 * @throws CommandError `NOT_STARTED` if the tools cannot be loaded, or if variables are missing.
 */
export async function callExamples(
  directory: string,
  tools: readonly string[],
  answersDirectory?: string,
): Promise<readonly CalledExample[]> {
  const calls: readonly ExampleCall[] = await evaluated(
    directory,
    [`${runtimePackage}/testing`, toolsModule, 'node:diagnostics_channel'],
    `async ({ callTool, requireVariables, assertOutcome }, { tools }, { subscribe }) => {
      requireVariables();
      let arrived = [];
      if (${answersDirectory === undefined}) subscribe('market-mcp-runtime:answer', (answer) => arrived.push(answer));
      const called = [];
      for (const tool of tools.filter(({ name }) => ${JSON.stringify(tools)}.includes(name))) {
        for (const { arguments: args, expect } of tool.examples) {
          arrived = [];
          const result = await callTool(tool, args);
          const own = JSON.stringify(tool.outputSchema);
          const answers = ${answersDirectory !== undefined} ? undefined : arrived.filter(({ schema }) => JSON.stringify(schema) === own)
            .map(({ value, headers }) => ({ value, headers }));
          let cause;
          try {
            assertOutcome(result, expect);
          } catch ({ message }) {
            cause = message.split('\\n').slice(1);
          }
          called.push({ tool: tool.name, arguments: args, expect, result, cause, answers });
        }
      }
      return called;
    }`,
    {
      SOURCES: answersDirectory === undefined ? 'record' : 'live',
      SOURCES_KEPT: answersDirectory,
      SOURCES_TOOLS: JSON.stringify(tools),
    },
  );
  return calls.map(({ result, ...call }) => {
    const { error, detail } = objectOr(result.structuredContent);
    const calledExample: CalledExample = { ...call, outcome: resultOutcome(result) };
    if (typeof error !== 'string') return calledExample;
    if (typeof detail === 'string') return { ...calledExample, error, detail };
    return { ...calledExample, error };
  });
}

/** An example that was called: a line that says how it ended and what was expected, then those of the cause. */
export function calledLines(example: CalledExample): readonly string[] {
  const { tool, arguments: args, expect, outcome, error, detail, cause = [] } = example;
  const failure = detail === undefined ? error : `${error}: ${detail}`;
  const ending =
    outcome === expect ? outcome : `expected ${expect}, got ${outcome} ${failure ?? ''}`.trimEnd();
  return [`${outcome === expect ? '✔' : '✘'} ${tool} ${JSON.stringify(args)}: ${ending}`, ...cause];
}

const toolsModule = './dist/src/tools/index.js';

/** Separates our output from the output of the tools while they are loaded. */
const mark = '\u0000facts\u0000';

/**
 * The value of a function of modules of a built project. It runs in a separate process: the author's code is not loaded into this one.
 *
 * @param modules specifiers as in a file of the project's directory
 * @param value source text of the function
 * @throws CommandError `NOT_STARTED` with the last lines, if the modules cannot be loaded.
 */
async function evaluated<T>(
  directory: string,
  modules: readonly string[],
  value: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<T> {
  const imports = modules.map((name) => `import(${JSON.stringify(name)})`);
  const script = `
const evaluated = await (${value})(...(await Promise.all([${imports}])));
process.stdout.write(${JSON.stringify(mark)} + JSON.stringify(evaluated), () => process.exit(0));`;
  const { exitCode, stdout, lastLines } = await runProgram(
    process.execPath,
    ['--enable-source-maps', '--input-type=module', '-e', script],
    { cwd: directory, env },
  );
  if (exitCode === 0 && stdout.includes(mark))
    return JSON.parse(stdout.slice(stdout.lastIndexOf(mark) + mark.length));
  throw notStarted(directory, lastLines);
}

/** The number of last lines that are printed if they name no error. */
export const shownLines = 15;

/** @param lines the last lines of the process; an uncaught error is named by its place in the source */
export function notStarted(directory: string, lines: readonly string[]): CommandError {
  const crash = findCrash(lines.join('\n'), directory);
  const hint = `In ${directory} run: ${packageManagerOf(directory).run} dev`;
  const message = 'the server does not start';
  if (!crash) return new CommandError('NOT_STARTED', message, hint, { details: lines.slice(-shownLines) });
  const fix = crash.at === undefined ? hint : `Correct ${crash.at}.`;
  const stack = crash.stack.filter((frame) => !frame.includes('[eval')); // the script of `evaluated`
  // Its first line: the others of a long message explain.
  const error = lines.find((line) => line.trim() !== '' && crash.message.startsWith(line.trim()));
  return new CommandError('NOT_STARTED', message, fix, { details: [error ?? crash.message, ...stack] });
}
