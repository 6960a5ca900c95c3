import { clip, counted, type InputError, type Output } from 'market-mcp-contract/command';
import { blankResult, type Report, signals } from 'market-mcp-contract/definition';
import type { JsonObject } from 'market-mcp-contract/json';
import { type CheckReport, prettyReport } from 'market-mcp-contract/report';
import { enterCommand, type ProjectContext } from '../../changes/project-context.ts';
import { fieldRows, tableLines } from '../../fields/table.ts';
import { apiVariables, type CheckedTool } from '../../import/imported-tool.ts';
import type { PreparedTools } from '../../import/prepare.ts';
import { toolFile } from '../../model/names.ts';
import type { DefinitionChange, PreparedTool } from '../../model/tool-model.ts';
import { packageManagerCommands } from '../../plan/package-manager-commands.ts';
import type { FileSet } from '../../plan/planned-file.ts';
import { toolPaths } from '../../plan/tool-files.ts';
import { explainCommand } from '../../system/command-line.ts';
import { adviceSentence, failedRules, showNotes, warningNotes } from './notes.ts';

/** A next step for the author: a command to paste, or a file to edit. */
export interface NextStep {
  readonly command?: string;
  /** Path in the project. */
  readonly edit?: string;
  /** What the command does, or what to edit in the file; printed in parentheses. */
  readonly remark?: string;
  /** It enters the directory or installs. */
  readonly isSetup?: boolean;
}

/** The file to edit first, and why. */
export type FirstEdit = Required<Pick<NextStep, 'edit' | 'remark'>>;

/** The source of a tool returns sample data until its author has written it. */
export function sampleEdit(tool: string): FirstEdit {
  const remark = 'read() returns sample data: call your API there';
  return { edit: toolPaths(toolFile(tool)).path, remark };
}

/**
 * The first edit that a tool needs. A tool that calls an API needs only the API's keys.
 *
 * @param dotEnv the variables in `.env`; undefined if the file does not exist
 */
export function firstEditFor(
  { definition, call }: CheckedTool,
  dotEnv: Readonly<Record<string, string | undefined>> | undefined,
): FirstEdit | undefined {
  if (call === undefined) return sampleEdit(definition.name);
  const missingKeys = apiVariables(call.api)
    .filter(({ kind, name }) => kind === 'secret' && !dotEnv?.[name])
    .map(({ name }) => name);
  if (missingKeys.length === 0) return undefined;
  const choice = call.api.namedKeys ? 'those that you need of ' : '';
  const instruction = `set ${choice}${missingKeys.join(', ')}`;
  if (dotEnv === undefined) return { edit: '.env', remark: `copy .env.example to it, and ${instruction}` };
  const pronoun = missingKeys.length === 1 ? 'it' : 'them';
  return { edit: '.env', remark: `${instruction}: .env.example describes ${pronoun}` };
}

/** The steps that try the project: commands, and the file to edit first. */
export function nextSteps(
  { directory, packageManager }: ProjectContext,
  isInstalled: boolean,
  firstEdit: FirstEdit | undefined,
  tool: string | undefined,
): readonly NextStep[] {
  const { install, run, market } = packageManagerCommands[packageManager];
  const steps: NextStep[] = enterCommand(directory).map((command) => ({ command, isSetup: true }));
  if (!isInstalled) steps.push({ command: install, isSetup: true });
  if (firstEdit !== undefined) steps.push(firstEdit);
  const dev = { command: `${run} dev`, remark: 'prints the link of a page to call, check and register it' };
  if (tool === undefined) return [...steps, dev];
  const call = { command: `${market} call ${tool}`, remark: 'one call, with its outcome' };
  // `dev` does not return, so a tool that is ready is called before it.
  if (firstEdit === undefined) return [...steps, call, dev];
  return [...steps, dev, call];
}

