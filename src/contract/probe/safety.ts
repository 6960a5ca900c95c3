import { isObject } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';

/** What may be called on a server that belongs to somebody else. */
export interface CallPolicy {
  /** Tools that may be called whatever they do; `*` names every tool without a sign of harm. */
  readonly named: readonly string[];
  /** Told once, before the first call, what will be called; resolves to further tools that may be. */
  readonly decide?: (plan: CallPlan) => Promise<readonly string[]>;
}

/** Which tools a run calls, and which it does not. */
export interface CallPlan {
  readonly called: readonly PlannedTool[];
  /** With how often they would be called. */
  readonly withheld: readonly PlannedTool[];
}

export interface PlannedTool {
  readonly tool: string;
  /** How many calls at most, of every rule together. */
  readonly atMost: number;
  /** Why it is called, or why it is not. */
  readonly because: string;
}

/**
 * Words in the name of a tool that tell of an effect on the world. A closed list (docs/check.md): a tool with one of
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

/** The words of a name: `deleteDatabase`, `delete_database` and `delete-database` hold the same two. */
export function wordsOf(name: string): readonly string[] {
  return (name.match(/\p{Lu}?[\p{Ll}]+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu) ?? []).map((word) => word.toLowerCase());
}

/** What tells that a call of a tool may do harm; undefined where nothing does. */
export function signOfHarm({ name, annotations, _meta }: JsonObject): string | undefined {
  if (isObject(annotations) && annotations.destructiveHint === true) return 'it declares destructiveHint';
  if (isObject(_meta) && _meta.surface === 'execute') return 'its _meta.surface is "execute"';
  const word = wordsOf(typeof name === 'string' ? name : '').find((one) => harmfulWords.has(one));
  return word === undefined ? undefined : `its name holds "${word}"`;
}

/** Whether a tool may be called, and why or why not. */
export function verdictOn(
  tool: JsonObject,
  named: ReadonlySet<Json | undefined>,
): { readonly isCalled: boolean; readonly because: string } {
  if (named.has(tool.name)) return { isCalled: true, because: 'it was named' };
  const harm = signOfHarm(tool);
  if (harm !== undefined) return { isCalled: false, because: harm };
  if (named.has('*')) return { isCalled: true, because: 'all were named that show no sign of harm' };
  const { annotations } = tool;
  return isObject(annotations) && annotations.readOnlyHint === true
    ? { isCalled: true, because: 'it declares readOnlyHint' }
    : { isCalled: false, because: 'it does not declare readOnlyHint' };
}

/**
 * Tools with the least able to do harm first: those that declare to be read-only, then those without a sign of harm. The
 * first is the one that is called for the gate, sessions and bounds of a request.
 */
export function leastHarmfulFirst(tools: readonly JsonObject[]): readonly JsonObject[] {
  const risk = (tool: JsonObject) => {
    if (signOfHarm(tool) !== undefined) return 2;
    return isObject(tool.annotations) && tool.annotations.readOnlyHint === true ? 0 : 1;
  };
  return tools.toSorted((one, other) => risk(one) - risk(other));
}
