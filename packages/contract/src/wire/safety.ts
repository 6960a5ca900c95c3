import { onlyReads, verbIn } from '../definition/effect.ts';
import { isObject, objectOr, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { CallPlan } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { sampleArguments } from '../platforms/sample-arguments.ts';

/** Which tools may be called on a server that belongs to someone else. */
export interface CallPolicy {
  /** Tools that may be called whatever they do; `*` stands for every tool without a sign of harm. */
  readonly named: readonly string[];
  /** Called once, before the first call, with the plan; resolves to further tools that may be called. */
  readonly decide?: (plan: CallPlan) => Promise<readonly string[]>;
}

/** The sign that a call of a tool may do harm; undefined if there is none. */
export function signOfHarm({ name, annotations, _meta }: JsonObject): string | undefined {
  if (isObject(annotations) && annotations.destructiveHint === true) return 'it declares destructiveHint';
  if (isObject(_meta) && _meta.surface === 'execute') return 'its _meta.surface is "execute"';
  const verb = verbIn(String(name));
  if (verb === undefined || verb.effect === 'reads') return undefined;
  return `its name contains "${verb.word}"`;
}

/** Whether a tool may be called, and why or why not. */
export function permissionOf(
  tool: JsonObject,
  namedTools: ReadonlySet<Json | undefined>,
): { readonly isCalled: boolean; readonly because: string } {
  if (objectOr(tool.execution).taskSupport === 'required')
    return { isCalled: false, because: 'it runs as a task only, which needs another kind of call' };
  if (namedTools.has(tool.name)) return { isCalled: true, because: 'you allowed it by name' };
  const harm = signOfHarm(tool);
  if (harm !== undefined) return { isCalled: false, because: harm };
  if (isObject(tool.annotations) && tool.annotations.readOnlyHint === true)
    return { isCalled: true, because: 'it declares readOnlyHint' };
  if (!namedTools.has('*')) return { isCalled: false, because: 'it does not declare readOnlyHint' };
  if (onlyReads(tool)) return { isCalled: true, because: 'you allowed all tools that read by their names' };
  return { isCalled: false, because: 'neither its hints nor its name say that it only reads' };
}

/** A call of the marketplace's submission test, which calls every tool for real. */
export interface SubmissionCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Whether it may change something. */
  readonly writes: boolean;
}

/** The calls that the submission test will make. */
export function submissionCalls(
  tools: readonly Json[],
  smoke: PlatformProfile['smoke'],
): readonly SubmissionCall[] {
  return tools.filter(isObject).map((tool) => {
    const args = sampleArguments(objectOr(tool.inputSchema), smoke);
    return { tool: String(tool.name), arguments: args, writes: !onlyReads(tool) };
  });
}

/** A call of the submission test that may change something, in words, and what its author can do. */
export function submissionHarm({ arguments: args }: SubmissionCall): {
  readonly says: string;
  readonly fix: string;
} {
  return {
    says: `the submission test of the marketplace will really call it with ${shorten(args)}`,
    fix: 'Give its parameters defaults that do no harm.',
  };
}

/**
 * Tools in order of increasing risk: first those that declare readOnlyHint, then those without a sign of harm. The
 * first one is called for the rules about authentication, sessions and request limits.
 */
export function leastHarmfulFirst(tools: readonly JsonObject[]): readonly JsonObject[] {
  const risk = (tool: JsonObject) => {
    if (signOfHarm(tool) !== undefined) return 2;
    if (isObject(tool.annotations) && tool.annotations.readOnlyHint === true) return 0;
    return 1;
  };
  return tools.toSorted((left, right) => risk(left) - risk(right));
}
