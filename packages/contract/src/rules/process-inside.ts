import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isObject, parseJsonText } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { callsAtOnce, mapConcurrently } from '../wire/concurrency.ts';
import { NotRun } from '../wire/not-run.ts';
import { noSuchTool, type Probe } from '../wire/probe.ts';
import { callerOf, startsInstances } from './instance.ts';
import { should, withSharedMembers } from './rule.ts';

/** What only the process of a server shows: an instance that this rule starts tells it, if it is one of Node. */
export const insideRules = withSharedMembers(
  { turn: 'separate', controls: [startsInstances], onlyNamed: true },
  [
    {
      ...should('process.refused-runs-nothing', 'C§5.1, C§5.4'),
      title: 'a call without a valid token runs none of the code that depends on which tool it names',
      fix: 'Verify the token before anything else: before the tool is looked up, its arguments are validated, or its handler runs.',
      check: refusedProblems,
    },
    {
      ...should('process.memory', 'common to all container platforms'),
      title: 'memory does not grow with the number of calls',
      fix: 'Look for a list, map or listener that each call adds to and nothing removes from: bound it, or remove it when the call ends.',
      check: memoryProblems,
    },
  ],
);

/** The calls of each kind whose functions are compared. */
const refusedCalls = 10;

/** Functions that run for each refused call of a tool of the server, and for none of a tool that does not exist. */
async function refusedProblems(probe: Probe): Promise<readonly Problem[]> {
  return withInside(probe, async (caller, tell) => {
    const { name, arguments: args } = (await probe.cases())[0];
    const forged = await probe.token({ by: 'untrusted' });
    const callRefused = async (tool: Json) => {
      for (let call = 0; call < refusedCalls; call++) {
        const status = await caller(tool, args, call % 2 === 0 ? undefined : forged);
        if (status < 400) throw NotRun.preventedBy('ungated');
      }
      return (await tell('functions')).filter(isObject);
    };
    await callRefused(name); // what runs the first time only
    await tell('functions');
    const ofNone = new Set((await callRefused(noSuchTool)).map(sourceMapLocation));
    const found = (await callRefused(name)).filter(
      (growthEntry) =>
        Number(growthEntry.count) >= refusedCalls && !ofNone.has(sourceMapLocation(growthEntry)),
    );
    return found.slice(0, 3).map((growthEntry) => ({
      ...(typeof name === 'string' && { tool: name }),
      path: 'tools/call without a valid token',
      expected: `the functions that run for ${noSuchTool}, too`,
      actual: `${String(growthEntry.name) || 'a function without a name'} of ${sourceMapLocation(growthEntry)} ran ${growthEntry.count} times for ${refusedCalls} calls (${found.length} such functions)`,
    }));
  });
}

function sourceMapLocation({ url, line }: { readonly [name: string]: Json }): string {
  return `${url}:${line}`;
}

/** The calls before the first reading, and between two; half of them are refused. */
const calls = { first: 600, each: 1_000 } as const;
/** Less growth in 1,000 calls is no leak that anybody notices. */
const leastGrowth = 500_000;

