import { now } from './clock.ts';
import type { JsonObject, Level, Problem, RuleResult, RuleText } from './model.ts';
import type { Probe } from './probe/probe.ts';
import type { PlatformProfile } from './profile.ts';

/** A rule that is read off the definitions. `inspect` is pure; it is given any JSON that `isReadable` accepts. */
export interface StaticRule extends RuleText {
  inspect(tool: JsonObject, siblings: readonly JsonObject[], profile: PlatformProfile): readonly Problem[];
}

/**
 * A rule that takes a running server. `check` throws `NotRun` where something it builds on is missing; any other
 * error means that the server did not answer, which is a failure of the rule.
 */
export interface LiveRule extends RuleText {
  /**
   * When it runs: beside the others (the default); `aside`, in a lane of its own, on instances of its own; `last`, after
   * those beside and one by one, since it would disturb them.
   */
  readonly turn?: 'aside' | 'last';
  check(probe: Probe): Promise<readonly Problem[]>;
}

export type Rule = StaticRule | LiveRule;

/** Thrown by a live rule that cannot be judged; the message is the reason. */
export class NotRun extends Error {}

/** The problem unless what should hold holds. */
export function unless(holds: boolean, problem: Problem): readonly Problem[] {
  return holds ? [] : [problem];
}

/** The weight a profile gives a rule: its own, a single override, or what the profile says of platform facts. */
export function weightOf(rule: RuleText, { rules }: PlatformProfile): Level | 'off' {
  const override = Object.hasOwn(rules.overrides, rule.id) ? rules.overrides[rule.id] : undefined;
  if (override) return override;
  if (!rule.fact || rules.facts === 'own') return rule.level;
  return rules.facts;
}

/** A rule that has run: it failed where it found problems. `started` is a reading of `now()`. */
export function verdict(
  { id, title, source, mend }: RuleText,
  level: Level,
  problems: readonly Problem[],
  started: number,
): RuleResult {
  const status = problems.length > 0 ? 'fail' : 'pass';
  return { id, level, title, source, mend, status, problems, ms: now() - started };
}
