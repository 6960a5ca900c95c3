import { type Effect, effects, titleOf, verbIn } from 'market-mcp-contract/definition';
import { isObject, type JsonObject, membersOf } from 'market-mcp-contract/json';
import { hasToolName, suggestToolName } from '../../model/names.ts';
import type { DefinitionChange } from '../../model/tool-model.ts';
import { withSignals } from '../../tools/definition.ts';
import { wrapAnswer } from '../api-answer.ts';
import { type ApiCall, doneMember, type Imported } from '../imported-tool.ts';
import { mayBeJson, preferredJsonTypes } from '../media-type.ts';
import { type PageMembers, pageMembersIn, withPageMembers } from '../page-members.ts';
import { rootOf, wrapOf } from '../result-root.ts';
import { type AnswerSample, schemaOfSamples, shortened } from '../sample.ts';
import { successMembersOf } from '../success-signs.ts';
import type { Apis } from './api.ts';
import { toolDescription } from './describe.ts';
import { isFile } from './file.ts';
import { preferred } from './openapi-body.ts';
import { type DocumentPlace, type LocatedValue, type Lost, UnknownAnswer } from './openapi-document.ts';
import { examplesOf, fittingExamples, oldExamples, schemaExamples } from './openapi-examples.ts';
import { documentTypes } from './openapi-keywords.ts';
import { schemaOf } from './openapi-schema.ts';
import { type ApiOperation, mediaTypes, unlessBroken } from './operations.ts';
import { inputsOf } from './parameters.ts';

/** How an operation becomes a tool. */
export interface ToolOptions {
  /** The name of the tool. */
  readonly name: string;
  /** In its answer. */
  readonly maxSchemas?: number | undefined;
  /** The schema of the answer is not widened for the examples of the document. */
  readonly isStrict?: boolean | undefined;
  /** Real answers of the operation; they define its schema where the document does not. */
  readonly samples?: readonly AnswerSample[] | undefined;
}

/**
 * The tool of one operation, with its API request.
 *
 * @throws Refusal if the operation cannot become a tool
 */
export function toolOfOperation(operation: ApiOperation, apis: Apis, options: ToolOptions): Imported {
  const { name: tool } = options;
  const changes: DefinitionChange[] = [];
  const lost = (path: string, loss: string) =>
    changes.push({ tool, path, what: loss, why: 'a tool definition cannot express it' });
  const change = (path: string, description: string) =>
    changes.push({
      tool,
      path,
      what: description,
      why: 'tests and checks replay the examples as answers of the API',
    });
  const answer = operationAnswer(operation, options, { lost, told: change });
  const inputs = inputsOf(operation, apis.keys.isScheme, lost);
  const { api, prefix } = apis.of(operation);
  const needs = apis.keys.neededBy(operation, inputs.keys, prefix);
  const { method, path } = operation;
  const { properties, required, params, query, body } = inputs;
  const headers = [...inputs.headers];
  if (answer.mediaType !== undefined) headers.push({ name: 'accept', constant: answer.mediaType });
  const notFoundIsEmpty = method === 'get' && answer.hasNotFound;
  const { pages = new Set<never>() } = answer;
  const hasPages = method === 'get' && pages.size > 0 && query.length > 0;
  const success = successMembersOf((options.samples ?? []).map(({ value }) => value));
  const root = hasPages ? withPageMembers(answer.schema, properties, pages) : answer.schema;
  return {
    entry: {
      name: tool,
      title: titleOf(tool),
      description: toolDescription(operation, operation.found.members, api.title, answer.schema),
      inputSchema: { type: 'object', properties, required },
      outputSchema: withSignals(root),
      annotations: effects[operationEffect(method, tool)],
    },
    answers: answer.examples,
    changes,
    call: {
      ...(success && { success }),
      api,
      method,
      path,
      params,
      query,
      headers,
      needs,
      body,
      wrap: answer.wrap,
      ...(hasPages && { hasPages }),
      notFoundIsEmpty,
    },
  };
}

