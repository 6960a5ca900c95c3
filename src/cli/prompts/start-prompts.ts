import { existsSync } from 'node:fs';
import { CommandError, orCommandError, type Result, reject, unwrap } from 'market-mcp-contract/command';
import { documentAt } from '../../changes/openapi.ts';
import { mcpServerAt } from '../../changes/server-tools.ts';
import { writingTools } from '../../import/mcp-tools.ts';
import { plainText } from '../../import/openapi/document-text.ts';
import { listReadableOperations, operationName } from '../../import/openapi/operations.ts';
import { TokenRefusal } from '../../project/source/mcp-server.ts';
import type { PartialAnswers } from '../../questions/partial-answers.ts';
import { keyAccess } from '../../questions/tool-answers.ts';
import { type ToolQuestionAnswers, toolQuestions } from '../../questions/tool-questions.ts';
import type { Asker, TextPrompt } from './asker.ts';
import type { Choice } from './line-prompt.ts';
import type { PromptContext } from './prompt-context.ts';

/** What an author starts from, the first question: each choice is the question that comes next. */
export const starts = [
  {
    value: 'fromRequest',
    label: 'Paste a curl command',
    hint: 'it is sent once, and becomes a tool that calls the API',
  },
  { value: 'tool', label: 'Blank', hint: 'describe the inputs and outputs of the tool' },
  { value: 'fromSample', label: 'A sample answer', hint: 'JSON from an API' },
  {
    value: 'fromOpenapi',
    label: 'An OpenAPI document',
    hint: 'its operations become tools that call the API',
  },
  { value: 'fromUrl', label: 'A running MCP server', hint: 'your server forwards calls to its tools' },
  { value: 'spec', label: 'A spec file', hint: 'tool specs or MCP tool definitions' },
] as const satisfies readonly Choice<keyof ToolQuestionAnswers>[];

export type ChosenStart = (typeof starts)[number]['value'];

/** If a flag answers one of these questions, it also answers the first question. */
const startingQuestions = [
  ...starts.map(({ value }) => value),
  ...(['description', 'effect', 'input', 'output', 'returns'] as const),
];

/** A file that was named is suggested after each start that needs one. */
export const file = 'file';

/** Whether the flags leave the first question open. */
export function isStartOpen(answers: Partial<ToolQuestionAnswers>): boolean {
  return startingQuestions.every(
    (name) => answers[name] === undefined && answers.ask?.includes(name) !== true,
  );
}

/** The given answers, with the start that `ask` names. */
export function withStart<Answers extends Partial<ToolQuestionAnswers>>(
  answers: Answers,
): Answers & { readonly start?: ChosenStart } {
  const { ask = [] } = answers;
  const start = starts.find(({ value }) => ask.includes(value));
  return start ? { ...answers, start: start.value } : answers;
}

/**
 * What `ask` must name to resume with these answers: the question that was being asked if it has an answer, and the first
 * question after a start that no answer names.
 */
export function questionsToAskAgain<
  Answers extends Partial<ToolQuestionAnswers> & { readonly start?: ChosenStart },
>(answers: Answers, question: keyof Answers | undefined): readonly string[] {
  const { start } = answers;
  const isAnswered = start === 'tool' ? !isStartOpen({ ...answers, ask: [] }) : start && answers[start];
  const repeatedQuestions =
    question !== undefined && answers[question] !== undefined ? [String(question)] : [];
  const openStart = start === undefined || isAnswered ? [] : [start];
  return [...new Set([...repeatedQuestions, ...openStart])];
}

/** Asks for the files of sample answers, separated by commas. */
export function askSamples(
  asker: Asker,
  { fromSample }: Partial<ToolQuestionAnswers>,
): Promise<readonly string[]> {
  const { prompt, parse } = toolQuestions.fromSample;
  return asker.text({
    message: `${prompt.message} Separate several by commas.`,
    placeholder: 'base.json, ethereum.json',
    shared: file,
    previous: fromSample?.join(', '),
    parse(text) {
      const paths = text.split(',').map((path) => path.trim());
      const namedPaths = paths.filter((path) => path !== '');
      const missing = namedPaths.find((path) => !existsSync(path));
      if (missing === undefined) return parse(namedPaths.length > 0 ? namedPaths : ['']);
      return noSuchFile('--from-sample', missing);
    },
  });
}

