import { type Effect, effects, titleOf, verbIn } from 'market-mcp-contract/definition';
import { isObject, type JsonObject, membersOf } from 'market-mcp-contract/json';
import { hasToolName, suggestToolName } from '../../model/names.ts';
import type { DefinitionChange } from '../../model/tool-model.ts';
import { withSignals } from '../../tools/definition.ts';
import { wrapAnswer } from '../api-answer.ts';
import { toolDescription } from '../describe.ts';
import { type ApiCall, type ApiRequest, doneMember, type ImportedTool } from '../imported-tool.ts';
import { mayBeJson, preferredJsonTypes } from '../media-type.ts';
import { type PageMembers, pageMembersIn, withPageMembers } from '../page-members.ts';
import { answerRoot, requiredWrap } from '../result-root.ts';
import { type AnswerSample, schemaOfSamples, shortened } from '../sample.ts';
import { successMembersOf } from '../success-signs.ts';
import { toolToDo } from '../to-do.ts';
import type { Apis } from './api.ts';
import { isFile } from './file.ts';
import { preferred } from './openapi-body.ts';
import { type DocumentPlace, type LocatedValue, type Lost, UnknownAnswer } from './openapi-document.ts';
import { examplesOf, fittingExamples, oldExamples, schemaExamples } from './openapi-examples.ts';
import { documentTypes } from './openapi-keywords.ts';
import { schemaOf } from './openapi-schema.ts';
import { type ApiOperation, mediaTypes, unlessBroken } from './operations.ts';
import { inputsOf } from './parameters.ts';

/** How an operation is read. */
export interface ReadOptions {
  /** The name of the tool. */
  readonly name: string;
  /** In its answer. */
  readonly maxSchemas?: number | undefined;
  /** A real answer will define the schema where the document does not. */
  readonly hasSamples: boolean;
}

/** An operation that was read: its request, and its answer as the document declares it. */
export interface OperationDraft {
  /** The name of the tool. */
  readonly name: string;
  readonly operation: ApiOperation;
  readonly request: ApiRequest & Pick<ApiOperation, 'method'>;
  readonly properties: JsonObject;
  readonly inputSchema: JsonObject;
  readonly answer: DeclaredAnswer;
  /** What the inputSchema cannot express. */
  readonly inputChanges: readonly DefinitionChange[];
}

/**
 * Reads an operation.
 *
 * @throws Refusal if the operation cannot become a tool
 */
export function readOperation(operation: ApiOperation, apis: Apis, options: ReadOptions): OperationDraft {
  const { name } = options;
  const answer = declaredAnswer(operation, options);
  const inputChanges: DefinitionChange[] = [];
  const inputs = inputsOf(operation, apis.keys.isScheme, lossesOf(name, inputChanges));
  const { api, prefix } = apis.of(operation);
  const acceptedKeys = apis.keys.neededBy(operation, inputs.keys, prefix);
  const { method, path } = operation;
  const { properties, required, params, query, body } = inputs;
  const headers = [...inputs.headers];
  const mediaType = answer.content?.mediaType;
  if (mediaType !== undefined) headers.push({ name: 'accept', constant: mediaType });
  const request = { api, method, path, params, query, headers, acceptedKeys, body };
  const inputSchema = { type: 'object', properties, required };
  return { name, operation, request, properties, inputSchema, answer, inputChanges };
}

/** Collects what the definition of a tool cannot express. */
function lossesOf(tool: string, changes: DefinitionChange[]): Lost {
  return (path, loss) => changes.push({ tool, path, what: loss, why: 'a tool definition cannot express it' });
}

/**
 * Makes the tool of an operation.
 *
 * @param samples real answers of the operation; they define its schema where the document does not
 * @param isStrict the schema of the answer is not widened for the examples of the document
 */
