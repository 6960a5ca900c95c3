import { type Output, singleLine } from 'market-mcp-contract/command';
import type { Problem } from 'market-mcp-contract/definition';
import { isObject, type Json, shorten } from 'market-mcp-contract/json';
import type { CallVerdict, SchemaVerdict } from '../../marketplace/core/call-verdict.ts';
import type { CallReport } from '../../marketplace/core/caller.ts';
import type { CallCause, RegistrationStep } from '../../marketplace/core/marketplace-model.ts';
import { type Access, linkOf } from '../../marketplace/core/page-access.ts';
import type { MarketplaceContext } from '../../marketplace/marketplace-context.ts';

/** Prints the link of the page, and where servers find the key. */
export function printAddress(access: Access, { endpoint }: MarketplaceContext, output: Output): void {
  const { url, secret } = access;
  const link = linkOf(access);
  const keySet = `${url}/.well-known/jwks.json`;
  output.line(`${output.style('bold', 'Marketplace')}  ${link}`);
  output.line(output.style('dim', `Key set      ${keySet}`));
  if (endpoint !== undefined) output.line(output.style('dim', `Your server  ${singleLine(endpoint)}`));
  output.result({ link, url, secret, jwks: keySet, endpoint: endpoint ?? null });
}

const schemaWords = {
  pass: 'matches the outputSchema',
  fail: 'does not match',
  'not-run': 'not checked',
} as const;
const sameWords = { ...schemaWords, pass: 'text and structuredContent contain the same data' } as const;

/** The input of `callLines`. */
export interface CallView {
  readonly report: CallReport;
  /** Why the call does not count as a success. */
  readonly objection: string | undefined;
  readonly output: Output;
}

/** A call as text: how it ended, whether it matches its schema, what it returned, and why it failed. */
export function callLines({ report, objection, output }: CallView): readonly string[] {
  const { id, tool, status, ms, verdict, result, error, expected } = report;
  const http = status === 0 ? 'no answer' : `HTTP ${status}`;
  const time = ms === null ? '' : ` in ${Math.round(ms)} ms`;
  const details = `${http}${time}, call ${id}`;
  const value = result ? (result.structuredContent ?? result.content) : error;
  return [
    `${output.style('bold', singleLine(tool))}  ${verdict.outcome}  ${output.style('dim', details)}`,
    ...(expected?.met ? [`${output.style('green', '✔')} expected ${expected.what}`] : []),
    ...(result && !expected ? resultLines(verdict, output) : []),
    ...(status === 0 ? [] : ['', ...valueLines(value)]),
    ...(objection === undefined ? [] : ['', `${output.style('red', '✘')} ${singleLine(objection)}`]),
    ...(objection !== undefined && report.cause ? causeLines(report.cause, output) : []),
  ];
}

function resultLines(verdict: CallVerdict, output: Output): readonly string[] {
  return [
    ...verdictLines('text', verdict.text, schemaWords, output),
    ...verdictLines('structuredContent', verdict.structuredContent, schemaWords, output),
    ...verdictLines('same data', verdict.same, sameWords, output),
  ];
}

/** What failed, where, and what to do; then what the author's own code has written. */
export function causeLines(
  { message, source, at, stack, fix, lines }: CallCause,
  output: Output,
): readonly string[] {
  const dim = (title: string, text: string) => `  ${title.padEnd(8)}${output.style('dim', singleLine(text))}`;
  const messageLines = lines.filter(
    (line) => !line.startsWith('{') && !/^\s+at /.test(line) && !line.includes(message),
  );
  return [
    `  error   ${output.style('bold', singleLine(message))}`,
    ...stack.slice(0, 3).map((line) => dim('', line)),
    ...(source === null ? [] : [`  source  ${singleLine(source)}`]),
    ...(at === undefined ? [] : [`  at      ${singleLine(at)}`]),
    ...(fix === null ? [] : [`  fix     ${singleLine(fix)}`]),
    ...messageLines.slice(0, maxLogLines).map((line, at) => dim(at === 0 ? 'log' : '', line)),
  ];
}

const maxLogLines = 10;

function verdictLines(
  title: string,
  { status, problems, reason }: SchemaVerdict,
  words: Readonly<Record<SchemaVerdict['status'], string>>,
  output: Output,
): readonly string[] {
  return [
    `${verdictMark(status, output)} ${title.padEnd(18)} ${words[status]}${reason === undefined ? '' : `: ${reason}`}`,
    ...problems.map((problem) => `    ${callProblemLine(problem)}`),
  ];
}

/** The mark of a verdict. */
export function verdictMark(
  status: RegistrationStep['status'] | SchemaVerdict['status'],
  output: Output,
): string {
  if (status === 'not-run') return '–';
  if (status === 'advice') return output.style('yellow', '!');
  if (status === 'pass') return output.style('green', '✔');
  return output.style('red', '✘');
}

/** `structuredContent.price: expected type number, got "1"` */
export function callProblemLine({ path, expected, actual }: Problem): string {
  return singleLine(`${path === undefined ? '' : `${path}: `}expected ${expected}, got ${actual}`);
}

const maxRows = 50;
const widestCell = 40;

/** JSON as lines: one member per line, lists of objects as tables. */
export function valueLines(value: Json | undefined, indent = ''): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isObject)) return rowTableLines(value, indent);
  if (typeof value === 'string') return [`${indent}${singleLine(value.slice(0, 1_000))}`];
  if (!isObject(value)) return [`${indent}${singleLine(shorten(value, 1_000))}`];
  const width = Math.max(0, ...Object.keys(value).map((key) => key.length));
  return Object.entries(value).flatMap(([key, member]) =>
    Array.isArray(member) && member.length > 0 && member.every(isObject)
      ? [`${indent}${singleLine(key)}`, ...rowTableLines(member, `${indent}  `)]
      : [`${indent}${singleLine(key).padEnd(width)}  ${singleLine(shorten(member, 200))}`],
  );
}

function rowTableLines(rows: readonly Json[], indent: string): readonly string[] {
  const objects = rows.filter(isObject).slice(0, maxRows);
  const columns = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  const cells = [
    columns,
    ...objects.map((row) =>
      columns.map((column) => (Object.hasOwn(row, column) ? cellText(row[column] ?? null) : '')),
    ),
  ].map((row) => row.map(singleLine));
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const lines = cells.map((row) =>
    `${indent}${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd(),
  );
  if (rows.length > maxRows) return [...lines, `${indent}… and ${rows.length - maxRows} more, see --json`];
  return lines;
}

function cellText(value: Json): string {
  if (typeof value === 'string' && value.length <= widestCell) return value;
  return shorten(value, widestCell);
}
