import type { CheckedRule, CheckReport } from '../check/check-report.ts';
import { countsAsFailure } from '../check/verdict.ts';
import { printable } from '../command/paint.ts';
import { groupBy } from '../json/json.ts';
import {
  detailLines,
  groupOf,
  type Remark,
  type ReportOptions,
  remarksOf,
  unreachable,
} from './report-text.ts';

type Explain = ReportOptions['explainCommand'];

/**
 * The report as JUnit XML: a suite for each group of rules, a case for each rule. A failure that does not make the check
 * fail (advice, a known one) is in the output of a case that passes.
 */
export function junitReport(report: CheckReport, { explainCommand }: ReportOptions): string {
  const { rules, target, summary } = report;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${quoteAttribute(`market-mcp check ${target}`)} time="${seconds(summary.ms)}">`,
    ...[...groupBy(rules, ({ id }) => groupOf(id))].flatMap(([group, rulesOfGroup]) =>
      suite(group, rulesOfGroup, report, explainCommand),
    ),
    ...remarkSuite(remarksOf(report)),
    '</testsuites>',
  ].join('\n');
}

/** The report on a target that cannot be reached: one error. */
export function unreachableJunit(target: string, message: string): string {
  const [group, name] = [groupOf(unreachable.id), `${unreachable.id}: ${unreachable.title}`];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${quoteAttribute(`market-mcp check ${target}`)}>`,
    `  <testsuite name="${group}" tests="1" failures="0" errors="1" skipped="0" hostname=${quoteAttribute(target)}>`,
    `    <testcase classname="${group}" name=${quoteAttribute(name)}>`,
    `      <error type="unreachable" message=${quoteAttribute(message)}/>`,
    '    </testcase>',
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

function suite(
  group: string,
  rules: readonly CheckedRule[],
  { demands, target }: CheckReport,
  explain: Explain,
): string[] {
  const failures = rules.filter((rule) => countsAsFailure(rule, demands)).length;
  const skipped = rules.filter((rule) => rule.status === 'not-run' && !countsAsFailure(rule, demands)).length;
  const ms = rules.reduce((sum, rule) => sum + rule.ms, 0);
  return [
    `  <testsuite name="${group}" tests="${rules.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds(ms)}" hostname=${quoteAttribute(target)}>`,
    ...rules.flatMap((rule) => testCase(group, rule, countsAsFailure(rule, demands), explain)),
    '  </testsuite>',
  ];
}

/** Drift and the baseline in a separate suite. */
function remarkSuite(remarks: readonly Remark[]): readonly string[] {
  if (remarks.length === 0) return [];
  const failures = remarks.filter(({ fails }) => fails).length;
  return [
    `  <testsuite name="check" tests="${remarks.length}" failures="${failures}" errors="0" skipped="0">`,
    ...remarks.flatMap(({ about, text, fails }) => [
      `    <testcase classname="check" name=${quoteAttribute(`${about}: ${text}`)}>`,
      fails
        ? `      <failure message=${quoteAttribute(text)}/>`
        : `      <system-out>advice: ${escapeXml(text)}</system-out>`,
      '    </testcase>',
    ]),
    '  </testsuite>',
  ];
}

function testCase(group: string, rule: CheckedRule, fails: boolean, explain: Explain): string[] {
  const open = `    <testcase classname="${group}" name=${quoteAttribute(`${rule.id}: ${rule.title}`)} time="${seconds(rule.ms)}"`;
  const content = testCaseContent(rule, fails, explain);
  if (content === undefined) return [`${open}/>`];
  return [`${open}>`, `      ${content}`, '    </testcase>'];
}

function testCaseContent(rule: CheckedRule, fails: boolean, explain: Explain): string | undefined {
  const { status, reason = '', level, known } = rule;
  if (status === 'pass') return undefined;
  if (status === 'not-run') {
    if (fails) return `<failure type="not-run" message=${quoteAttribute(reason)}/>`;
    return `<skipped message=${quoteAttribute(reason)}/>`;
  }
  const text = escapeXml(detailLines(rule, explain).join('\n'));
  if (fails) return `<failure type="${level}" message=${quoteAttribute(rule.title)}>${text}</failure>`;
  return `<system-out>${known ? 'known failure' : 'advice'}\n${text}</system-out>`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function quoteAttribute(text: string): string {
  return `"${escapeXml(printable(text))}"`;
}

/** XML allows no lone surrogates and no U+FFFE or U+FFFF. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/\p{Cs}|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('##[', '#&#35;[');
}
