import { type Paint, printable } from '../../contract/report/report.ts';
import { clip } from '../../fields/table.ts';
import { counted } from '../../model/text.ts';
import type { CheckedRule, CheckReport } from '../model.ts';
import { failsCheck } from '../verdict.ts';
import { groupOf, problemLine } from './format.ts';

/** One line for each group of rules: whether it passed, and the counts. */
export function groupLines({ rules, demands }: CheckReport, paint: Paint): readonly string[] {
  const groups = [...new Set(rules.map(({ id }) => groupOf(id)))];
  const width = Math.max(...groups.map((group) => group.length));
  return groups.map((group) => {
    const own = rules.filter(({ id }) => groupOf(id) === group);
    const of = (holds: (rule: CheckedRule) => boolean) => own.filter(holds).length;
    const failed = of((rule) => rule.status === 'fail' && failsCheck(rule, demands));
    const warnings = of((rule) => rule.status === 'fail' && !rule.known && !failsCheck(rule, demands));
    const known = of((rule) => rule.known === true);
    const notRun = of(({ status }) => status === 'not-run');
    const mark =
      failed > 0
        ? paint.red('✗')
        : warnings > 0
          ? paint.yellow('!')
          : notRun === own.length
            ? paint.dim('–')
            : paint.green('✓');
    const words = [
      `${of(({ status }) => status === 'pass')} passed`,
      ...(failed > 0 ? [paint.red(`${failed} failed`)] : []),
      ...(warnings > 0 ? [paint.yellow(counted(warnings, 'warning'))] : []),
      ...(known > 0 ? [`${known} known`] : []),
      ...(notRun > 0 ? [paint.dim(`${notRun} not run`)] : []),
    ];
    return `${mark} ${group.padEnd(width)}  ${words.join(', ')}`;
  });
}

/** What failed, by the place to change, and the command that runs only these rules again. */
export function recapLines(
  { rules, demands }: CheckReport,
  paint: Paint,
  again: ((rules: readonly string[]) => string) | undefined,
): readonly string[] {
  const failed = rules.filter((rule) => rule.status === 'fail' && !rule.known);
  const counted = failed.filter((rule) => failsCheck(rule, demands));
  const shown = counted.length > 0 ? counted : failed;
  if (shown.length === 0) return [];
  const byPlace = new Map<string, { readonly what: string; readonly ids: Set<string> }>();
  for (const { id, title, problems } of shown) {
    for (const problem of problems) {
      const place = problem.at ?? problem.tool ?? '';
      const key = place === '' ? id : place;
      const what =
        problem.cause?.message ?? (place === '' ? title : problemLine({ ...problem, at: undefined }));
      const entry = byPlace.get(key) ?? { what, ids: new Set() };
      byPlace.set(key, entry);
      entry.ids.add(id);
    }
  }
  const ids = shown.map(({ id }) => id);
  const command = again?.(ids);
  return [
    '',
    paint.bold(
      counted.length > 0 ? 'What failed, and where to change it' : 'What could be better, and where',
    ),
    ...[...byPlace].slice(0, placesShown).flatMap(([place, { what, ids }]) => {
      const rules = [...ids].join(', ');
      return [
        `  ${paint.bold(printable(place))}${place === rules ? '' : `  ${rules}`}`,
        `      ${clip(printable(what), width)}`,
      ];
    }),
    ...(byPlace.size > placesShown ? [`  … and ${byPlace.size - placesShown} more places`] : []),
    ...(command === undefined
      ? []
      : [`Run only ${ids.length === 1 ? 'this rule' : 'these rules'} again: ${paint.bold(command)}`]),
  ];
}

const placesShown = 10;
const width = 160;
