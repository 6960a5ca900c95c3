import { objectOr, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { answeredCalls } from '../wire/controls.ts';
import { exploreTools, type FoundCall, foundData } from '../wire/explored-calls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { type RpcAnswer, resultText } from '../wire/rpc.ts';
import { longIntegers, problemOfCall } from './result.ts';
import type { LiveRule } from './rule.ts';
import { isText } from './schema-problems.ts';

/** The data of a successful call, whoever chose its arguments. */
export interface Returned extends FoundCall {
  readonly rpc: RpcAnswer;
}

/** A value inside of returned data. */
export interface ReturnedValue {
  readonly value: Json;
  /** The words by which the definition describes the tool, in lower case. */
  readonly toolWords: string;
  /** The names and descriptions of the fields that hold the value, in lower case. */
  readonly fieldWords: string;
  readonly call: Returned;
}

interface ValueSearch extends Omit<LiveRule, 'check'> {
  readonly expected: string;
  /** The part of a value that should not be there. */
  find(value: ReturnedValue, probe: Probe): string | undefined;
}

/** A rule about each value of successful calls. What an argument says may come back. */
export function searchingValues({ expected, find, ...text }: ValueSearch): LiveRule {
  return {
    ...text,
    turn: 'last',
    check: async (probe) =>
      firstOfEachTool(await returnedCalls(probe), (call) => {
        for (const { path, ...value } of valuesOf(call)) {
          const found = find(value, probe);
          if (found === undefined || JSON.stringify(call.arguments).includes(found)) continue;
          return { path: `result${path}`, expected, actual: shorten(found) };
        }
        return undefined;
      }),
  };
}

/** The first problem of each tool: one cause is in most of its results. */
export function firstOfEachTool(
  calls: readonly Returned[],
  problemOf: (call: Returned) => Problem | undefined,
): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const call of calls) {
    if (problems.has(call.name)) continue;
    const problem = problemOf(call);
    if (problem)
      problems.set(call.name, problemOfCall({ name: call.name, arguments: call.arguments }, problem));
  }
  return [...problems.values()];
}

/** The successful calls, generated ones included. @throws NotRun if there is none */
export async function returnedCalls(probe: Probe): Promise<readonly Returned[]> {
  const answered = await answeredCalls(probe);
  const generated = await exploreTools(probe).then(
    ({ calls }) => calls,
    (error: unknown) => {
      if (error instanceof NotRun) return [];
      throw error;
    },
  );
  const returned = [...answered, ...generated].flatMap(({ tool, name, arguments: args = {}, rpc }) => {
    const data = foundData(rpc.result);
    if (data) return [{ tool, name, arguments: args, data, rpc }];
    return [];
  });
  if (returned.length === 0) throw NotRun.preventedBy('noSuccess');
  return returned;
}

function* valuesOf(call: Returned): Generator<ReturnedValue & { readonly path: string }> {
  const toolWords = toolWordsOf(call.tool);
  for (const [path, value] of leavesIn(call.data))
    yield { path, value, toolWords, fieldWords: fieldWordsOf(call.tool, path), call };
}

export function toolWordsOf({ name, title, description }: JsonObject): string {
  return joinWords([name, title, description]);
}

function fieldWordsOf({ outputSchema }: JsonObject, path: string): string {
  const texts: (Json | undefined)[] = [];
  let schema = objectOr(outputSchema);
  for (const name of path.split('.').slice(1)) {
    const properties = objectOr(schema.properties);
    schema = objectOr(Object.hasOwn(properties, name) ? properties[name] : schema.items);
    texts.push(name, schema.title, schema.description);
  }
  return joinWords(texts);
}

/** The words of names and texts, in lower case. */
export function joinWords(texts: readonly (Json | undefined)[]): string {
  const words = texts.filter(isText).join(' ');
  return words.replaceAll(/[_.-]|(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase();
}

/** The digits of an integer that most readers change: a double keeps fifteen. */
export function longDigitsOf({ value, call: { rpc } }: ReturnedValue): string | undefined {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return undefined;
  const text = resultText(rpc.result?.content) ?? '';
  const sentIntegers = [rpc.http.body, text].flatMap(longIntegers);
  return sentIntegers.find((digits) => Number(digits) === value && digits.replace(/^-|0+$/g, '').length > 15);
}
