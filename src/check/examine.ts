import type { Json, RuleResult, RuleText } from '../contract/model.ts';
import { runContract, Unreachable } from '../contract/run.ts';
import type { Target } from '../contract/target.ts';
import { SystemError } from '../system/errors.ts';
import type { Change, CheckReport, Demands } from './model.ts';
import { type Baseline, weigh } from './verdict.ts';

/** What a check is made with. */
export interface Terms {
  readonly demands: Demands;
  readonly selects: (rule: RuleText) => boolean;
  readonly baseline?: Baseline | undefined;
  /** An earlier tool list, to compare with. */
  readonly earlier?: Earlier | undefined;
  /** Milliseconds that bound each request. */
  readonly timeoutMs?: number | undefined;
  readonly onRule?: (result: RuleResult, done: number, total: number) => void;
}

/** A tool list as the marketplace last read it, or as far as it is known. */
export interface Earlier {
  readonly file: string;
  changesTo(tools: readonly Json[]): readonly Change[];
}

export interface Examined {
  readonly report: CheckReport;
  /** The tool list that the server sent; undefined where it sent none. */
  readonly listed: readonly Json[] | undefined;
}

/**
 * Runs the contract on a server and weighs what it finds.
 *
 * @throws SystemError `UNREACHABLE` where nothing answers.
 */
export async function examine(target: Target, terms: Terms): Promise<Examined> {
  const { demands, selects, baseline, earlier, timeoutMs, onRule } = terms;
  let listed: readonly Json[] | undefined;
  const report = await runContract(
    { ...target, ...(timeoutMs !== undefined && { timeoutMs }) },
    {
      selects,
      onListed: (tools) => {
        listed = tools;
      },
      ...(onRule && { onRule }),
    },
  ).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    throw new SystemError('UNREACHABLE', error.message, 'Start the server, or correct the URL.');
  });
  const changes = listed && earlier?.changesTo(listed);
  const drift = changes && earlier && { against: earlier.file, changes, refreshNeeded: changes.length > 0 };
  return { report: weigh(report, demands, baseline, drift), listed };
}
