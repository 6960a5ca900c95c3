import { rules } from '../catalogue.ts';
import { closest, inputError, pass, refuse, reject } from '../command/input-error.ts';
import type { InputError, Result } from '../command/input-result.ts';
import type { RuleText } from '../model.ts';
import { isNamedBy, ruleCases, runsByDefault } from '../rules/rule.ts';

/** Names of rules or of groups of them: `gate.no-token`, `gate`. */
export interface RuleSelection {
  /** Empty: all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
}

/** The selected rules, as a predicate; refuses unknown names and an empty selection. */
export function selector({ only, skip }: RuleSelection): Result<(rule: RuleText) => boolean> {
  const errors = [
    ...only.flatMap((name) => ruleNameErrors('--only', name)),
    ...skip.flatMap((name) => ruleNameErrors('--skip', name)),
  ];
  if (errors.length > 0) return refuse(...errors);
  const names = (list: readonly string[], rule: RuleText) => list.some((name) => isNamedBy(rule, name));
  const isAsked = (rule: RuleText) =>
    runsByDefault(rule) ? only.length === 0 || names(only, rule) : only.includes(rule.id);
  const selects = (rule: RuleText) => isAsked(rule) && !names(skip, rule);
  if (rules.flatMap(ruleCases).some(selects)) return pass(selects);
  return reject(
    '--skip',
    skip.join(','),
    'leaves no rule to run',
    'Skip fewer rules, or choose others with --only.',
  );
}

/** The errors of a rule or group name in a flag; none if it is known. */
export function ruleNameErrors(location: string, name: string): readonly InputError[] {
  const ids = [...new Set(rules.flatMap((rule) => [rule, ...ruleCases(rule)]).map(({ id }) => id))];
  const groups = [...new Set(ids.map((id) => id.slice(0, id.indexOf('.'))))];
  const allNames = [...groups, ...ids];
  if (allNames.includes(name)) return [];
  const near = closest(name, allNames);
  const group = groups.find((groupName) => name.startsWith(`${groupName}.`));
  const members = ids.filter((id) => id.startsWith(`${group}.`)).join(', ');
  let hint = `Groups are ${groups.join(', ')}. The command explain lists all rules.`;
  if (group) hint = `Rules of ${group} are ${members}.`;
  if (near) hint = `Did you mean ${near}?`;
  return [inputError(location, name, 'unknown rule or group of rules', hint)];
}
