import { messageOf } from '../json/json.ts';
import type { RuleResult } from '../model.ts';
import { NotRun } from '../wire/not-run.ts';
import { NoAnswer } from '../wire/receive.ts';

/** The verdict of a rule that could not be checked. */
export function skippedRule(
  result: RuleResult,
  { message: reason, notRunCause: cause, see }: NotRun,
): RuleResult {
  const skipped: RuleResult = { ...result, status: 'not-run', reason, cause, problems: [] };
  return see.length > 0 ? { ...skipped, see } : skipped;
}

/** Returns why a rule could not be checked, read from an error. */
export function skipOf(error: unknown): NotRun {
  if (error instanceof NotRun) return error;
  if (error instanceof NoAnswer) return NotRun.because('unanswered', `no answer: ${error.message}`);
  return NotRun.because('error', `an error of the check itself: ${messageOf(error)}`);
}
