import { existsSync } from 'node:fs';
import {
  type InputError,
  inputError,
  pass,
  type Result,
  readInput,
  refuse,
  reject,
} from 'market-mcp-contract/command';
import { effects } from 'market-mcp-contract/definition';
import { type JsonObject, objectOr, textOr } from 'market-mcp-contract/json';
import { fieldsSchema } from '../fields/shape.ts';
import { outputWithoutSignals, toolDescription } from '../import/describe.ts';
import type { ApiCall, ImportedTool } from '../import/imported-tool.ts';
import { operationEffect } from '../import/openapi/openapi-tool.ts';
import { withCredentials } from '../import/operation-credentials.ts';
import type { AuthorRequest } from '../import/request/author-request.ts';
import { isCurl } from '../import/request/curl-text.ts';
import { parseHar } from '../import/request/har.ts';
import { type ParsedRequest, parseCurl, parseRequest } from '../import/request/parse-request.ts';
import { toolOfSamples } from '../import/sample.ts';
import { successMembersOf } from '../import/success-signs.ts';
import { freeToolName } from '../model/names.ts';
import type { RequestAnswers } from '../questions/tool-answers.ts';
import { defaultDescription } from '../questions/tool-defaults.ts';
import type { ImportRun } from './import-run.ts';
import {
  findKeyValues,
  type KeyValues,
  keyValueErrors,
  type RequestKeys,
  requestOrigin,
  unusedVariables,
} from './key-values.ts';
import { readSamples, sendRequests, singleRequestErrors, withExchanges } from './send-requests.ts';

const maxHarBytes = 50_000_000;

/** Reads the requests of a text or a file: one curl command, or the requests of a HAR file. */
export async function readRequestText(
  text: string,
  run: ImportRun,
): Promise<Result<readonly AuthorRequest[]>> {
  // Words with a space, and a bare "curl", were meant as a command.
  if (!isCurl(text) && /\S\s|^curl$/.test(text.trim()) && !existsSync(text.trim())) {
    const hint = "Write 'curl https://api.example.com/prices', or the path of a file that holds such a line.";
    return reject('--from-request', text, 'is neither a curl command with a URL nor a file', hint);
  }
  const content = isCurl(text) ? text : await readInput(text.trim(), maxHarBytes);
  if (!isCurl(content)) return parseHar(content);
  const request = readCurlCommand(content, run);
  return request.ok ? pass([request.value]) : request;
}

/** Parses a curl command. Stores in the run the same command with variables instead of its keys. */
export function readCurlCommand(text: string, { keylessCommands }: ImportRun): Result<AuthorRequest> {
  const command = parseCurl(text);
  if (!command.ok) return command;
  const { request, keyless } = command.value;
  keylessCommands.set(text, keyless);
  return pass(request);
}

/** Parses the chosen requests, in the order of the flags. Nothing is sent. */
export async function parseRequests(
  { requests: requestTexts, number, input, constants, segments, variables: projectVariables }: RequestAnswers,
  run: ImportRun,
): Promise<Result<readonly ParsedRequest[]>> {
  if (number !== undefined && requestTexts.length > 1) {
    const message = `is for one HAR file, but there are ${requestTexts.length} requests`;
    return reject('--request', number, message, 'Give one request at a time.');
  }
  const parsedRequests: ParsedRequest[] = [];
  // A later request reuses the address and the keys of an earlier one.
  const knownVariables = [...projectVariables];
  for (const text of requestTexts) {
    const read = await readRequestText(text, run);
    if (!read.ok) return read;
    const chosenRequest = chooseRequest(read.value, number);
    if (!chosenRequest.ok) return chosenRequest;
    const choice = { input, constants, segments, variables: knownVariables };
    const parsed = parseRequest(chosenRequest.value, choice);
    if (!parsed.ok) return parsed;
    const { api, acceptedKeys = [] } = parsed.value.call;
    knownVariables.push(api.address, ...acceptedKeys.flat().flatMap((key) => key.variables));
    parsedRequests.push(parsed.value);
  }
  return pass(parsedRequests);
}

/** @param number of a request in a HAR file; not needed for the only one */
function chooseRequest(
  requests: readonly AuthorRequest[],
  number: number | undefined,
): Result<AuthorRequest> {
  const [onlyRequest, ...otherRequests] = requests;
  const request =
    number === undefined && otherRequests.length === 0
      ? onlyRequest
      : requests.find((candidate) => (candidate.number ?? 1) === number);
  if (request) return pass(request);
  const hint = 'Run the command without --request to list them.';
  return reject('--request', number, `is not the number of one of ${requests.length} requests`, hint);
}

/** The names of the tools of requests: the name that the author gives to the only one, or the name that each request suggests. */
export function requestToolNames(
  parsedRequests: readonly ParsedRequest[],
  { tool }: Pick<RequestAnswers, 'tool'>,
): readonly string[] {
  const takenNames = new Set<string>();
  return parsedRequests.map(({ name }) => tool ?? freeToolName(name, takenNames));
}

/** A request with the name of its tool and the values of its keys. */
interface RequestWithKeys {
  readonly parsedRequest: ParsedRequest;
  readonly toolName: string;
  readonly keyValues: KeyValues;
}

