import {
  counted,
  errorSentence,
  type InputError,
  type Output,
  singleLine,
} from 'market-mcp-contract/command';
import type { Level, Report, RuleResult } from 'market-mcp-contract/definition';
import { groupBy } from 'market-mcp-contract/json';
import { toolFile } from '../../model/names.ts';
import type { DefinitionChange } from '../../model/tool-model.ts';
import { toolPaths } from '../../plan/tool-files.ts';

/** What an author should know or do about a file. */
export interface FileNote {
  /** Path in the project, or what else the note is about: a tool, a rule, a variable. */
  readonly subject: string;
  readonly text: string;
}

/** The sentences about requests that were sent. */
export function sentRequestSentences(changes: readonly DefinitionChange[]): readonly string[] {
  return changes.filter(({ kind }) => kind === 'sent').map(({ what }) => what);
}

/** The other changes of definitions, by file. */
export function changeNotes(changes: readonly DefinitionChange[]): readonly FileNote[] {
  const definitionChanges = changes.filter(({ kind }) => kind !== 'sent');
  return [...groupBy(definitionChanges, ({ tool }) => tool)].map(([tool, [first, ...otherChanges]]) => {
    const changeText = `${first.what} (${first.why})`;
    // A change at `tools…` is about a tool that is not imported, which has no file.
    if (/^tools\b/.test(first.path)) return { subject: tool, text: changeText };
    const end = otherChanges.length === 0 ? '' : `; ${counted(otherChanges.length, 'more change')}`;
    return { subject: toolPaths(toolFile(tool)).path, text: `${first.path} ${changeText}${end}` };
  });
}

/** Advice that the report does not repeat. */
export function adviceNotes(advice: readonly InputError[], report: Report | null): readonly FileNote[] {
  const reported = new Set(report === null ? [] : failedRules(report, 'should').map(({ id }) => id));
  return advice
    .filter(({ rule }) => rule === undefined || !reported.has(rule))
    .map((error) => {
      const { tool, message, hint } = error;
      const subject = tool === undefined ? error.where : toolPaths(toolFile(tool)).path;
      return { subject, text: `${message}. ${hint}` };
    });
}

/** The warnings of a report: one for each file and rule. */
export function warningNotes(report: Report): readonly FileNote[] {
  const notes = failedRules(report, 'should').flatMap(({ id, title, fix, problems }) => {
    if (problems.length === 0) return [{ subject: id, text: `${title}. ${fix}` }];
    const bySubject = groupBy(problems, ({ at, tool }) => at?.replace(/:\d+$/, '') ?? tool ?? 'the server');
    return [...bySubject].map(([subject, group]) => ({
      subject,
      text: `${id}${group.length === 1 ? '' : ` in ${group.length} places`}. ${group[0].fix ?? fix}`,
    }));
  });
  return notes.toSorted((first, second) => first.subject.localeCompare(second.subject));
}

export function failedRules({ rules }: Report, level: Level): readonly RuleResult[] {
  return rules.filter((rule) => rule.status === 'fail' && rule.level === level);
}

/**
 * Prints notes, each with its file, and how many more there are.
 *
 * @param maxLines maximum number of lines
 */
export function showNotes(
  notes: readonly FileNote[],
  output: Output,
  maxLines = Number.POSITIVE_INFINITY,
): void {
  const texts = notes.map(({ subject, text }) => singleLine(`${subject}: ${text}`));
  const heights = texts.map((text) => output.heightOf(text));
  let shownCount = 0;
  for (let usedLines = 0; shownCount < texts.length; shownCount++) {
    usedLines += heights[shownCount] ?? 1;
    const isLast = shownCount === texts.length - 1;
    if (shownCount > 0 && usedLines + (isLast ? 0 : 1) > maxLines) break;
  }
  for (const text of texts.slice(0, shownCount)) output.note(text);
  const hiddenCount = texts.length - shownCount;
  if (hiddenCount > 0) output.note(`${counted(hiddenCount, 'more note')}: --json lists all`);
}

/** Advice in sentences. */
export function adviceSentence({ value: _, ...error }: InputError): string {
  return `${errorSentence(error)} ${error.hint}`;
}
