import type { Problem } from '../../contract/model.ts';
import { missing } from '../../contract/probe/probe.ts';
import { printable } from '../../contract/report.ts';
import type { CheckedRule } from '../model.ts';

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
  [missing.launch, 'only the directory of a project can be started'],
]);

/** The group of a rule: `gate` of `gate.no-token`. */
export function groupOf(id: string): string {
  return id.slice(0, id.indexOf('.'));
}