export function toolOfDraft(
  { name, operation, request, properties, inputSchema, answer: declared, inputChanges }: OperationDraft,
  samples: readonly AnswerSample[],
  isStrict: boolean,
): ImportedTool {
  const { method } = request;
  const { title } = request.api;
  const answer = toolAnswer(declared, name, samples, isStrict);
  const { pages } = declared;
  const hasPages = method === 'get' && pages.size > 0 && request.query.length > 0;
  const success = successMembersOf(samples.map(({ value }) => value));
  const root = hasPages ? withPageMembers(answer.schema, properties, pages) : answer.schema;
  return {
    entry: {
      name,
      title: titleOf(name),
      description: toolDescription(operation, operation.found.members, title, answer.schema) ?? toolToDo,
      inputSchema,
      outputSchema: withSignals(root),
      annotations: effects[operationEffect(method, name)],
    },
    sampleAnswers: answer.examples,
    changes: [...declared.changes, ...answer.changes, ...inputChanges],
    call: {
      ...(success && { success }),
      ...request,
      wrap: answer.wrap,
      ...(hasPages && { hasPages }),
      notFoundIsEmpty: method === 'get' && declared.hasNotFound,
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

/** The successful answer as the document declares it. */
interface DeclaredAnswer {
  /** Null if it has none that is JSON. */
  readonly content: Success['content'];
  readonly schema: JsonObject;
  /** Success may also have no content. */
  readonly mayBeEmpty: boolean;
  readonly hasNotFound: boolean;
  readonly pages: PageMembers;
  /** What the schema cannot express. */
  readonly changes: readonly DefinitionChange[];
}

/** @throws UnknownAnswer if the document describes none, and no real answer will do it */
function declaredAnswer(
  { found, method }: ApiOperation,
  { name, maxSchemas, hasSamples }: ReadOptions,
): DeclaredAnswer {
  const responses = found.at('responses');
  const hasNotFound = Object.hasOwn(responses.members, '404');
  const { content, isEmpty, refusal } = successOf(found, responses);
  const mayBeEmpty = isEmpty && method !== 'get';
  if (content === null && !hasSamples) {
    if (refusal) throw refusal;
    const reason = isEmpty ? 'its success response has no content' : 'it declares no success response';
    if (!mayBeEmpty) throw new UnknownAnswer(reason, responses.from);
  }
  const changes: DefinitionChange[] = [];
  const schema = content
    ? schemaOf(content.schema, 'output', lossesOf(name, changes), false, maxSchemas)
    : {};
  const pages = pageMembersIn(content?.response.members.headers);
  return { content, schema, mayBeEmpty, hasNotFound, pages, changes };
}

/** The answer of a tool, with the changes that its examples made. */
interface ToolAnswer {
  readonly schema: JsonObject;
  readonly wrap: Wrap;
  readonly examples: readonly JsonObject[];
  readonly changes: readonly DefinitionChange[];
}

/** The root of an outputSchema is an object (C§2.1), so all other answers are wrapped. */
function toolAnswer(
  { content, schema: declaredSchema, mayBeEmpty }: DeclaredAnswer,
  tool: string,
  samples: readonly AnswerSample[],
  isStrict: boolean,
): ToolAnswer {
  if (content === null && samples.length === 0) {
    const schema = { properties: { done: doneMember }, required: ['done'] };
    return { schema, wrap: 'done', examples: [{ done: true }], changes: [] };
  }
  const changes: DefinitionChange[] = [];
  const reportChange: Lost = (path, description) =>
    changes.push({
      tool,
      path,
      what: description,
      why: 'tests and checks replay the examples as answers of the API',
    });
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
  const wrap = requiredWrap(converted, answers);
  const root = answerRoot(converted, wrap);
  return {
    schema: mayBeEmpty ? { ...root, properties: { done: doneMember, ...membersOf(root) } } : root,
    wrap,
    examples: answers.map((value) => wrapAnswer(value, wrap)).filter(isObject),
    changes,
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
  let success: Success['content'] = null;
  let isEmpty = statusCodes.some((code) => /^20[45]$/.test(code));
  const refusals: UnknownAnswer[] = [];
  for (const status of successStatuses(statusCodes)) {
    const response = responses.at(status);
    const read = () => mediaTypes(operation, response);
    // After the answer is found, a reference that leads nowhere does no harm.
    const types = success ? unlessBroken(read) : read();
    if (types?.length === 0) isEmpty ||= status !== 'default';
    if (success || !types || types.length === 0) continue;
    const content = responseContent(response, types);
    const { schema, pointer } = content;
    if (!schema) refusals.push(new UnknownAnswer('its success response is not JSON', pointer));
    else if (describesValues(schema)) success = { ...content, schema };
    else refusals.push(new UnknownAnswer('the schema of its success response declares no members', pointer));
  }
  return { content: success, refusal: refusals[0], isEmpty };
}

/** The statuses that describe success. If a status of success is listed, `default` describes errors. */
function successStatuses(statusCodes: readonly string[]): readonly string[] {
  const listedStatuses = successes.filter((status) => statusCodes.includes(status));
  const hasOtherSuccess = statusCodes.some((code) => /^(?:20[45]|3..)$/i.test(code));
  if (listedStatuses.length > 0 || hasOtherSuccess) return listedStatuses;
  return statusCodes.filter((code) => code === 'default');
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
  if (isUsual) return undefined;
  return type?.trim();
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