/** The tool name of an operation: its id if that has letters a to z, otherwise its method and path. */
export function toolNameOf({ id, method, path }: Pick<ApiOperation, 'id' | 'method' | 'path'>): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const hasId = id !== null && hasToolName(id);
  return suggestToolName(hasId ? id : [method, ...words].join('_'), method);
}

type Wrap = Exclude<ApiCall['wrap'], 'text'>;

interface Answer {
  readonly schema: JsonObject;
  readonly wrap: Wrap;
  readonly examples: readonly JsonObject[];
  readonly hasNotFound: boolean;
  readonly pages?: PageMembers;
  /** The media type of the answer, unless it is the usual one. */
  readonly mediaType?: string | undefined;
}

/** The successful answer. The root of an outputSchema is an object (C§2.1), so all other answers are wrapped. */
function operationAnswer(
  { found, method }: ApiOperation,
  { maxSchemas, isStrict = false, samples = [] }: ToolOptions,
  { lost, told: reportChange }: { readonly lost: Lost; readonly told: Lost },
): Answer {
  const responses = found.at('responses');
  const hasNotFound = Object.hasOwn(responses.members, '404');
  const { content, isEmpty, refusal } = successOf(found, responses);
  const mayBeEmpty = isEmpty && method !== 'get';
  if (content === null && samples.length === 0) {
    if (refusal) throw refusal;
    const reason = isEmpty ? 'its success response has no content' : 'it declares no success response';
    if (!mayBeEmpty) throw new UnknownAnswer(reason, responses.from);
    const schema = { properties: { done: doneMember }, required: ['done'] };
    return { schema, wrap: 'done', examples: [{ done: true }], hasNotFound };
  }
  const declaredSchema = content ? schemaOf(content.schema, 'output', lost, false, maxSchemas) : {};
  const answerSchema =
    samples.length > 0 && isBare(declaredSchema) ? schemaOfSamples(samples) : declaredSchema;
  const real = samples.map(({ name, value }) => ({ value: shortened(value, answerSchema), pointer: name }));
  const allAnswers = [...real, ...(content?.examples.slice(0, maxExamples) ?? [])];
  const { schema: converted, examples: answers } = fittingExamples(
    answerSchema,
    allAnswers,
    isStrict,
    reportChange,
  );
  const wrap = wrapOf(converted, answers);
  const root = rootOf(converted, wrap);
  return {
    schema: mayBeEmpty ? { ...root, properties: { done: doneMember, ...membersOf(root) } } : root,
    wrap,
    examples: answers.map((value) => wrapAnswer(value, wrap)).filter(isObject),
    hasNotFound,
    mediaType: content?.mediaType,
    pages: pageMembersIn(content?.response.members.headers),
  };
}

/** Of many examples of the document, so many are read. */
const maxExamples = 3;

/** Whether a schema declares neither members nor items. */
function isBare(schema: JsonObject): boolean {
  const { type, properties, additionalProperties, items, anyOf } = schema;
  if (type === 'array') return !isObject(items) || isBare(items);
  if (properties !== undefined || additionalProperties !== undefined || anyOf !== undefined) return false;
  return [type ?? 'object'].flat().includes('object');
}

/** Statuses of success with content, in order of preference. */
const successes = ['200', '201', '202', '203', '2XX', '2xx', '206', '207'];

interface Content {
  readonly response: DocumentPlace;
  /** Undefined if it is not JSON. */
  readonly schema: DocumentPlace | undefined;
  readonly pointer: string;
  readonly examples: readonly LocatedValue[];
  /** Unless it is the usual one. */
  readonly mediaType?: string | undefined;
}

interface Success {
  /** The first successful answer with a typed JSON schema. */
  readonly content: (Content & { readonly schema: DocumentPlace }) | null;
  /** Why the first answer with content has no such schema. */
  readonly refusal: UnknownAnswer | undefined;
  /** Whether a status of success is described without content. */
  readonly isEmpty: boolean;
}

