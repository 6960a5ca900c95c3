import { shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Level, Methods, Problem, RuleResult, RuleText } from '../model.ts';
import { levelOverride } from '../platforms/level-override.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import type { Target } from '../target.ts';
import { msSince } from '../wire/clock.ts';
import { callsAtOnce, mapConcurrently } from '../wire/concurrency.ts';
import type { Control } from '../wire/controls.ts';
import type { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { fixForUnfinishedAnswer, Hang, NoAnswer, NotSent, Unanswered } from '../wire/receive.ts';

/** Adds a detail to a verdict. */
export type Note = (text: string) => void;

/** A rule about the definitions. `inspect` is pure; it gets any JSON that `isReadable` accepts. */
export interface StaticRule extends RuleText {
  readonly cases?: readonly StaticRule[];
  /** Returns a merged rule with these cases only. */
  withCases?(rule: StaticRule, cases: readonly StaticRule[]): StaticRule;
  inspect(
    tool: JsonObject,
    siblings: readonly JsonObject[],
    profile: PlatformProfile,
    methods: Methods,
  ): readonly Problem[];
}

/** A rule that needs a running server. */
export interface LiveRule extends RuleText {
  readonly cases?: readonly LiveRule[];
  /** Returns a merged rule with these cases only. */
  withCases?(rule: LiveRule, cases: readonly LiveRule[]): LiveRule;
  /**
   * When it runs: in parallel with the others (the default); `separate`, in a separate queue with separate instances. After
   * the parallel ones: `isolated`, one by one, since it finds out whether sessions disturb each other; `opening`, because it
   * opens sessions, in parallel only if they do not disturb each other; `last`, one by one, because it would disturb the others;
   * `waiting`, after all others, because time must pass for it.
   */
  readonly turn?: 'separate' | 'isolated' | 'opening' | 'last' | 'waiting';
  /** What must work before the rule is checked; by default, initialize. */
  readonly controls?: readonly Control[];
  /**
   * Set if the rule requires an answer: no answer violates it while the server answers otherwise. `in-time`: only a request
   * that hangs violates it, if it hangs again when it is sent alone between two pings that are answered. Any other rule
   * without an answer is not run.
   */
  readonly mustAnswer?: true | 'in-time' | undefined;
  /** Set if the rule measures: it is not run once the server has limited the rate of requests. */
  readonly measures?: true;
  /** Starts the part of `check` that takes long, in parallel with the other rules. `check` waits for it and throws its errors. */
  begin?(probe: Probe): Promise<unknown>;
  /** Its level for this target, where that is not always the same. */
  levelOf?(target: Target): Level;
  /** Whether these problems are only advice for this target, even if the rule is a MUST of the profile. */
  isAdvice?(target: Target, problems: readonly Problem[]): boolean;
  /**
   * The violations in the answers. Throws `NotRun` if something it needs is missing or if
   * no answer is of the kind that it checks, `NoAnswer` if an answer is missing. Details that the verdict leaves out are passed to `note`.
   *
   * @param onUnrunCase called by a merged rule with the id of each case that was not run
   */
  check(probe: Probe, note?: Note, onUnrunCase?: (id: string) => void): Promise<readonly Problem[]>;
}

export type Rule = StaticRule | LiveRule;

/** A rule without which the listing is rejected or the tool breaks: its id, level and source. */
export function must(id: string, source: string) {
  return { id, level: 'must', source } as const;
}

/** A rule without which the tool works worse: its id, level and source. */
export function should(id: string, source: string) {
  return { id, level: 'should', source } as const;
}

/** A rule that comes from platform facts: its id, level and source. */
export function fact(id: string, level: Level, source: string) {
  return { id, level, source, fact: true } as const;
}

/** Adds shared members to rules that do not have them. */
export function withSharedMembers(
  sharedMembers: Partial<LiveRule>,
  rules: readonly LiveRule[],
): readonly LiveRule[] {
  return rules.map((rule) => ({ ...sharedMembers, ...rule }));
}

/** The problems of all items. @throws NotRun `reasonIfEmpty` if there are no items to check */
export function problemsOfEach<T>(
  items: readonly T[],
  reasonIfEmpty: NotRun,
  findProblems: (item: T) => readonly Problem[],
): readonly Problem[] {
  if (items.length === 0) throw reasonIfEmpty;
  return items.flatMap(findProblems);
}

/** The problems of all items, which are checked at the same time. */
export async function problemsInParallel<T>(
  items: readonly T[],
  problemsOf: (item: T) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  return (await Promise.all(items.map(problemsOf))).flat();
}

/** The problems of all calls, with few calls at the same time. */
export async function problemsOfCalls<T>(
  calls: readonly T[],
  problemsOf: (call: T) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  return (await mapConcurrently(calls, callsAtOnce, problemsOf)).flat();
}

/** The problem, unless the condition is true. */
export function problemUnless(holds: boolean, problem: Problem): readonly Problem[] {
  if (holds) return [];
  return [problem];
}

/** The problem at a path, unless the condition is true. */
export function problemsAt(
  holds: boolean,
  path: string,
  expected: string,
  actual: string,
): readonly Problem[] {
  return problemUnless(holds, { path, expected, actual });
}

/** The problem of a JSON value at a path, unless the condition is true. */
export function valueProblems(
  holds: boolean,
  path: string,
  expected: string,
  value: unknown,
): readonly Problem[] {
  return problemsAt(holds, path, expected, shorten(value));
}

/** Whether a rule fails because its request got no answer, if the server answers other requests. */
export function isViolatedBySilence({ mustAnswer }: LiveRule, error: unknown): error is NoAnswer {
  if (mustAnswer === 'in-time') return error instanceof Hang;
  return mustAnswer === true && error instanceof NoAnswer && !(error instanceof NotSent);
}

/** The problems of a rule that requires an answer and got none. */
export function silenceProblems(error: NoAnswer): readonly Problem[] {
  if (error instanceof Unanswered) return error.problems;
  return [{ expected: 'an answer', actual: error.message }];
}

/** Whether a rule runs where no rule is asked for by its name. */
export function runsByDefault({ onlyNamed }: RuleText): boolean {
  return onlyNamed !== true;
}

/** A rule about definitions that merges rules which fail together. Each problem names its case. */
export function mergeStatic(
  text: Pick<StaticRule, 'title'> & Partial<StaticRule>,
  cases: readonly [StaticRule, ...StaticRule[]],
): StaticRule {
  return withStaticCases({ ...cases[0], ...text, withCases: withStaticCases }, cases);
}

function withStaticCases(rule: StaticRule, cases: readonly StaticRule[]): StaticRule {
  return {
    ...rule,
    cases: cases.map((part) => ({ ...part, within: rule.id })),
    inspect: (...definitions) =>
      cases.flatMap((part) => part.inspect(...definitions).map((problem) => ({ ...problem, case: part.id }))),
  };
}

/** A rule with its cases, or only the rule if it has none. */
export function ruleCases(rule: RuleText): readonly RuleText[] {
  return rule.cases ?? [rule];
}

/** Whether a name is the id of a rule, of the merged rule of which it is a case, or the group of either. */
export function isNamedBy({ id, within = id }: RuleText, name: string): boolean {
  return [id, within].some((idOrGroup) => idOrGroup === name || idOrGroup.startsWith(`${name}.`));
}

/**
 * The rule that a run checks: it has its level in the profile, and only the cases that are selected and not off.
 * Undefined if none is left.
 */
export function effectiveRule<R extends StaticRule | LiveRule>(
  rule: R,
  profile: PlatformProfile,
  selects: (rule: RuleText) => boolean = () => true,
  ownLevel = rule.level,
): { readonly rule: R; readonly level: Level } | undefined {
  if (!rule.cases) {
    const level = effectiveLevel({ ...rule, level: ownLevel }, profile);
    if (level === 'off' || !selects(rule)) return undefined;
    return { rule, level };
  }
  const cases = rule.cases.flatMap((part) => {
    const level = effectiveLevel(part, profile);
    if (level === 'off' || !selects(part)) return [];
    return [{ ...part, level }];
  });
  if (cases.length === 0) return undefined;
  // The cases of a rule about definitions are also such rules.
  const withCases = rule.withCases as (rule: R, cases: readonly RuleText[]) => R;
  return { rule: withCases(rule, cases), level: highestLevel(cases) };
}

function highestLevel(rules: readonly RuleText[]): Level {
  if (rules.some(({ level }) => level === 'must')) return 'must';
  return 'should';
}

/** The level of a rule in a profile: its own, an override, or the profile's setting for platform facts. */
export function effectiveLevel(rule: RuleText, profile: PlatformProfile): Level | 'off' {
  const ids = rule.within === undefined ? [rule.id] : [rule.id, rule.within];
  const override = levelOverride(ids, profile);
  if (override) return override;
  const { facts } = profile.rules;
  if (!rule.fact || facts === 'own') return rule.level;
  return facts;
}

/** A rule that has run: it failed if it found problems. `startedAt` is a time by `nowMs()`. */
export function verdict(
  { id, title, source, fix, cases }: RuleText,
  level: Level,
  found: readonly Problem[],
  startedAt: number,
  notes: readonly string[] = [],
  unrunCases: ReadonlySet<string> = new Set(),
): RuleResult {
  const problems = found.map(withFixOfEnd);
  const status = problems.length > 0 ? 'fail' : 'pass';
  const note = notes.length > 0 && { note: notes.join('; ') };
  const [worst] = problems
    .flatMap(({ times }) => times ?? [])
    .toSorted((left, right) => right.failed - left.failed);
  const failedCases = cases?.filter((part) => problems.some((problem) => problem.case === part.id)) ?? [];
  const weight = failedCases.length > 0 ? highestLevel(failedCases) : level;
  const runCases = cases?.map((part) => part.id).filter((part) => !unrunCases.has(part));
  const extras = { ...note, ...(worst && { times: worst }), ...(runCases && { cases: runCases }) };
  return { id, level: weight, title, source, fix, status, ...extras, problems, ms: msSince(startedAt) };
}

function withFixOfEnd(problem: Problem): Problem {
  const fix = problem.fix ?? fixForUnfinishedAnswer(problem.actual);
  return fix === undefined ? problem : { ...problem, fix };
}
