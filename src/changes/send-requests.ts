import {
  CommandError,
  combineResults,
  type InputError,
  inputError,
  pass,
  type Result,
  readInput,
  reject,
  shellLine,
} from 'market-mcp-contract/command';
import { lacksData, saysNothingFound } from 'market-mcp-contract/definition';
import {
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
  propertiesOf,
  requiredOf,
  shorten,
  textOr,
} from 'market-mcp-contract/json';
import { unwrapEnvelope, wrapAnswer } from '../import/api-answer.ts';
import type { ApiCall, ApiRequest, ImportedTool, ToolExchange } from '../import/imported-tool.ts';
import { pageMembersIn, withPageMembers } from '../import/page-members.ts';
import { readSample } from '../import/read-sample.ts';
import { type AnswerSample, isFailureAnswer, schemaOfSamples } from '../import/sample.ts';
import type { DefinitionChange } from '../model/tool-model.ts';
import { type ExampleValue, exampleFor } from '../tools/example-values.ts';
import type { ApiResponse, ImportRun } from './import-run.ts';

/** A request with everything that is needed to send it. */
export interface RequestToSend {
  readonly call: ApiRequest;
  /** The inputSchema of its tool. */
  readonly inputSchema: JsonObject;
  /** For each example, the request is sent once more. */
  readonly examples: readonly ExampleValue[];
  /** The values of its keys, by variable. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** The requests of a tool that were sent, and what the API answered. */
export interface SentRequests {
  /** The answers with data; all answers if none has data. */
  readonly samples: readonly AnswerSample[];
  readonly secrets: ReadonlyMap<string, string>;
  /** States that the request was sent. */
  readonly note: Omit<DefinitionChange, 'tool'>;
  readonly exchanges: readonly ApiExchange[];
}

/** A sent request and its response, in the form of the API. */
interface ApiExchange extends Pick<ApiResponse, 'arguments' | 'status' | 'headers'> {
  /** Undefined for an empty result, whose `text` is null. */
  readonly value?: Json | undefined;
  /** The response has no value, or it is the response to a read and contains no data. */
  readonly isEmpty: boolean;
}

/**
 * Sends a request, and once more for each example. What this run has already sent is not sent again.
 *
 * @param flag names the request in errors
 * @throws CommandError `NOT_ANSWERED` as `tryRequest`, and for an error in a GraphQL or JSON-RPC response
 */
export async function sendRequests(
  request: RequestToSend,
  flag: string,
  run: ImportRun,
): Promise<Result<SentRequests>> {
  const { call, secrets } = request;
  const variants = argumentVariants(request, flag);
  if (!variants.ok) return variants;
  const responses = await sendVariants(call, variants.value, secrets, run);
  const read = combineResults(
    responses.map(({ text }) => (text === null ? pass(undefined) : sampleOfResponse(call, text))),
  );
  if (!read.ok) return read;
  const exchanges = toExchanges(call, responses, read.value);
  const samples = read.value.filter((sample) => sample !== undefined);
  const samplesWithData = read.value
    .filter((_, i) => exchanges[i]?.isEmpty === false)
    .filter((sample) => sample !== undefined);
  return pass({
    samples: samplesWithData.length > 0 ? samplesWithData : samples,
    secrets,
    note: sentNote(call, exchanges),
    exchanges,
  });
}

/** States which request was sent, how often, and with which status it was answered. */
function sentNote({ method, path }: ApiRequest, exchanges: readonly ApiExchange[]): SentRequests['note'] {
  const times = exchanges.length === 1 ? 'once' : `${exchanges.length} times`;
  const statuses = [...new Set(exchanges.map(({ status }) => status))].join(' and ');
  const withoutData = exchanges[0]?.isEmpty ? ', without data' : '';
  return {
    path: 'request',
    kind: 'sent',
    what: `${method.toUpperCase()} ${path} was sent ${times}, and answered with HTTP ${statuses}${withoutData}`,
    why: 'types, examples and recordings are made from the real answer',
  };
}

/**
 * Each sent request with its response. The schema of all responses shows which members are data, and so it shows which responses contain no data.
 */
function toExchanges(
  call: ApiRequest,
  responses: readonly ApiResponse[],
  samples: readonly (AnswerSample | undefined)[],
): readonly ApiExchange[] {
  const schema = schemaOfSamples(samples.filter((sample) => sample !== undefined));
  return responses.map((response, i): ApiExchange => {
    const value = samples[i]?.value;
    const isEmpty =
      value === undefined || (isRead(call) && isEmptyResponse(schema, value, response.arguments));
    return { ...response, value, isEmpty };
  });
}

function isRead({ method, isReadByPost }: ApiRequest): boolean {
  return method === 'get' || isReadByPost === true;
}

function isEmptyResponse(schema: JsonObject, value: Json, args: JsonObject): boolean {
  if (isObject(value) && isFailureAnswer(value))
    return saysNothingFound(JSON.stringify(Object.values(value)));
  return lacksData(schema, value, args);
}

/** A tool with its exchanges. They also show whether 404 is an empty result, and whether answers have further pages. */
export function withExchanges(tool: ImportedTool, { secrets, note, exchanges }: SentRequests): ImportedTool {
  const { call } = tool;
  if (!call) return tool;
  const toolExchanges = exchanges.map((exchange) => toToolExchange(exchange, call));
  const answersNotFound = exchanges.some(({ status }) => status === 404);
  const sentTool: ImportedTool = {
    ...tool,
    changes: [{ tool: String(tool.entry.name), ...note }, ...tool.changes],
    secrets,
    exchanges: toolExchanges,
    call: { ...call, notFoundIsEmpty: call.notFoundIsEmpty || answersNotFound },
  };
  return withPagesFromHeaders(sentTool, call, toolExchanges);
}

/** An exchange in the form of the tool. */
function toToolExchange(exchange: ApiExchange, { wrap }: ApiCall): ToolExchange {
  const { arguments: args, headers, value, isEmpty } = exchange;
  const answer = value === undefined ? null : (wrapAnswer(value, wrap) as JsonObject);
  return { arguments: args, answer, headers, isEmpty };
}

/** A tool whose answers name the next page, if the headers of its API do. */
function withPagesFromHeaders(
  tool: ImportedTool,
  call: ApiCall,
  exchanges: readonly ToolExchange[],
): ImportedTool {
  const hasInput = call.query.some(({ input }) => input !== undefined);
  if (call.method !== 'get' || !hasInput) return tool;
  const members = new Set(exchanges.flatMap(({ headers }) => [...pageMembersIn(headers)]));
  if (members.size === 0) return tool;
  const { inputSchema, outputSchema } = tool.entry as JsonObject;
  const pagedSchema = withPageMembers(objectOr(outputSchema), membersOf(objectOr(inputSchema)), members);
  return {
    ...tool,
    entry: { ...tool.entry, outputSchema: pagedSchema } as ImportedTool['entry'],
    call: { ...(tool.call ?? call), hasPages: true },
  };
}

/** The arguments of each request to send: those that its schema shows, and those of each example. */
function argumentVariants(
  { inputSchema: root, examples }: RequestToSend,
  flag: string,
): Result<readonly JsonObject[]> {
  const base = argumentsInSchema(root);
  const variants: JsonObject[] = [];
  for (const { parameter, text } of examples) {
    const schema = objectOr(root.properties)[parameter];
    if (!isObject(schema)) {
      const names = propertiesOf(root).map(([name]) => name);
      const message = `names ${parameter}, which is not an argument`;
      return reject('--example', `${parameter}=${text}`, message, `They are ${names.join(', ') || 'none'}.`);
    }
    const value = exampleFor(text, { schema, root }, '--example');
    if (!value.ok) return value;
    variants.push({ ...base, [parameter]: value.value });
  }
  const missingNames = (args: JsonObject) => requiredOf(root).filter((name) => args[name] === undefined);
  const completeVariants = [base, ...variants].filter((args) => missingNames(args).length === 0);
  if (completeVariants.length > 0) return pass(completeVariants);
  const names = missingNames(base);
  const message = `has no value for ${names.join(', ')}, so nothing was sent`;
  return reject(flag, undefined, message, `Give one: ${shellLine(['--example', `${names[0]}=…`])}`);
}

/** The arguments that a schema shows: defaults, else the first examples, else for required arguments the first allowed value. */
export function argumentsInSchema(root: JsonObject): JsonObject {
  const first = (list: Json | undefined) => (Array.isArray(list) ? (list[0] as Json) : undefined);
  return Object.fromEntries(
    propertiesOf(root).flatMap(([name, { default: value, examples, enum: allowedValues }]) => {
      const isRequired = requiredOf(root).includes(name);
      const argument = value ?? first(examples) ?? (isRequired ? first(allowedValues) : undefined);
      if (argument === undefined) return [];
      return [[name, argument]];
    }),
  );
}

function sendVariants(
  call: ApiRequest,
  variants: readonly JsonObject[],
  secrets: ReadonlyMap<string, string>,
  { responses }: ImportRun,
): Promise<readonly ApiResponse[]> {
  const key = JSON.stringify([call, variants, [...secrets]]);
  const cachedResponses = responses.get(key);
  if (cachedResponses) return cachedResponses;
  const pendingResponses = (async () => {
    const { tryRequest } = await import('../project/source/trial.ts');
    const apiResponses: ApiResponse[] = [];
    for (const [i, args] of variants.entries()) {
      // The first response shows what the tool returns; a request for a further example may find nothing.
      const response = await tryRequest(call, args, secrets, { acceptsNotFound: i > 0 });
      apiResponses.push({ arguments: args, ...response });
    }
    return apiResponses;
  })();
  responses.set(key, pendingResponses);
  // A failed read may be sent again. The author has consented to send any other request once.
  pendingResponses.catch(() => {
    if (isRead(call)) responses.delete(key);
  });
  return pendingResponses;
}

/**
 * The answer in a response. GraphQL and JSON-RPC put it into a member.
 *
 * @throws CommandError `NOT_ANSWERED` for an error in such a response
 */
function sampleOfResponse(call: ApiRequest, text: string): Result<AnswerSample> {
  const sample = readSample(text, 'the answer');
  if (!sample.ok || call.envelope === undefined) return sample;
  const { error, errors } = objectOr(sample.value.value);
  const firstError = Array.isArray(errors) ? (errors[0] as Json) : undefined;
  const problem = isObject(error) ? error : firstError;
  if (problem !== undefined) {
    const apiMessage = isObject(problem) ? textOr(problem.message) : textOr(problem);
    const message = `The API answers with an error: ${shorten(apiMessage, 200)}`;
    throw new CommandError('NOT_ANSWERED', message, 'Correct the command. Nothing was written.');
  }
  return pass({ ...sample.value, value: unwrapEnvelope(sample.value.value, call) });
}

/** An error for each flag that is for one tool, if there are several requests. */
export function singleRequestErrors(
  flags: { readonly [flag: string]: string | undefined },
  message: string,
  hint: (flag: string) => string,
): readonly InputError[] {
  return Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([flag, value]) => inputError(flag, value, message, hint(flag)));
}

/** The saved responses at these paths; `-` is standard input. */
export async function readSamples(paths: readonly string[]): Promise<Result<readonly AnswerSample[]>> {
  if (paths.length === 0) return pass([]);
  const read = paths.map(async (path) =>
    readSample(await readInput(path), path === '-' ? '--from-sample' : path),
  );
  return combineResults(await Promise.all(read));
}
