import { createHash } from 'node:crypto';
import { type ExitCode, exitCodes } from '../command/command-error.ts';
import { messageOf } from '../json/json.ts';
import type { Report, RuleResult } from '../model.ts';
import { version } from '../version.ts';
import { NotRun } from '../wire/not-run.ts';
import { NoAnswer } from '../wire/receive.ts';

/**
 * The count of each verdict.
 *
 * @param ms the duration of the whole run.
 * @param knownFailures further rules that failed and are not counted.
 */
export function summarizeRules(
  rules: readonly RuleResult[],
  ms: number,
  knownFailures: readonly RuleResult[] = [],
): Report['summary'] {
  const statuses = new Map([...rules, ...knownFailures].map(({ id, status }) => [id, status]));
  const count = (holds: (rule: RuleResult) => boolean): number => rules.filter(holds).length;
  return {
    passed: count(({ status }) => status === 'pass'),
    failed: count(({ status, level }) => status === 'fail' && level === 'must'),
    advice: count(({ status, level }) => status === 'fail' && level === 'should'),
    notRun: count(({ status }) => status === 'not-run'),
    unanswered: count(
      ({ cause, level, see = [] }) =>
        level === 'must' &&
        (cause === 'unanswered' ||
          cause === 'deadline' ||
          isUnexplained(see.flatMap((id) => statuses.get(id) ?? []))),
    ),
    withheld: count(({ cause }) => cause === 'withheld'),
    errors: count(({ cause }) => cause === 'error'),
    ms,
  };
}

/** Whether all rules passed that could explain a skipped rule. */
function isUnexplained(see: readonly RuleResult['status'][]): boolean {
  return see.length > 0 && see.every((status) => status === 'pass');
}

/** The members that tell two reports apart: version, time and hash of the verdicts. */
export function reportIdentity(rules: readonly RuleResult[]) {
  const verdicts = rules.map(({ id, status }) => `${id} ${status}\n`).toSorted();
  const hash = createHash('sha256').update(verdicts.join('')).digest('hex');
  return { version, time: new Date().toISOString(), hash };
}

/** Whether every rule was run, except those that are about something that the server or its examples do not have. */
export function isComplete(rules: readonly RuleResult[]): boolean {
  return rules.every(({ cause }) => cause === undefined || cause === 'inapplicable' || cause === 'example');
}

/**
 * The outcome of a run. `error`: the check itself failed. `unanswered`: a MUST could not be checked because the server did
 * not answer. `failed`: a rule that counts failed.
 */
export type Conclusion = 'ok' | 'failed' | 'unanswered' | 'error';

/** The outcome of a report. Rules that could not be checked take precedence over failed ones. */
export function conclusionOf({ ok, summary }: Pick<Report, 'ok' | 'summary'>): Conclusion {
  if (summary.errors > 0) return 'error';
  if (summary.unanswered > 0) return 'unanswered';
  return ok ? 'ok' : 'failed';
}

const exitCodesByConclusion: { readonly [conclusion in Conclusion]: ExitCode } = {
  ok: exitCodes.ok,
  failed: exitCodes.checkFailed,
  unanswered: exitCodes.notStarted,
  error: exitCodes.internal,
};

/** The exit code with which the check of a report ends. */
export function exitCodeOf(report: Pick<Report, 'ok' | 'summary'>): ExitCode {
  return exitCodesByConclusion[conclusionOf(report)];
}

/** The verdict of a rule that could not be checked. */
export function skippedRule(
  result: RuleResult,
  { message: reason, skipKind: cause, see }: NotRun,
): RuleResult {
  return { ...result, status: 'not-run', reason, cause, ...(see.length > 0 && { see }), problems: [] };
}

/** Returns why a rule could not be checked, read from an error. */
export function skipOf(error: unknown): NotRun {
  if (error instanceof NotRun) return error;
  if (error instanceof NoAnswer) return NotRun.because('unanswered', `no answer: ${error.message}`);
  return NotRun.because('error', `an error of the check itself: ${messageOf(error)}`);
}
