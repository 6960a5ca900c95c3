import {
  inputError,
  orList,
  pass,
  type Result,
  refuse,
  reject,
  spellingHint,
} from 'market-mcp-contract/command';
import type { DefinitionChange, Field, SpecEntry, ToolSpec } from '../model/tool-model.ts';
import { outputSchemaOf } from './definition.ts';
import { type ExampleValue, withExamples } from './example-values.ts';

/** Which tools of a list to import, and the output of one of them. */
export interface ToolSelection {
  /** Names; none for all. */
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  /** The output of the one selected tool, if it declares none itself. */
  readonly output?: readonly Field[];
  readonly returns?: ToolSpec['returns'];
  /** Tools that declare no output return their answer as text. */
  readonly outputText?: boolean;
  /** Examples of parameters that have none. */
  readonly example?: readonly ExampleValue[];
}

/** The selected tools, in their order; the omitted ones and those with an output as text, as changes. */
export interface Selected {
  readonly entries: readonly SpecEntry[];
  readonly changes: readonly DefinitionChange[];
}

/** Maximum number of names in a message. */
const maxNames = 10;

/** Selects tools of a list. Unknown names and an empty selection are refused. */
export function selectTools(entries: readonly SpecEntry[], selection: ToolSelection): Result<Selected> {
  const { only = [], except = [], output, returns = 'record', outputText = false, example = [] } = selection;
  const names = entries.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  const unknownIn = (flag: string, namedTools: readonly string[]) =>
    namedTools.filter((name) => !names.includes(name)).map((name) => notInListError(flag, name, names));
  const unknown = [...unknownIn('--only', only), ...unknownIn('--except', except)];
  if (unknown.length > 0) return refuse(...unknown);

  const reasonOf = ({ name }: SpecEntry): string | undefined => {
    if (except.some((exceptName) => exceptName === name)) return 'excluded by --except';
    if (only.length > 0 && !only.some((onlyName) => onlyName === name)) return 'not named by --only';
    return undefined;
  };
  const selectedEntries = entries.filter((entry) => reasonOf(entry) === undefined);
  const left = entries.flatMap((entry, i): DefinitionChange[] => {
    const reason = reasonOf(entry);
    const tool = typeof entry.name === 'string' ? entry.name : `tools[${i}]`;
    if (reason === undefined) return [];
    return [{ tool, path: `tools[${i}]`, what: 'is not imported', why: reason }];
  });
  if (selectedEntries.length === 0) {
    const hint = `Keep at least one of ${someOf(names)}.`;
    return reject('--except', except.join(','), 'leaves no tool', hint);
  }
  const exampleEntries = withExamples(selectedEntries, example, '--example');
  if (!exampleEntries.ok) return exampleEntries;
  if (outputText) {
    const texts = exampleEntries.value.filter((entry) => !hasOutput(entry));
    const entries = exampleEntries.value.map((entry) => (hasOutput(entry) ? entry : withTextOutput(entry)));
    return pass({
      entries,
      changes: [...left, ...texts.map(({ name }) => textChange(String(name), 'the file'))],
    });
  }
  if (output === undefined) return pass({ entries: exampleEntries.value, changes: left });
  const answered = withOutput(exampleEntries.value, output, returns);
  if (answered.ok) return pass({ entries: [answered.value], changes: left });
  return answered;
}

/** Whether a tool says what it returns; what it says may be wrong. */
function hasOutput(entry: SpecEntry): boolean {
  return 'output' in entry || ('outputSchema' in entry && entry.outputSchema !== null);
}

const textOutput: Field = {
  name: 'result',
  type: 'string',
  required: true,
  description: 'What the tool answers, as text.',
};

/** A tool that does not describe its result, with the output of a text. */
export function withTextOutput(entry: SpecEntry): SpecEntry {
  return withAnswerFields(entry, [textOutput], 'record');
}

/** A ToolSpec or an MCP definition with an output. */
function withAnswerFields(
  entry: SpecEntry,
  output: readonly Field[],
  returns: ToolSpec['returns'],
): SpecEntry {
  if ('input' in entry) return { ...entry, output, returns } as SpecEntry;
  return { ...entry, outputSchema: outputSchemaOf(output, returns) };
}

/** @param origin what does not say more: the file, the server */
export function textChange(tool: string, origin: string): DefinitionChange {
  const reason = `${origin} does not say what the tool returns`;
  return { tool, path: 'outputSchema', what: 'became one text, result', why: reason };
}

function withOutput(
  [entry, ...otherEntries]: readonly SpecEntry[],
  output: readonly Field[],
  returns: ToolSpec['returns'],
): Result<SpecEntry> {
  if (entry === undefined || otherEntries.length > 0) {
    const message = `describes the output of one tool, but ${otherEntries.length + 1} tools are selected`;
    return reject('--output', undefined, message, 'Select one tool with --only <tool>.');
  }
  if (hasOutput(entry)) {
    const message = `${String(entry.name)} already has an output in the file`;
    return reject('--output', undefined, message, 'Remove --output, or change the file.');
  }
  return pass(withAnswerFields(entry, output, returns));
}

function notInListError(flag: string, name: string, names: readonly string[]) {
  const hint = spellingHint(name, names, `The list contains ${someOf(names)}.`);
  return inputError(flag, name, 'is not a tool of the list', hint);
}

function someOf(names: readonly string[]): string {
  if (names.length <= maxNames) return orList(names);
  return `${names.slice(0, maxNames).join(', ')} and ${names.length - maxNames} more`;
}