/** The tools of requests. Each request is sent once, and once more for each example. */
export async function toolsFromRequests(
  answers: RequestAnswers,
  run: ImportRun,
): Promise<Result<readonly ImportedTool[]>> {
  const parsed = await parseRequests(answers, run);
  if (!parsed.ok) return parsed;
  if (!sendsRequests(answers) && answers.samples.length === 0) {
    const message = 'gives no response from which the tool can be made';
    return reject('--no-send', undefined, message, 'Add --from-sample <file>.');
  }
  const toolNames = requestToolNames(parsed.value, answers);
  const requestsWithKeys = await Promise.all(
    parsed.value.map(async (parsedRequest, i): Promise<RequestWithKeys> => {
      const keyValues = await findKeyValues(requestKeys(parsedRequest), answers, run);
      return { parsedRequest, toolName: toolNames[i] ?? parsedRequest.name, keyValues };
    }),
  );
  const errors = sendErrors(answers, requestsWithKeys);
  if (errors.length > 0) return refuse(...errors);
  const tools: ImportedTool[] = [];
  for (const requestWithKeys of requestsWithKeys) {
    const tool = await toolFromRequest(requestWithKeys, answers, run);
    if (!tool.ok) return tool;
    tools.push(tool.value);
  }
  return pass(withCredentials(tools));
}

/** The errors for which no request is sent. */
function sendErrors(
  answers: RequestAnswers,
  requestsWithKeys: readonly RequestWithKeys[],
): readonly InputError[] {
  const { tool, title, input, constants, segments, examples } = answers;
  const parsedRequests = requestsWithKeys.map(({ parsedRequest }) => parsedRequest);
  const errors: InputError[] = [];
  if (parsedRequests.length > 1) {
    const flags = {
      '--tool': tool,
      '--title': title,
      '--input': input[0]?.name,
      '--constant': constants[0],
      '--segment': segments[0]?.name,
      '--example': examples[0]?.text,
    };
    const message = `is for one request, but there are ${parsedRequests.length}`;
    errors.push(...singleRequestErrors(flags, message, () => 'Give one request at a time.'));
  }
  errors.push(...unusedVariables(answers.env, parsedRequests.map(requestKeys)));
  if (!sendsRequests(answers)) return errors;
  errors.push(...consentErrors(answers, parsedRequests));
  errors.push(...requestsWithKeys.flatMap(({ keyValues }) => keyValueErrors(keyValues, '--from-request')));
  return errors;
}

/** Whether the requests are sent: only saved responses and `--no-send` prevent it. */
export function sendsRequests({ send, samples }: RequestAnswers): boolean {
  return send !== false && samples.length === 0;
}

/** The keys of a request, and the origin that gets them. */
export function requestKeys({ call, keySources }: ParsedRequest): RequestKeys {
  return { origin: requestOrigin(call), sources: keySources };
}

/** The requests that may be sent only with the consent of the author: they may change something. */
export function requestsThatMayChange(
  { effect }: RequestAnswers,
  parsedRequests: readonly ParsedRequest[],
): readonly ParsedRequest[] {
  if (effect === 'reads') return [];
  return parsedRequests.filter(({ onlyReads }) => !onlyReads);
}

/** An error for each request that may change something and that the author has not allowed to send. */
function consentErrors(
  answers: RequestAnswers,
  parsedRequests: readonly ParsedRequest[],
): readonly InputError[] {
  if (answers.send !== undefined) return [];
  return requestsThatMayChange(answers, parsedRequests).map(({ call: { method, path } }) => {
    const message = `would send ${method.toUpperCase()} ${path}, which may change something: nothing was sent`;
    const hint =
      'Add --send to send it once, --effect reads if it only reads, or --no-send with --from-sample <file>.';
    return inputError('--from-request', undefined, message, hint);
  });
}

/** The tool of a request: from the responses of its API, or from saved ones. */
async function toolFromRequest(
  { parsedRequest, toolName, keyValues }: RequestWithKeys,
  answers: RequestAnswers,
  run: ImportRun,
): Promise<Result<ImportedTool>> {
  const { input, notes, onlyReads } = parsedRequest;
  const { secrets } = keyValues;
  const { method } = parsedRequest.call;
  const effect = answers.effect ?? (onlyReads ? 'reads' : operationEffect(method, toolName));
  const isReadByPost = method === 'post' && (onlyReads || effect === 'reads');
  const call: ApiCall = isReadByPost ? { ...parsedRequest.call, isReadByPost } : parsedRequest.call;
  const inputSchema = { type: 'object', ...fieldsSchema(input) };
  const requestToSend = { call, inputSchema, examples: answers.examples, secrets };
  const sentRequests = sendsRequests(answers)
    ? await sendRequests(requestToSend, '--from-request', run)
    : undefined;
  if (sentRequests && !sentRequests.ok) return sentRequests;
  const samples = sentRequests ? pass(sentRequests.value.samples) : await readSamples(answers.samples);
  if (!samples.ok) return samples;
  const sampledTool = toolOfSamples(
    samples.value,
    { name: toolName, input, returnsApiAnswers: true },
    (fields, returns) => defaultDescription(toolName, fields, returns),
  );
  if (!sampledTool.ok) return sampledTool;
  const { wrap, ...tool } = sampledTool.value;
  const success = successMembersOf(samples.value.map(({ value }) => value));
  const importedTool: ImportedTool = {
    ...tool,
    entry: {
      ...tool.entry,
      annotations: effects[effect],
      description: requestDescription(parsedRequest, tool.entry as JsonObject),
    },
    call: { ...call, wrap, success },
    secrets,
  };
  const completeTool = sentRequests ? withExchanges(importedTool, sentRequests.value) : importedTool;
  const requestChanges = notes.map((note) => ({ tool: toolName, ...note }));
  return pass({ ...completeTool, changes: [...requestChanges, ...completeTool.changes] });
}

/** The description that a request and its data suggest; else the description of the tool's entry. */
function requestDescription(
  { call: { api, method, path } }: ParsedRequest,
  { description, outputSchema }: JsonObject,
): string {
  const dataSchema = outputWithoutSignals(objectOr(outputSchema));
  return toolDescription({ id: null, method, path }, {}, api.title, dataSchema) ?? textOr(description);
}
