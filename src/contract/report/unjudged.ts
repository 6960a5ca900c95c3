import { messageOf } from '../json.ts';
import { initializes } from '../probe/controls.ts';
import type { Probe } from '../probe/probe.ts';
import { NoAnswer } from '../probe/receive.ts';
import type { LiveRule } from '../rules/rule.ts';
import { NotRun } from './not-run.ts';

/** @throws NotRun if an ordinary request does not work either. */
export async function control({ controls = [initializes] }: LiveRule, probe: Probe): Promise<void> {
  for (const works of controls) {
    const reason = await works(probe);
    if (reason !== undefined) throw NotRun.by(reason);
  }
}

/** The reason, read from an error, why a rule could not be judged. */
export function unjudged(error: unknown): NotRun {
  if (error instanceof NotRun) return error;
  if (error instanceof NoAnswer) return NotRun.because('unanswered', `no answer: ${error.message}`);
  return NotRun.because('error', `an error of the check itself: ${messageOf(error)}`);
}
