import type { ToolExample } from 'market-mcp-contract/definition';
import {
  clientMismatches,
  compileSchema,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
} from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { sampleArguments } from 'market-mcp-contract/wire';
import { unwrapEnvelope, wrapAnswer } from './api-answer.ts';
import {
  type ApiCall,
  type ApiRequest,
  type CheckedTool,
  doneMember,
  type RecordedRequest,
  type Recording,
  type ToolExchange,
} from './imported-tool.ts';
import { withoutPageMembers } from './page-members.ts';
import { jsonForm, requestOptions } from './request-options.ts';

/**
 * The first recordings of a tool: the answers to the calls that tests and checks make, which are the tool's examples and the
 * marketplace's test. An answer is a real exchange if one was made, or else made up until the author records it.
 */
export function initialRecordings(
  tool: CheckedTool,
  call: ApiCall,
  testValues: PlatformProfile['smoke'],
): readonly Recording[] {
  const { inputSchema } = tool.definition;
  const submissionTest: ToolExample = {
    arguments: sampleArguments(inputSchema, testValues),
    expect: 'found',
  };
  const recordings = new Map<string, Recording>();
  for (const { arguments: exampleArguments, expect } of [...tool.examples, submissionTest]) {
    if (expect === 'fail') continue;
    const args = withDefaults(inputSchema, exampleArguments);
    const request = requestOf(call, args);
    const requestText = JSON.stringify(request);
    if (recordings.has(requestText)) continue;
    const exchange = tool.exchanges?.find(
      (candidate) => JSON.stringify(requestOf(call, candidate.arguments)) === requestText,
    );
    const response = exchange ? realResponse(exchange, call) : inventedResponse(args, expect, tool, call);
    recordings.set(requestText, { request, ...response });
  }
  return [...recordings.values()];
}

type RecordedResponse = Omit<Recording, 'request'>;

/** The response of an API that was really asked. */
function realResponse({ answer, headers }: ToolExchange, call: ApiCall): RecordedResponse {
  if (answer !== null) {
    const recordedHeaders = headers && { headers };
    return { status: 200, ...recordedHeaders, body: recordedBody(answer, call), from: 'recorded' };
  }
  const isEmptyEnvelope = call.envelope !== undefined && !call.notFoundIsEmpty;
  if (isEmptyEnvelope) return { status: 200, body: encloseContent(null, call), from: 'recorded' };
  return { status: 404, from: 'recorded' };
}

/** A response with sample data, until the author records a real one. */
function inventedResponse(
  args: JsonObject,
  expect: ToolExample['expect'],
  { definition, keyParameter, samples }: CheckedTool,
  call: ApiCall,
): RecordedResponse {
  if (expect === 'empty') return { status: 404, from: 'document' };
  if (call.wrap === 'done') return { status: 204, from: 'document' };
  const key = keyParameter === null ? null : args[keyParameter];
  const sample = samples.find((candidate) => candidate.key === key) ?? samples[0];
  const { outputSchema } = definition;
  const content = withoutDone(sample?.answer ?? {}, outputSchema);
  const answer = call.hasPages ? withoutPageMembers(content, outputSchema) : content;
  return { status: 200, body: recordedBody(answer, call), from: 'document' };
}

/** An answer with content: `done` stands for one without, unless the API has it. */
function withoutDone(answer: JsonObject, outputSchema: JsonObject): JsonObject {
  if (objectOr(membersOf(outputSchema).done).description !== doneMember.description) return answer;
  const { done: _, ...content } = answer;
  return content;
}

/**
 * A recording that another tool may have made of the same request, with the made-up members that this tool needs, if it was reduced
 * to other fields. With them, it is not a real exchange.
 */
export function completeRecording(
  existing: Recording,
  fresh: Recording,
  tool: CheckedTool,
  call: ApiCall,
): Recording {
  if (existing.status !== 200 || fresh.status !== 200) return existing;
  const { outputSchema } = tool.definition;
  if (clientMismatches(outputSchema, recordedToolAnswer(existing, call), '').length === 0) return existing;
  const body = merged(existing.body ?? null, fresh.body ?? null);
  const completedRecording: Recording = { ...existing, body, from: 'document' };
  if (clientMismatches(outputSchema, recordedToolAnswer(completedRecording, call), '').length === 0)
    return completedRecording;
  return existing;
}

/** Both values: the members of both objects at any depth; where they differ, the first one. */
function merged(first: Json, second: Json): Json {
  if (Array.isArray(first) && Array.isArray(second)) {
    const otherItems: readonly Json[] = second;
    return first.map((item: Json, i) => merged(item, otherItems[i] ?? otherItems[0] ?? item));
  }
  if (!isObject(first) || !isObject(second)) return first;
  const members = Object.entries(first).map(([name, member]) => [
    name,
    merged(member, second[name] ?? member),
  ]);
  return { ...second, ...Object.fromEntries(members) };
}

/** The recorded answer in the form of the tool. */
function recordedToolAnswer({ body = null }: Recording, call: ApiCall): Json {
  return wrapAnswer(unwrapEnvelope(body, call), call.wrap);
}

/** The path of the file with the recordings of a path. `recordingFile` of market-mcp-runtime, which is not loaded here, gives the same name. */
export function recordingPath({ method, path }: Pick<ApiCall, 'method' | 'path'>): string {
  const words = path
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const name = `${method}-${words}`.slice(0, 100);
  return `test/recordings/${name}.json`;
}

/** The arguments after the server has applied defaults. */
function withDefaults(inputSchema: JsonObject, callArguments: JsonObject): JsonObject {
  const args = structuredClone(callArguments);
  compileSchema(inputSchema, { useDefaults: true })(args);
  return args;
}

/** The request of a call with these arguments. */
export function requestOf(call: ApiRequest, args: JsonObject): RecordedRequest {
  const { method, path, body, nulls = [] } = call;
  if (method === 'call')
    return { method, path, json: { ...Object.fromEntries(nulls.map((name) => [name, null])), ...args } };
  const recordedNames = ['params', 'query', 'headers', body?.kind];
  const parts = requestOptions(call, jsonForm(args)).filter(([name]) => recordedNames.includes(name));
  return { method, path, ...Object.fromEntries(parts) };
}

/** The answer in the API's form. */
function recordedBody(answer: JsonObject, call: ApiCall): Json {
  return encloseContent(unwrapAnswer(answer, call), call);
}

function encloseContent(content: Json, { envelope }: ApiCall): Json {
  if (envelope === 'graphql') return { data: content };
  if (envelope) return { jsonrpc: '2.0', id: 1, result: content };
  return content;
}

function unwrapAnswer(answer: JsonObject, { wrap, method }: ApiCall): Json {
  if (wrap === 'text') return { content: [{ type: 'text', text: answer.result ?? '' }] };
  const member = wrap === null ? answer : answer[wrap];
  // Of a list, `--fields` may keep only the number of its items. An empty result need not be a list.
  if (wrap === 'items' && member === undefined)
    return !Object.hasOwn(answer, 'count')
      ? answer
      : Array.from({ length: Number(answer.count) || 0 }, () => ({}));
  if (method === 'call') return { structuredContent: member ?? {}, content: [] };
  return member ?? null;
}