/** Asks for the path of a spec file. */
export function askSpec(asker: Asker, { spec }: Partial<ToolQuestionAnswers>): Promise<string> {
  const { prompt, parse } = toolQuestions.spec;
  return asker.text({
    ...prompt,
    placeholder: 'tools.json, or tools.yaml',
    shared: file,
    previous: spec,
    parse: (text) => existingFile(parse(text), '--spec'),
  });
}

/** Asks for an OpenAPI document until one can be read. */
export function askDocument(
  asker: Asker,
  { fromOpenapi, header = [] }: Partial<ToolQuestionAnswers>,
  { run }: PromptContext,
): Promise<string> {
  const { prompt, parse } = toolQuestions.fromOpenapi;
  const question = {
    ...prompt,
    placeholder: 'openapi.json, or https://api.example.com/openapi.yaml',
    shared: file,
    previous: fromOpenapi,
    parse: (text: string) =>
      /^https?:\/\//i.test(text.trim()) ? parse(text) : existingFile(parse(text), '--from-openapi'),
  };
  return askUntilRead(asker, 'fromOpenapi', question, async (place) =>
    unwrap((await documentAt(place, header, run)).document),
  );
}

/** Asks for an MCP server until one lists its tools, or asks for a token. */
export function askServer(asker: Asker, answers: PartialAnswers, { run }: PromptContext): Promise<string> {
  const { prompt, parse } = toolQuestions.fromUrl;
  const question = { ...prompt, previous: answers.fromUrl, parse };
  return askUntilRead(asker, 'fromUrl', question, async (url) => {
    const listed = await orCommandError(() => mcpServerAt(url, keyAccess(answers), run));
    if (listed instanceof CommandError && !(listed instanceof TokenRefusal)) throw listed;
  });
}

async function askUntilRead(
  asker: Asker,
  questionName: keyof ToolQuestionAnswers,
  question: TextPrompt<string>,
  read: (place: string) => Promise<unknown>,
): Promise<string> {
  let { previous } = question;
  for (;;) {
    const place = await asker.text({ ...question, previous });
    previous = place;
    asker.unfinished = () => ({ [questionName]: place });
    const found = await orCommandError(() => read(place));
    if (!(found instanceof CommandError)) return place;
    asker.warn([found.message, found.hint]);
  }
}

/**
 * Asks which operations of a document become tools; typing filters them.
 *
 * @throws CommandError if the document cannot be read
 */
export async function askOperations(
  asker: Asker,
  { fromOpenapi = '', header = [], operation: previous }: Partial<ToolQuestionAnswers>,
  { run }: PromptContext,
): Promise<readonly string[]> {
  const { document, location } = await documentAt(fromOpenapi, header, run);
  const operations = unwrap(listReadableOperations(unwrap(document), location));
  const options = operations.map((operation) => {
    const address = `${operation.method.toUpperCase()} ${operation.path}`;
    const writes = operation.method === 'get' ? '' : ' · may change something';
    return {
      value: address,
      label: operation.id === null ? address : `${operationName(operation)}  ${address}`,
      hint: `${operation.summary}${writes}`,
    };
  });
  return asker.search(`Which of the ${operations.length} operations?`, options, previous);
}

/** Asks which tools of an MCP server to import. */
export async function askTools(
  asker: Asker,
  { fromUrl = '', only, ...answers }: PartialAnswers,
  { run }: PromptContext,
): Promise<readonly string[]> {
  const { tools } = await mcpServerAt(fromUrl, keyAccess(answers), run);
  const writing = writingTools(tools);
  const options = tools.map(({ name, description }) => {
    const warning = writing.has(String(name)) ? 'may change something · ' : '';
    return { value: String(name), label: String(name), hint: `${warning}${plainText(description, 80)}` };
  });
  return asker.search(`Which of the ${tools.length} tools?`, options, only);
}

function existingFile(parsed: Result<string>, flag: string): Result<string> {
  if (!parsed.ok || existsSync(parsed.value)) return parsed;
  return noSuchFile(flag, parsed.value);
}

/** The error for a path that leads nowhere. */
export function noSuchFile(flag: string, path: string): Result<never> {
  return reject(flag, path, 'there is no such file', 'Check the path.');
}
