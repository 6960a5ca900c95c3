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
  doneMember,
  type ImportedTool,
  type RecordedRequest,
  type Recording,
} from './imported-tool.ts';
import { withoutPageMembers } from './page-members.ts';
import { jsonForm, requestOptions } from './request-options.ts';

/**
 * The first recordings of a tool: the answers to the calls that tests and checks make, which are the tool's examples and the
 * marketplace's test. An answer is a real exchange if one was made, or else made up until the author records it.
 */
export function initialRecordings(
  tool: ImportedTool,
  call: ApiCall,
  smoke: PlatformProfile['smoke'],
): readonly Recording[] {
  const { definition, keyParameter, samples, examples, exchanges = [] } = tool;
  const tested = { arguments: sampleArguments(definition.inputSchema, smoke), expect: 'found' as const };
  const recordings = [...examples, tested]
    .filter(({ expect }) => expect !== 'fail')
    .map(({ arguments: exampleArguments, expect }): Recording => {
      const args = withDefaults(definition.inputSchema, exampleArguments);
      const request = requestOf(call, args);
      const requestText = JSON.stringify(request);
      const real = exchanges.find(
        (exchange) => JSON.stringify(requestOf(call, exchange.arguments)) === requestText,
      );
      if (real?.answer === null) {
        const nothing =
          call.envelope && !call.notFoundIsEmpty
            ? { status: 200, body: encloseContent(null, call) }
            : { status: 404 };
        return { request, ...nothing, from: 'recorded' };
      }
      if (real) {
        const headers = real.headers && { headers: real.headers };
        return {
          request,
          status: 200,
          ...headers,
          body: recordedBody(real.answer ?? {}, call),
          from: 'recorded',
        };
      }
      if (expect === 'empty') return { request, status: 404, from: 'document' };
      const key = keyParameter === null ? null : args[keyParameter];
      const sample = samples.find((candidate) => candidate.key === key) ?? samples[0];
      if (call.wrap === 'done') return { request, status: 204, from: 'document' };
      const content = withoutDone(sample?.answer ?? {}, definition.outputSchema);
      const body = recordedBody(
        call.hasPages ? withoutPageMembers(content, definition.outputSchema) : content,
        call,
      );
      return { request, status: 200, body, from: 'document' };
    });
  const requests = recordings.map(({ request }) => JSON.stringify(request));
  return recordings.filter((_, i) => requests.indexOf(requests[i] ?? '') === i);
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
export function completed(
  existing: Recording,
  fresh: Recording,
  tool: ImportedTool,
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

/** The name of the recordings file of a path: the same as `recordingFile` of market-mcp-runtime, which this program does not load. */
export function recordingFile({ method, path }: Pick<ApiCall, 'method' | 'path'>): string {
  const words = path
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return `${method}-${words}`.slice(0, 100).concat('.json');
}

/** The arguments after the server has applied defaults. */
function withDefaults(inputSchema: JsonObject, givenArguments: JsonObject): JsonObject {
  const args = structuredClone(givenArguments);
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