function successOf(operation: DocumentPlace, responses: DocumentPlace): Success {
  const statusCodes = Object.keys(responses.members);
  const listed = successes.filter((status) => statusCodes.includes(status));
  // If a status of success is listed, `default` describes errors.
  const isDefault = listed.length === 0 && !statusCodes.some((code) => /^(?:20[45]|3..)$/i.test(code));
  let success: Success['content'] = null;
  let isEmpty = statusCodes.some((code) => /^20[45]$/.test(code));
  const refusals: UnknownAnswer[] = [];
  for (const status of isDefault && statusCodes.includes('default') ? ['default'] : listed) {
    const response = responses.at(status);
    const read = () => mediaTypes(operation, response);
    // After the answer is found, a reference that leads nowhere does no harm.
    const types = success ? unlessBroken(read) : read();
    if (types?.length === 0) isEmpty ||= !isDefault;
    if (success || !types || types.length === 0) continue;
    const content = responseContent(response, types);
    const { schema, pointer } = content;
    if (!schema) refusals.push(new UnknownAnswer('its success response is not JSON', pointer));
    else if (describesValues(schema)) success = { ...content, schema };
    else refusals.push(new UnknownAnswer('the schema of its success response declares no members', pointer));
  }
  return { content: success, refusal: refusals[0], isEmpty };
}

function responseContent(response: DocumentPlace, types: readonly string[]): Content {
  if (response.document.version === '2.0') {
    const schema = response.at('schema');
    const statedExamples = oldExamples(response);
    const examples = statedExamples.length > 0 ? statedExamples : schemaExamples(schema);
    const isOldList = () => documentTypes(schema.members).includes('array');
    const [type = types.find(mayBeJson)] = preferredJsonTypes(types, isOldList);
    const described = type === undefined ? undefined : schema;
    return { response, schema: described, pointer: schema.from, examples, mediaType: acceptedType(type) };
  }
  const content = response.at('content');
  const isList = (mediaType: string) =>
    documentTypes(content.at(mediaType, 'schema').members).includes('array');
  const candidates = [...preferredJsonTypes(types, isList), ...types.filter(mayBeJson)];
  const type = preferred(candidates, content);
  const none = { response, schema: undefined, examples: [] };
  const media = content.at(type ?? '');
  if (type === undefined || !isObject(media.value)) return { ...none, pointer: response.pointer };
  const schema = media.at('schema');
  const pointer = schema.from;
  if (type === '*/*' && isFile(schema.members)) return { ...none, pointer };
  return { response, schema, pointer, examples: examplesOf(media), mediaType: acceptedType(type) };
}

/** The `Accept` header for a declared type; undefined if it is the default, which every range includes. */
function acceptedType(type: string | undefined): string | undefined {
  const isUsual = type === 'application/json' || type === '*/*' || type === 'application/*';
  return isUsual ? undefined : type?.trim();
}

/** Whether a schema describes its values: members, items, a type, or subschemas that do. */
function describesValues({ members }: DocumentPlace): boolean {
  const describing = [
    'type',
    'properties',
    'items',
    'allOf',
    'oneOf',
    'anyOf',
    'enum',
    'additionalProperties',
  ];
  return describing.some((keyword) => members[keyword] !== undefined);
}

/** The effect of a method, unless the name of a POST says that it changes what exists: `cancelOrder`. */
export function operationEffect(method: ApiOperation['method'], name: string): Effect {
  const verb = verbIn(name);
  const changes =
    verb !== undefined && !verb.mayBeNoun && (verb.effect === 'changes' || verb.effect === 'acts');
  if (method === 'post' && changes) return 'acts';
  return effectOfMethod[method];
}

/** The effect of each HTTP method (RFC 9110 §9.2). */
const effectOfMethod = {
  get: 'reads',
  post: 'adds',
  put: 'changes',
  patch: 'acts',
  delete: 'changes',
} as const satisfies { readonly [method in ApiOperation['method']]: Effect };
