import { type Effect, effects, titleOf, verbIn } from 'market-mcp-contract/definition';
import { below, isObject, type Json, type JsonObject, membersOf, objectOr } from 'market-mcp-contract/json';
import type { DefinitionChange } from '../../model/model.ts';
import { suggestToolName } from '../../model/names.ts';
import { withSignals } from '../../tools/definition.ts';
import { wrapped } from '../answer.ts';
import { type ApiCall, done, type Imported } from '../model.ts';
import { type PageMembers, pageMembersIn, withPageMembers } from '../pages.ts';
import { rootOf, wrapOf } from '../root.ts';
import { type AnswerSample, schemaOfSamples, shortened } from '../sample.ts';
import { successMembersOf } from '../success.ts';
import type { Apis } from './api.ts';
import { isJsonType, mayBeJson, preferred } from './body.ts';
import { toolDescription } from './describe.ts';
import { type Lost, type OpenApiDocument, type Resolved, UnknownAnswer } from './document.ts';
import { examplesOf, fitting, oldExamples, schemaExamples } from './examples.ts';
import { isFile } from './file.ts';
import { type ApiOperation, mediaTypes, unlessBroken } from './operations.ts';
import { inputsOf } from './parameters.ts';
import { schemaOf } from './schema.ts';

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
export function toolOfOperation(
  document: OpenApiDocument,
  operation: ApiOperation,
  apis: Apis,
  options: ToolOptions,
): Imported {
  const { name: tool } = options;
  const changes: DefinitionChange[] = [];
  const lost = (path: string, what: string) =>
    changes.push({ tool, path, what, why: 'a tool definition cannot express it' });
  const told = (path: string, what: string) =>
    changes.push({ tool, path, what, why: 'tests and checks replay the examples as answers of the API' });
  const answer = answerOf(document, operation, options, { lost, told });
  const inputs = inputsOf(document, operation, apis.keys.isScheme, lost);
  const { api, prefix } = apis.of(operation);
  const needs = apis.keys.neededBy(operation, inputs.keys, prefix);
  const { method, path } = operation;
  const { properties, required, params, query, headers, body } = inputs;
  const notFoundIsEmpty = method === 'get' && answer.hasNotFound;
  const { pages = new Set<never>() } = answer;
  const hasPages = method === 'get' && pages.size > 0 && query.length > 0;
  const success = successMembersOf((options.samples ?? []).map(({ value }) => value));
  const root = hasPages ? withPageMembers(answer.schema, properties, pages) : answer.schema;
  return {
    entry: {
      name: tool,
      title: titleOf(tool),
      description: toolDescription(operation, api.title, answer.schema),
      inputSchema: { type: 'object', properties, required },
      outputSchema: withSignals(root),
      annotations: effects[effectOf(method, tool)],
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

/** The tool name of an operation: its id, else its method and path. */
export function toolNameOf({ id, method, path }: Pick<ApiOperation, 'id' | 'method' | 'path'>): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return suggestToolName(id ?? [method, ...words].join('_'));
}

type Wrap = Exclude<ApiCall['wrap'], 'text'>;

interface Answer {
  readonly schema: JsonObject;
  readonly wrap: Wrap;
  readonly examples: readonly JsonObject[];
  readonly hasNotFound: boolean;
  readonly pages?: PageMembers;
}

/** The successful answer. The root of an outputSchema is an object (C§2.1), so all other answers are wrapped. */
function answerOf(
  document: OpenApiDocument,
  { found, method }: ApiOperation,
  { maxSchemas, isStrict = false, samples = [] }: ToolOptions,
  { lost, told }: { readonly lost: Lost; readonly told: Lost },
): Answer {
  const at = below(found.pointer, 'responses');
  const responses = isObject(found.value.responses) ? found.value.responses : {};
  const hasNotFound = Object.hasOwn(responses, '404');
  const { content, isEmpty, refusal } = successOf(document, found, responses, at);
  const mayBeEmpty = isEmpty && method !== 'get';
  if (content === null && samples.length === 0) {
    if (refusal) throw refusal;
    const reason = isEmpty ? 'its success response has no content' : 'it declares no success response';
    if (!mayBeEmpty) throw new UnknownAnswer(reason, at);
    const schema = { properties: { done }, required: ['done'] };
    return { schema, wrap: 'done', examples: [{ done: true }], hasNotFound };
  }
  const { given = {}, pointer = at, examples = [], response = {} } = content ?? {};
  const said = schemaOf(document, given, pointer, 'output', lost, false, maxSchemas);
  const declared = samples.length > 0 && isBare(said) ? schemaOfSamples(samples) : said;
  const real = samples.map(({ name, value }) => ({ value: shortened(value, declared), pointer: name }));
  const all = [...real, ...examples.slice(0, maxExamples)];
  const { schema: converted, examples: answers } = fitting(declared, all, isStrict, told);
  const wrap = wrapOf(converted, answers);
  const root = rootOf(converted, wrap);
  return {
    schema: mayBeEmpty ? { ...root, properties: { done, ...membersOf(root) } } : root,
    wrap,
    examples: answers.map((value) => wrapped(value, wrap)).filter(isObject),
    hasNotFound,
    pages: pageMembersIn(response.headers),
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
  /** Undefined if it is not JSON. */
  readonly given: Json | undefined;
  readonly pointer: string;
  readonly examples: readonly Resolved[];
}

interface Success {
  /** The first successful answer with a typed JSON schema. */
  readonly content: (Content & { readonly given: Json; readonly response: JsonObject }) | null;
  /** Why the first answer with content has no such schema. */
  readonly refusal: UnknownAnswer | undefined;
  /** Whether a status of success is described without content. */
  readonly isEmpty: boolean;
}

function successOf(
  document: OpenApiDocument,
  operation: Resolved<JsonObject>,
  responses: JsonObject,
  at: string,
): Success {
  const named = Object.keys(responses);
  const listed = successes.filter((status) => named.includes(status));
  // If a status of success is listed, `default` describes errors.
  const isDefault = listed.length === 0 && !named.some((code) => /^(?:20[45]|3..)$/i.test(code));
  let success: Success['content'] = null;
  let isEmpty = named.some((code) => /^20[45]$/.test(code));
  const refusals: UnknownAnswer[] = [];
  for (const status of isDefault && named.includes('default') ? ['default'] : listed) {
    const read = () => document.object(responses[status], below(at, status));
    // After the answer is found, a reference that leads nowhere does no harm.
    const response: Resolved<JsonObject> | undefined = success
      ? unlessBroken(read)
      : (read() ?? { value: {}, pointer: below(at, status) });
    const types = response && mediaTypes(document, operation, response.value);
    if (types?.length === 0) isEmpty ||= !isDefault;
    if (success || !types || types.length === 0) continue;
    const content = contentOf(document, response, types);
    if (content.given === undefined) {
      refusals.push(new UnknownAnswer('its success response is not JSON', content.pointer));
    } else if (isTyped(document, content.given, content.pointer)) {
      success = { ...content, given: content.given, response: response.value };
    } else {
      refusals.push(
        new UnknownAnswer('the schema of its success response declares no members', content.pointer),
      );
    }
  }
  return { content: success, refusal: refusals[0], isEmpty };
}

function contentOf(
  document: OpenApiDocument,
  found: Resolved<JsonObject>,
  types: readonly string[],
): Content {
  const { value: response, pointer } = found;
  if (document.version === '2.0') {
    const given = types.some(mayBeJson) ? response.schema : undefined;
    const at = below(pointer, 'schema');
    const own = oldExamples(found);
    return { given, pointer: at, examples: own.length > 0 ? own : schemaExamples(document, given, at) };
  }
  const content = objectOr(response.content);
  const hasSchema = (type: string) => isObject(content[type]) && content[type].schema !== undefined;
  const type = preferred([...types.filter(isJsonType), ...types.filter(mayBeJson)], hasSchema);
  const media =
    type === undefined ? undefined : document.object(content[type], below(pointer, 'content', type));
  if (!media) return { given: undefined, pointer, examples: [] };
  const at = below(media.pointer, 'schema');
  const isBinary = type === '*/*' && isFile(document.object(media.value.schema, at)?.value ?? {});
  const given = isBinary ? undefined : (media.value.schema ?? {});
  return { given, pointer: at, examples: isBinary ? [] : examplesOf(document, media) };
}

/** Whether a schema describes its values: members, items, a type, or subschemas that do. */
function isTyped(document: OpenApiDocument, given: Json, pointer: string): boolean {
  const schema = document.object(given, pointer)?.value;
  return (
    schema !== undefined &&
    ['type', 'properties', 'items', 'allOf', 'oneOf', 'anyOf', 'enum', 'additionalProperties'].some(
      (keyword) => schema[keyword] !== undefined,
    )
  );
}

/** The effect of a method, unless the name of a POST says that it changes what exists: `cancelOrder`. */
export function effectOf(method: ApiOperation['method'], name: string): Effect {
  const verb = verbIn(name);
  const changes =
    verb !== undefined && !verb.mayBeNoun && (verb.effect === 'changes' || verb.effect === 'acts');
  return method === 'post' && changes ? 'acts' : effectOfMethod[method];
}

/** The effect of each HTTP method (RFC 9110 §9.2). */
const effectOfMethod = {
  get: 'reads',
  post: 'adds',
  put: 'changes',
  patch: 'acts',
  delete: 'changes',
} as const satisfies { readonly [method in ApiOperation['method']]: Effect };
