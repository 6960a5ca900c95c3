import { wordsOf } from '../effect.ts';
import { isObject } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';

/** Which tools may be called on a server that belongs to someone else. */
export interface CallPolicy {
  /** Tools that may be called whatever they do; `*` stands for every tool without a sign of harm. */
  readonly named: readonly string[];
  /** Called once, before the first call, with the plan; resolves to further tools that may be called. */
  readonly decide?: (plan: CallPlan) => Promise<readonly string[]>;
}

/** Which tools a run calls, and which it does not call. */
export interface CallPlan {
  readonly called: readonly PlannedTool[];
  /** With the number of calls that each would get. */
  readonly withheld: readonly PlannedTool[];
}

export interface PlannedTool {
  readonly tool: string;
  /** The maximum number of calls by all rules together. */
  readonly atMost: number;
  /** The reason why it is called or not. */
  readonly because: string;
}

/**
 * Words in the name of a tool that indicate a side effect. A closed list (docs/check.md): a tool with one of
 * them is called only if it is named.
 */
export const harmfulWords: ReadonlySet<string> = new Set(
  `
add approve archive assign ban block book borrow bridge burn buy cancel charge claim clear close
commit create delete deploy deposit destroy disable drop edit email enable erase exec execute grant
import insert install invite kill lend liquidate lock merge mint modify move notify overwrite patch
pay place post publish purchase purge push put redeem refund register remove rename repay replace
reply reserve reset restart restore revoke rollback run save sell send set shutdown sign spend stake
start stop submit subscribe swap terminate trade transfer truncate unstake unsubscribe update upload
upsert vote wipe withdraw write
`
    .trim()
    .split(/\s/),
);

/** The sign that a call of a tool may do harm; undefined if there is none. */
export function signOfHarm({ name, annotations, _meta }: JsonObject): string | undefined {
  if (isObject(annotations) && annotations.destructiveHint === true) return 'it declares destructiveHint';
  if (isObject(_meta) && _meta.surface === 'execute') return 'its _meta.surface is "execute"';
  const word = wordsOf(typeof name === 'string' ? name : '').find((one) => harmfulWords.has(one));
  return word === undefined ? undefined : `its name contains "${word}"`;
}

/** Whether a tool may be called, and why or why not. */
export function verdictOn(
  tool: JsonObject,
  named: ReadonlySet<Json | undefined>,
): { readonly isCalled: boolean; readonly because: string } {
  if (named.has(tool.name)) return { isCalled: true, because: 'you allowed it by name' };
  const harm = signOfHarm(tool);
  if (harm !== undefined) return { isCalled: false, because: harm };
  if (named.has('*')) return { isCalled: true, because: 'you allowed all tools without a sign of harm' };
  const { annotations } = tool;
  return isObject(annotations) && annotations.readOnlyHint === true
    ? { isCalled: true, because: 'it declares readOnlyHint' }
    : { isCalled: false, because: 'it does not declare readOnlyHint' };
}

/**
 * Tools in order of increasing risk: first those that declare readOnlyHint, then those without a sign of harm. The
 * first one is called for the rules about authentication, sessions and request limits.
 */
export function leastHarmfulFirst(tools: readonly JsonObject[]): readonly JsonObject[] {
  const risk = (tool: JsonObject) => {
    if (signOfHarm(tool) !== undefined) return 2;
    return isObject(tool.annotations) && tool.annotations.readOnlyHint === true ? 0 : 1;
  };
  return tools.toSorted((one, other) => risk(one) - risk(other));
}
