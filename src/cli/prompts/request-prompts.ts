import { existsSync } from 'node:fs';
import { singleLine, unwrap } from 'market-mcp-contract/command';
import { shorten } from 'market-mcp-contract/json';
import type { ImportRun } from '../../changes/import-run.ts';
import { parseRequests, readCurlCommand, readRequestText } from '../../changes/request-tools.ts';
import { isCurl } from '../../import/request/curl-text.ts';
import type { ParsedRequest } from '../../import/request/parse-request.ts';
import type { PartialAnswers } from '../../questions/partial-answers.ts';
import { type ToolAnswers, toolAnswers } from '../../questions/tool-answers.ts';
import { type ToolQuestionAnswers, toolQuestions } from '../../questions/tool-questions.ts';
import type { Asker } from './asker.ts';
import { Back } from './leaving.ts';
import type { PromptContext } from './prompt-context.ts';
import { file, noSuchFile } from './start-prompts.ts';

/** Asks for a curl command or a file. Lines that a paste continues are joined as the shell joins them. */
export function askRequest(
  asker: Asker,
  { fromRequest }: Partial<ToolQuestionAnswers>,
  { run }: PromptContext,
): Promise<readonly string[]> {
  const { prompt, parse } = toolQuestions.fromRequest;
  return asker.text({
    ...prompt,
    shared: file,
    previous: fromRequest?.[0],
    joined: (pasted) => pasted.replaceAll(/[\\^][ \t]*(?:\r\n?|\n)/g, ' '),
    parse(text) {
      const parsed = parse([text]);
      if (!parsed.ok || (!isCurl(text) && existsSync(text.trim()))) return parsed;
      if (!isCurl(text)) return noSuchFile('--from-request', text);
      const read = readCurlCommand(text, run);
      return read.ok ? parsed : read;
    },
  });
}

/** Asks which request of a HAR file becomes a tool. */
export async function askHarRequest(
  asker: Asker,
  { fromRequest = [], request }: Partial<ToolQuestionAnswers>,
  { run }: PromptContext,
): Promise<number> {
  const fileRequests = unwrap(await readRequestText(fromRequest[0] ?? '', run));
  const [first, ...otherRequests] = fileRequests;
  if (first && otherRequests.length === 0) return first.number ?? 1;
  const options = fileRequests.map(({ number = 1, method, url }) => ({
    value: String(number),
    label: singleLine(`${method.toUpperCase()} ${url.replace(/\?.*/s, '')}`),
  }));
  return Number(
    await asker.choose('Which request?', options, request === undefined ? undefined : String(request)),
  );
}

/** Which values of a request are constant, and which segments of its path are inputs. */
export type RequestInputs = Pick<PartialAnswers, 'constant' | 'segment'>;

/** The answer of flags to the question about inputs; undefined if no flag answers it, so that it is asked. */
export function requestInputsIn({ constant, segment }: PartialAnswers): RequestInputs | undefined {
  if (constant || segment) return { constant, segment };
  return undefined;
}

/**
 * Asks which values of a request are inputs, if its path has values or what may be some; the others stay constant. An author who
 * changes the answer is asked in any case.
 */
export async function askRequestInputs(
  asker: Asker,
  {
    constant,
    segment,
    requestInputs: previous,
    ...answers
  }: PartialAnswers & { requestInputs?: RequestInputs },
  { run }: PromptContext,
  isBack: boolean,
): Promise<RequestInputs> {
  const [request, ...otherRequests] = await readAnsweredRequests(toolAnswers({ ...answers, segment }), run);
  const isChange = previous !== undefined && !isBack && request !== undefined && request.input.length > 0;
  const isObvious = request?.guessedInputs.length === 0 && request.constantSegments.length === 0 && !segment;
  const isClear = isObvious && !isChange;
  if (!request || otherRequests.length > 0 || isClear) {
    if (isBack) throw new Back();
    return { constant, segment };
  }
  const names = request.input.map(({ name }) => name);
  const values = request.input.map(({ name, type, default: value }) => ({
    ...{ value: name, label: name },
    hint: value === undefined ? type : `${type} · ${shorten(JSON.stringify(value))}`,
  }));
  const segments = request.constantSegments.map(({ value }) => ({
    ...{ value: `/${value}`, label: value, hint: 'in the path, constant' },
  }));
  const inputs = await asker.search(
    'Which values of the request are inputs of the tool?',
    [...values, ...segments],
    names.filter((name) => !constant?.includes(name)),
    (chosenInputs) => `${chosenInputs.length} of ${values.length + segments.length}; the others are constant`,
  );
  const chosenSegments = request.constantSegments.filter(({ value }) => inputs.includes(`/${value}`));
  return {
    constant: names.filter((name) => !inputs.includes(name)),
    segment: [...(segment ?? []), ...chosenSegments],
  };
}

/** The parsed requests; none if there are errors in them, which the review reports. */
export async function readAnsweredRequests(
  answers: ToolAnswers,
  run: ImportRun,
): Promise<readonly ParsedRequest[]> {
  if (answers.kind !== 'request') return [];
  const read = await parseRequests(answers, run);
  if (read.ok) return read.value;
  return [];
}

/** The name that the request itself gives to its tool. */
export async function nameOfRequest(
  partialAnswers: PartialAnswers,
  run: ImportRun,
): Promise<string | undefined> {
  const [read] = await readAnsweredRequests(toolAnswers(partialAnswers), run);
  return read?.name;
}