/** Each file with its size, and the total. */
export function fileLines(files: FileSet): readonly string[] {
  const sizes = [...files].map(([path, { content }]) => ({ path, bytes: content.byteLength }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const width = String(total).length;
  return [
    ...sizes.map(({ path, bytes }) => `${String(bytes).padStart(width)}  ${path}`),
    `${total}  bytes in ${files.size} files`,
  ];
}

/** Prints the changes to the author's definitions, and possible improvements. */
export function showPrepared({ changes, advice }: PreparedTools, output: Output): void {
  if (changes.length > 0)
    output.note(`${counted(changes.length, 'change')} to the definitions, with the reasons`);
  for (const line of definitionChangeLines(changes)) output.paragraph(line, 4);
  if (advice.length > 0) output.note(`${counted(advice.length, 'hint')} for a better listing`);
  for (const line of adviceLines(advice)) output.paragraph(line, 4);
}

/** The maximum number of hints that are printed; the rest are counted. */
const maxShownHints = 8;

/** Prints the rules that the server breaks and their fixes. */
export function showFailures(report: CheckReport, output: Output): void {
  const { hasColors: color } = output;
  const text = prettyReport(report, { color, verbose: false, explainCommand });
  for (const line of text.split('\n')) output.line(`  ${line}`);
}

/** Prints the rules that the server breaks and their fixes; if no MUST is broken, one line for each file and warning. */
export function showReport(report: CheckReport, output: Output): void {
  if (report.summary.failed > 0 || !report.ok) showFailures(report, output);
  else showNotes(warningNotes(report), output);
}

/** A report as `--json` prints it: the counts and the failed rules. */
export function reportJson(report: Report | null): object | null {
  if (report === null) return null;
  const failures = failedRules(report, 'must');
  return { ...report.summary, failures, advised: failedRules(report, 'should') };
}

/** Next steps as numbered lines. */
export function nextStepLines(steps: readonly NextStep[], output: Output): readonly string[] {
  return steps.map(({ command, edit, remark }, index) => {
    const remarkText = remark === undefined ? '' : output.style('dim', `  (${remark})`);
    return `  ${index + 1}. ${command ?? `edit ${edit}`}${remarkText}`;
  });
}

/** Prints next steps. */
export function showNext(steps: readonly NextStep[], output: Output): void {
  for (const line of nextStepLines(steps, output)) output.line(line);
}

/** At most three steps. The commands that enter the directory and install are joined into one. */
export function firstSteps(steps: readonly NextStep[]): readonly NextStep[] {
  const start = steps.findIndex(({ isSetup }) => !isSetup);
  const commands = steps.slice(0, start).flatMap(({ command }) => command ?? []);
  const enterSteps = commands.length === 0 ? [] : [{ command: commands.join(' && ') }];
  return [...enterSteps, ...steps.slice(start)].slice(0, 3);
}

/** Each change of a definition in one line. */
export function definitionChangeLines(changes: readonly DefinitionChange[]): readonly string[] {
  return changes.map(({ tool, path, what, why: reason }) => `${tool} ${path}: ${what} (${reason})`);
}

/** The first hints for a better listing, and how many more there are. */
export function adviceLines(advice: readonly InputError[]): readonly string[] {
  const lines = advice.slice(0, maxShownHints).map(adviceSentence);
  const hiddenCount = advice.length - maxShownHints;
  if (hiddenCount > 0) return [...lines, `and ${hiddenCount} more: --json lists all of them`];
  return lines;
}

/** The width of a line in the box that clack draws. */
export function reviewWidth(): number {
  return Math.max(40, (process.stdout.columns ?? 80) - 6);
}

/** The maximum number of tools that are shown; further tools are only named. */
const maxShownTools = 3;

/**
 * What will be written, for the author to confirm: the definition of each tool with an example call and its three
 * outcomes, then the changes to it and possible improvements.
 *
 * @param filesText `12 files in /tmp/gas`
 * @param width of a line in characters
 */
export function reviewLines(filesText: string, prepared: PreparedTools, width: number): readonly string[] {
  const { tools, changes, advice } = prepared;
  const lines = [filesText];
  for (const tool of tools.slice(0, maxShownTools)) lines.push('', ...toolLines(tool, width));
  const hiddenNames = tools.slice(maxShownTools).map(({ definition }) => definition.name);
  if (hiddenNames.length > 0)
    lines.push('', clip(`and ${hiddenNames.length} more: ${hiddenNames.join(', ')}`, width));
  const notes = [...definitionChangeLines(changes), ...adviceLines(advice)];
  if (notes.length > 0) lines.push('', ...notes);
  return lines;
}

const inputHead = { name: 'Input', required: 'Required', hasDefaults: true };
const outputHead = { name: 'Output', required: 'Always', hasDefaults: false };

function tableOrText(
  emptyText: string,
  rows: Parameters<typeof tableLines>[0],
  head: Parameters<typeof tableLines>[1],
  width: number,
): readonly string[] {
  if (rows.length === 0) return [emptyText];
  return tableLines(rows, head, width);
}

function toolLines({ definition, keyParameter, samples, examples }: PreparedTool, width: number) {
  const { name, description, inputSchema, outputSchema } = definition;
  const inputs = fieldRows(inputSchema);
  const outputs = fieldRows(outputSchema, Object.keys(signals));
  const exampleArguments = examples.find(({ expect }) => expect === 'found')?.arguments ?? {};
  const key = keyParameter === null ? null : exampleArguments[keyParameter];
  const sample = samples.find((candidate) => candidate.key === key) ?? samples[0];
  const blank = blankResult(outputSchema);
  const blankMembers = blank.ok ? blank.result : {};
  const outcomeLine = (label: string, value: JsonObject) =>
    clip(`  ${label.padEnd(8)}${JSON.stringify(value)}`, width);
  return [
    `Tool ${name}`,
    clip(description.replaceAll(/\s+/g, ' '), width),
    '',
    ...tableOrText('The tool has no input.', inputs, inputHead, width),
    '',
    ...tableOrText('The tool returns no fields.', outputs, outputHead, width),
    '',
    clip(`Example call ${JSON.stringify(exampleArguments)} and its three outcomes`, width),
    outcomeLine('found', sample?.answer ?? {}),
    outcomeLine('empty', { ...blankMembers, searchExhausted: true, noResultsReason: '…' }),
    outcomeLine('failed', { ...blankMembers, error: 'SOURCE_UNAVAILABLE', message: '…' }),
  ];
}
