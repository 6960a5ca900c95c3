import { now } from './clock.ts';
import type { JsonObject, Level, Problem, RuleResult, RuleText } from './model.ts';
import { NotRun } from './not-run.ts';
import type { Probe } from './probe/probe.ts';
import type { PlatformProfile } from './profile.ts';
import type { Target } from './target.ts';

/** A rule that is read off the definitions. `inspect` is pure; it is given any JSON that `isReadable` accepts. */
export interface StaticRule extends RuleText {
  inspect(tool: JsonObject, siblings: readonly JsonObject[], profile: PlatformProfile): readonly Problem[];
}

/**
 * A request that a rule builds on, without the thing that the rule tests. Resolves to the reason why the rule cannot be
 * judged, or to nothing where the request works. Each is made once in a run (`Probe.once`).
 */
export type Control = (probe: Probe) => Promise<string | undefined>;

/** A rule that takes a running server. */
export interface LiveRule extends RuleText {
  /**
   * When it runs: beside the others (the default); `aside`, in a lane of its own, on instances of its own; `last`, after
   * those beside and one by one, since it would disturb them.
   */
  readonly turn?: 'aside' | 'last';
  /** What must work before the rule is judged; that the server initializes where absent. */
  readonly controls?: readonly Control[];
  /**
   * Set where the rule is about being answered: no answer breaks it while the server answers otherwise. Any other rule
   * without an answer is not run.
   */
  readonly silence?: 'breaks';
  /** Its level for this target, where that is not always the same. */
  levelOf?(target: Target): Level;
  /**
   * The ways in which the answers differ from the rule. Throws `NotRun` where something it builds on is missing or where
   * none of the answers is of the kind it judges, `NoAnswer` where an answer did not come.
   */
  check(probe: Probe): Promise<readonly Problem[]>;
}

export type Rule = StaticRule | LiveRule;

/** The problems of all items. @throws NotRun with this reason where there are no items: nothing was judged then. */
export function judgeEach<T>(
  items: readonly T[],
  otherwise: string,
  judge: (item: T) => readonly Problem[],
): readonly Problem[] {
  if (items.length === 0) throw new NotRun(otherwise);
  return items.flatMap(judge);
}

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
  { id, title, source, fix }: RuleText,
  level: Level,
  problems: readonly Problem[],
  started: number,
): RuleResult {
  const status = problems.length > 0 ? 'fail' : 'pass';
  return { id, level, title, source, fix, status, problems, ms: now() - started };
}