/** The growth of the heap in two rounds of calls, each after garbage collection: a cache that fills does not grow twice. */
async function memoryProblems(probe: Probe): Promise<readonly Problem[]> {
  return withInside(probe, async (caller, tell) => {
    const { name, arguments: args } = await probe.authenticationCall();
    const token = await probe.token();
    const round = async (count: number): Promise<number> => {
      await mapConcurrently(Array.from({ length: count }), callsAtOnce, async (_, at) => {
        const status = await caller(name, args, at % 2 === 0 ? token : undefined);
        if (at % 2 === 0 && status !== 200) throw NotRun.preventedBy('refused');
      });
      const [bytes] = await tell('memory');
      return Number(bytes);
    };
    const before = await round(calls.first);
    const [between, after] = [await round(calls.each), await round(calls.each)];
    const growth = [between - before, after - between];
    if (growth.some((bytes) => bytes < leastGrowth)) return [];
    const growthText = growth.map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`).join(' and ');
    return [
      {
        path: `${calls.each} calls, half of them without a token`,
        expected: 'a heap that does not grow, after garbage collection',
        actual: `it grows by ${growthText} in two rounds of ${calls.each} calls`,
      },
    ];
  });
}

/** The status of a call of a tool. */
type Caller = (tool: Json, args: Json, token: string | undefined) => Promise<number>;
type Tell = (subject: 'functions' | 'memory') => Promise<readonly Json[]>;

const tellMs = { poll: 20, most: 10_000 } as const;

/** Starts an instance that tells what happens in it. @throws NotRun where it does not: it is no process of Node on this machine. */
async function withInside(
  probe: Probe,
  findProblems: (caller: Caller, tell: Tell) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  const directory = await mkdtemp(join(tmpdir(), 'market-mcp-inside-'));
  try {
    const script = join(directory, 'inside.cjs');
    await writeFile(script, insideScript);
    const required = `--require "${script.replaceAll('\\', '\\\\')}"`;
    const instance = await probe.launch({
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${required}`.trim(),
    });
    if (!instance.healthy) throw NotRun.preventedBy('instance');
    const call = await callerOf(probe, instance);
    const caller: Caller = async (name, args, token) =>
      (await call({ name, arguments: args }, { token })).status;
    return await findProblems(caller, (subject) => toldLines(directory, subject));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Asks the script by a file, and reads its answer from another. */
async function toldLines(directory: string, subject: string): Promise<readonly Json[]> {
  const [askFile, answer] = ['ask', 'answer'].map((name) => join(directory, name));
  if (askFile === undefined || answer === undefined) return [];
  await writeFile(`${askFile}.new`, subject);
  await rename(`${askFile}.new`, askFile);
  for (let waited = 0; waited < tellMs.most; waited += tellMs.poll) {
    await setTimeout(tellMs.poll);
    const [lines] = parseJsonText(await readFile(answer, 'utf8').catch(() => ''));
    if (!Array.isArray(lines)) continue;
    await rm(answer);
    return lines;
  }
  throw NotRun.because('inapplicable', 'the server is no process of Node on this machine');
}

/**
 * Loaded by Node before the server. Answers what is asked by a file: the functions of the server's own files that ran since the last
 * time, with their count, or the bytes in use after garbage collection.
 */
const insideScript = `
const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { fileURLToPath } = require('node:url');
const { Session } = require('node:inspector');
const { setFlagsFromString } = require('node:v8');
const session = new Session();
session.connect();
const post = (method, params) => {
  let result;
  session.post(method, params, (error, value) => { result = value; });
  return result;
};
post('Profiler.enable');
post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const lineOf = (url, offset) => readFileSync(fileURLToPath(url), 'utf8').slice(0, offset).split('\\n').length;
const answers = {
  functions: () => post('Profiler.takePreciseCoverage').result
    .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/') && fileURLToPath(url) !== __filename)
    .flatMap(({ url, functions }) => functions.map(({ functionName, ranges: [range] }) => ({ url, name: functionName, at: range.startOffset, count: range.count })))
    .filter(({ count, name, at }) => count > 0 && (name !== '' || at > 0))
    .map(({ url, name, at, count }) => ({ url, name, count, line: lineOf(url, at) })),
  memory: () => {
    setFlagsFromString('--expose-gc');
    const gc = require('node:vm').runInNewContext('gc');
    gc();
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return [heapUsed + external];
  },
};
setInterval(() => {
  const requestFile = join(__dirname, 'ask');
  if (!existsSync(requestFile)) return;
  const subject = readFileSync(requestFile, 'utf8');
  rmSync(requestFile);
  const answerFile = join(__dirname, 'answer');
  writeFileSync(answerFile + '.new', JSON.stringify(answers[subject]()));
  renameSync(answerFile + '.new', answerFile);
}, 20).unref();
`;
