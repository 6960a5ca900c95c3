import type { CheckedRule, CheckReport } from '../check/model.ts';
import { safeJson } from '../command/safe-json.ts';
import { version } from '../version.ts';
import { fileOf, fixesOf, problemLine, type Remark, remarksOf, stackLines } from './format.ts';

/** The report as SARIF 2.1.0 (OASIS): a result for each problem; a rule that was not run is an open result. */
export function sarifReport(report: CheckReport): string {
  const { rules, target, ok } = report;
  return safeJson({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'market-mcp', version, rules: rules.map(descriptor) } },
        invocations: [{ executionSuccessful: true, exitCode: ok ? 0 : 1 }],
        columnKind: 'utf16CodeUnits',
        results: [
          ...rules.flatMap((rule, index) => results(rule, index, target)),
          ...remarksOf(report).map((remark) => remarkResult(remark, target)),
        ],
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
  const { file, line } = URL.canParse(place) ? { file: place } : fileOf(place);
  return { artifactLocation: { uri: file }, ...(line !== undefined && { region: { startLine: line } }) };
}

function severityOf(level: CheckedRule['level']): 'error' | 'warning' {
  return level === 'must' ? 'error' : 'warning';
}
