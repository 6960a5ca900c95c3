import type { Problem } from '../../contract/model.ts';
import { missing } from '../../contract/probe/reasons.ts';
import { printable } from '../../contract/report.ts';
import type { CheckedRule, CheckReport } from '../model.ts';

/** A problem in one printable line: `get_price · outputSchema.type: expected "object", got "array"`. */
export function problemLine({ tool, path, expected, actual }: Problem): string {
  const where = [tool, path].filter((part) => part !== undefined).join(' · ');
  return printable(`${where === '' ? '' : `${where}: `}expected ${expected}, got ${actual}`);
}

/** What to do about a rule that failed: what its problems say more exactly, else its own words. */
export function mendsOf({ mend, problems }: CheckedRule): readonly string[] {
  const exact = problems.flatMap((problem) => (problem.mend === undefined ? [] : [printable(problem.mend)]));
  return exact.length > 0 ? [...new Set(exact)] : [mend];
}

/** Why rules were not run, and what the caller can give so that they are. */
export function reasonLine(reason: string): string {
  const remedy = remedies.get(reason);
  return printable(remedy === undefined ? reason : `${reason} (${remedy})`);
}

const remedies = new Map<string, string>([
  [missing.signer, 'give --signing-key <pem>, or one token with --token <jwt>'],
  [missing.consent, "name it: --call <tool>, '*' for all without a sign of harm, or --examples <file>"],
  [missing.launch, 'only the directory of a project can be started'],
]);

/** What a report says beside the verdicts on rules, in a printable line. */
export interface Remark {
  /** What it is about: `drift`, or the id of a rule. */
  readonly about: string;
  readonly text: string;
  /** Whether it makes the check fail. */
  readonly fails: boolean;
}

/** Changes that break callers, and entries of the baseline that pass now. */
export function remarksOf({ demands, drift, baseline }: CheckReport): readonly Remark[] {
  const breaking = drift?.changes.filter(({ breaks }) => breaks) ?? [];
  return [
    ...breaking.map(({ tool, path, what }) => ({
      about: 'drift',
      text: printable(`${path === undefined ? tool : `${tool} · ${path}`}: ${what}; breaks callers`),
      fails: demands.level === 'should',
    })),
    ...(baseline?.stale ?? []).map(({ rule, tool }) => ({
      about: rule,
      text: printable(`passes now${tool === undefined ? '' : ` for ${tool}`}: take it out of the baseline`),
      fails: true,
    })),
  ];
}

/** The group of a rule: `gate` of `gate.no-token`. */
export function groupOf(id: string): string {
  return id.slice(0, id.indexOf('.'));
}
