import { objectOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { CallPlan } from '../model.ts';
import type { Target } from '../target.ts';
import { maxFurtherCalls, standardCalls } from './exploration.ts';
import { leastHarmfulFirst, permissionOf } from './safety.ts';
import { invalidVariants, maxInvalidVariants, toolCases } from './tool-cases.ts';

/**
 * The maximum number of calls of one case. Four purposes: its outcome, a repetition, the SDK's client, the submission test. Two
 * repetitions after missing answers, and ten if its outcome varies.
 */
const callsPerCase = 16;

/** The maximum number of calls of the first tool for rules about authentication, sessions and request limits. */
const callsOfFirstTool = 120;

/** The calls that a run of every rule will make, and their maximum number. */
export function planCalls(
  tools: readonly JsonObject[],
  namedTools: ReadonlySet<Json | undefined>,
  target: PlanTarget,
): CallPlan {
  const ordered = leastHarmfulFirst(tools);
  const first = ordered.findIndex((tool) => permissionOf(tool, namedTools).isCalled);
  // A withheld tool may become the first tool, if the user allows it and it is less harmful.
  const mayBeFirst = new Set(first < 0 ? ordered : ordered.slice(0, first + 1));
  const planned = tools.map((tool) => {
    const { isCalled, because } = permissionOf(tool, namedTools);
    const atMost = maxCallsOf(tool, target) + (mayBeFirst.has(tool) ? callsOfFirstTool : 0);
    return { isCalled, planned: { tool: String(tool.name), atMost, because } };
  });
  return {
    called: planned.filter((entry) => entry.isCalled).map((entry) => entry.planned),
    withheld: planned.filter((entry) => !entry.isCalled).map((entry) => entry.planned),
  };
}

type PlanTarget = Pick<Target, 'examples' | 'profile' | 'explore'>;

function maxCallsOf(
  tool: JsonObject,
  { examples, profile: { smoke }, explore = standardCalls }: PlanTarget,
): number {
  const cases = toolCases([tool], examples, smoke);
  const schema = objectOr(tool.inputSchema);
  const invalidCalls = invalidVariants(schema, cases[0]?.arguments ?? {}).length;
  const missingArgumentCalls = Array.isArray(schema.required)
    ? Math.min(schema.required.length, maxInvalidVariants)
    : 0;
  const improbableTextCalls = 1;
  const nonObjectCalls = 3;
  // Generated calls are repeated if an answer was missing.
  const generated = explore === 0 ? 0 : 2 * (explore + maxFurtherCalls.usual);
  const callsOnce = invalidCalls + missingArgumentCalls + improbableTextCalls + nonObjectCalls;
  return cases.length * callsPerCase + callsOnce + generated;
}
