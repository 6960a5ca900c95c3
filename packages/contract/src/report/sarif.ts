import type { CheckedRule, CheckReport } from '../check/check-report.ts';
import { exitCodeOf } from '../check/summary.ts';
import { exitCodes } from '../command/command-error.ts';
import { safeJson } from '../command/safe-json.ts';
import { version } from '../version.ts';
import {
  fixesOf,
  parseLocation,
  problemLine,
  type Remark,
  remarksOf,
  stackLines,
  unreachable,
} from './report-text.ts';

/** The report as SARIF 2.1.0 (OASIS): a result for each problem; a rule that was not run is an open result. */
export function sarifReport(report: CheckReport): string {
  const { rules, target } = report;
  const exitCode = exitCodeOf(report);
  return sarifLog({
    rules: rules.map(descriptor),
    invocation: {
      executionSuccessful: exitCode === exitCodes.ok || exitCode === exitCodes.checkFailed,
      exitCode,
    },
    results: [
      ...rules.flatMap((rule, index) => results(rule, index, target)),
      ...remarksOf(report).map((remark) => remarkResult(remark, target)),
    ],
  });
}

/** The report on a target that cannot be reached: one error. */
export function unreachableSarif(target: string, message: string): string {
  const { id, title } = unreachable;
  return sarifLog({
    rules: [{ id, shortDescription: { text: title }, defaultConfiguration: { level: 'error' } }],
    invocation: { executionSuccessful: false, exitCode: exitCodes.notStarted },
    results: [remarkResult({ about: id, text: message, fails: true }, target)],
  });
}

interface SarifRun {
  readonly rules: readonly object[];
  readonly invocation: object;
  readonly results: readonly object[];
}

function sarifLog({ rules, invocation, results }: SarifRun): string {
  return safeJson({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'market-mcp', version, rules } },
        invocations: [invocation],
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  });
}

function descriptor({ id, title, fix, source, level }: CheckedRule) {
  return {
    id,
    shortDescription: { text: title },
    help: { text: `${fix} (${source})` },
    defaultConfiguration: { level: severityOf(level) },
  };
}

function results(rule: CheckedRule, ruleIndex: number, target: string): readonly object[] {
  const { id: ruleId, status, level, problems, reason = '', known } = rule;
  const base = { ruleId, ruleIndex };
  const physicalLocation = physicalOf(target);
  if (status === 'not-run') {
    const message = { text: `not run: ${reason}` };
    return [{ ...base, kind: 'open', level: 'none', message, locations: [{ physicalLocation }] }];
  }
  return problems.map((problem) => {
    const fullyQualifiedName = [problem.tool, problem.path].filter((part) => part !== undefined).join('/');
    const logical = fullyQualifiedName === '' ? {} : { logicalLocations: [{ fullyQualifiedName }] };
    const text = [
      problemLine(problem),
      ...stackLines([problem]),
      ...fixesOf({ ...rule, problems: [problem] }),
    ].join('\n');
    return {
      ...base,
      level: severityOf(level),
      message: { text },
      locations: [{ physicalLocation: physicalOf(problem.at ?? target), ...logical }],
      ...(known && { suppressions: [{ kind: 'external' }] }),
    };
  });
}

function remarkResult({ about, text, fails }: Remark, target: string): object {
  return {
    ruleId: about,
    level: fails ? 'error' : 'warning',
    message: { text },
    locations: [{ physicalLocation: physicalOf(target) }],
  };
}

/** A place in a project, or the target. */
function physicalOf(place: string): object {
  const { file, line } = URL.canParse(place) ? { file: place } : parseLocation(place);
  return { artifactLocation: { uri: file }, ...(line !== undefined && { region: { startLine: line } }) };
}

function severityOf(level: CheckedRule['level']): 'error' | 'warning' {
  return level === 'must' ? 'error' : 'warning';
}
