import {
  closest,
  type InputError,
  inputError,
  orList,
  pass,
  type Result,
  refuse,
  uriDecoded,
} from 'market-mcp-contract/command';
import { hasToolName, suggestToolName } from '../../model/names.ts';
import type { Field } from '../../model/tool-model.ts';
import { apiAt, apiName } from '../api-name.ts';
import { digitsPattern } from '../digit-texts.ts';
import type { ApiCall, ApiVariable, KeySource } from '../imported-tool.ts';
import { toolNameOf } from '../openapi/openapi-tool.ts';
import type { AuthorRequest, Method } from './author-request.ts';
import { curlRequest } from './curl-options.ts';
import type { KeylessCommand } from './curl-text.ts';
import { requireSendableHeaders } from './headers.ts';
import { keylessLine } from './keyless-line.ts';
import type { SegmentInput } from './path-segments.ts';
import { type Protocol, protocolOf } from './protocols.ts';
import { RequestBinder, requireNoKey } from './request-binder.ts';
import { contentTypeOf, type RequestBody, requestBody } from './request-body.ts';
import { catchRefusal } from './request-refusal.ts';

/** The author's statements about the arguments of a request. */
export interface ArgumentChoice {
  /** Replace those that the request shows, by name. */
  readonly input: readonly Field[];
  /** Names of those that stay unchanged. */
  readonly constants: readonly string[];
  /** Segments of the path that become arguments. */
  readonly segments?: readonly SegmentInput[];
  /** What the project's APIs already have: addresses and keys. */
  readonly variables?: readonly ApiVariable[];
}

/** A parsed request: the call of the tool, its inputs, and where its keys come from. */
export interface ParsedRequest {
  readonly call: ApiCall & { readonly method: Method };
  readonly input: readonly Field[];
  /** Where the value of each key is, by the project's variable for it. */
  readonly keySources: ReadonlyMap<string, KeySource>;
  readonly notes: RequestBinder['notes'];
  /** Arguments made from path segments by a guess. */
  readonly guessedInputs: readonly string[];
  /** Segments of the path that stay constant, and may be values. */
  readonly constantSegments: readonly SegmentInput[];
  /** The name of the tool, if its author gives none. */
  readonly name: string;
  readonly onlyReads: boolean;
}

/** A curl command as a request, and the command that repeats it without its keys. */
export interface CurlCommand {
  readonly request: AuthorRequest;
  readonly keyless: KeylessCommand;
}

/** Parses a curl command. */
export function parseCurl(text: string): Result<CurlCommand> {
  return catchRefusal(() => {
    const request = curlRequest(text);
    // The keys do not depend on which values are arguments.
    const parsed = parseRequest(request, { input: [], constants: [] });
    if (!parsed.ok) return parsed;
    const { call, keySources } = parsed.value;
    const keyless = { line: keylessLine(request, call), variables: [...keySources.keys()] };
    return pass({ request, keyless });
  });
}

/** Turns a request into the call of a tool: its arguments, its constants and its keys. */
export function parseRequest(request: AuthorRequest, choice: ArgumentChoice): Result<ParsedRequest> {
  return catchRefusal(() => bindRequest(request, choice));
}

/** @throws RequestRefusal if no tool can send the request */
function bindRequest(request: AuthorRequest, choice: ArgumentChoice): Result<ParsedRequest> {
  if (request.refusal) throw request.refusal;
  requireSendableHeaders(request);
  const { input: statedFields, variables = [] } = choice;
  const url = new URL(request.url);
  const { file, prefix, title } = apiOfUrl(url, variables);
  const binder = new RequestBinder({ prefix, title }, request, choice, variables);
  const content = requestBody(request);
  const protocol =
    request.method === 'post' && content?.kind === 'json' ? protocolOf(content.value) : undefined;
  const { pathTemplate, ...boundParts } = bindParts(request, content, protocol, choice, binder);
  binder.notes.push(...digitsNotes(derivedFields(binder, statedFields)), ...pipeNotes(request));
  const errors = argumentErrors(choice, url, binder);
  if (errors.length > 0) return refuse(...errors);
  const onlyReads = isReadOnlyRequest(request, protocol);
  const call: ParsedRequest['call'] = {
    api: apiAt(url.origin, { file, prefix, title }),
    method: request.method,
    ...boundParts,
    acceptedKeys: [binder.keys.apiKeys],
    wrap: null,
    envelope: protocol?.envelope,
    notFoundIsEmpty: false,
  };
  return pass({
    call,
    input: binder.fields.map((field) => withStatement(field, statedFields)),
    keySources: binder.keys.sources,
    notes: binder.notes,
    guessedInputs: binder.guessedInputs,
    constantSegments: binder.constantSegments,
    name: toolNameOfRequest(request.method, pathTemplate, file, protocol, onlyReads),
    onlyReads,
  });
}

/** The parts of a call. `path` may end with a query that is no `name=value`, such as `?wsdl`; `pathTemplate` is without it. */
interface BoundParts extends Pick<ApiCall, 'path' | 'params' | 'query' | 'headers' | 'body'> {
  readonly pathTemplate: string;
}

/** Binds the parts in the order of the request, because the notes of the binder have this order. */
function bindParts(
  request: AuthorRequest,
  content: RequestBody | null,
  protocol: Protocol | undefined,
  { segments = [] }: ArgumentChoice,
  binder: RequestBinder,
): BoundParts {
  const [, pathText = '/', queryText = ''] = /^[^:]+:\/\/[^/?#]*([^?]*)\??(.*)$/s.exec(request.url) ?? [];
  const { path: pathTemplate, params } = binder.bindPath(pathText || '/');
  if (segments.length === 0) binder.notes.push(...constantSegmentNotes(binder));
  const { pairs, rest } = splitQuery(queryText);
  const path = rest === '' ? pathTemplate : `${pathTemplate}?${rest}`;
  const query = binder.bindQuery(pairs);
  const headers = binder.bindHeaders(request.headers);
  const type = contentTypeOf(request);
  const body = binder.bindBody(content, type, protocol);
  if (body === null && type !== '') headers.push({ name: 'content-type', constant: type });
  return { pathTemplate, path, params, query, headers, body };
}

/** The fields that the request shows and the author has not described. */
function derivedFields({ fields }: RequestBinder, statedFields: readonly Field[]): readonly Field[] {
  return fields.filter((field) => !statedFields.some(({ name }) => name === field.name));
}

function pipeNotes({ pipe }: AuthorRequest): RequestBinder['notes'] {
  if (pipe === undefined) return [];
  return [
    {
      path: 'request',
      what: `${pipe} was dropped`,
      why: 'it only changes how the response is printed; --fields chooses fields of it',
    },
  ];
}

/** The errors of flags that name no argument of the request, or give one two roles. */
function argumentErrors(
  { input, constants }: ArgumentChoice,
  url: URL,
  binder: RequestBinder,
): readonly InputError[] {
  const inputNames = input.map(({ name }) => name);
  const namesStatedTwice = inputNames.filter((name) => constants.includes(name));
  return [
    ...binder.unknownSegments.map((segment) => unknownSegmentError(segment, url)),
    ...unknownNameErrors('--constant', constants, binder),
    ...unknownNameErrors('--input', inputNames, binder),
    ...namesStatedTwice.map((name) =>
      inputError('--constant', name, 'is an --input, too', 'Remove one: a constant is no input.'),
    ),
  ];
}

/** Whether a request only reads. A header that replaces its method leaves this open. */
function isReadOnlyRequest({ method, headers }: AuthorRequest, protocol: Protocol | undefined): boolean {
  const isMethodReplaced = headers.some(([name]) => /^x-(?:http-)?method(?:-override)?$/.test(name));
  return !isMethodReplaced && (method === 'get' || protocol?.onlyReads === true);
}

/** The name of the tool: from the operation of its protocol, else from its path, else from its API. */
function toolNameOfRequest(
  method: Method,
  pathTemplate: string,
  apiFile: string,
  protocol: Protocol | undefined,
  onlyReads: boolean,
): string {
  const operationName = protocol ? nameFromOperation(protocol.operation, onlyReads) : null;
  if (operationName !== null) return operationName;
  const path = toSnakeCase(resourcePath(pathTemplate));
  return toolNameOf({ id: null, method, path: /[a-z]/.test(path) ? path : `/${apiFile}` });
}

/** Names the segments of the path that stay constant although they may be values. */
function constantSegmentNotes({ constantSegments }: RequestBinder): RequestBinder['notes'] {
  const [first] = constantSegments;
  if (first === undefined) return [];
  const values = constantSegments.map(({ value }) => value).join(', ');
  const verb = constantSegments.length === 1 ? 'stays' : 'stay';
  return [
    {
      path: 'path',
      what: `${values} ${verb} constant`,
      why: `--segment ${first.name}=${first.value} makes ${first.value} an argument`,
    },
  ];
}

function unknownSegmentError({ name, value }: SegmentInput, { pathname }: URL): InputError {
  const segments = pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(uriDecoded);
  const near = closest(value, segments);
  const hint =
    near === undefined ? `Write ${name}= and a segment of ${pathname}.` : `Did you mean ${name}=${near}?`;
  return inputError('--segment', `${name}=${value}`, 'is no segment of the path of the request', hint);
}

/** Reports the arguments that are texts of digits because their integers are beyond 2^53. */
function digitsNotes(fields: readonly Field[]): RequestBinder['notes'] {
  return fields
    .filter(({ pattern, items }) => (items?.pattern ?? pattern) === digitsPattern)
    .map(({ name }) => ({
      path: `inputSchema.properties.${name}`,
      what: 'is an integer that a JavaScript number may not hold exactly: callers give text',
      why: 'the API receives exactly these digits as an integer',
    }));
}

/** The title of the API at a URL, and names of it that no other address of the project has. */
function apiOfUrl(url: URL, variables: readonly ApiVariable[]) {
  const isUnnamedHost = /^[\d.]+$|^\[|^localhost$/.test(url.hostname);
  const title = isUnnamedHost ? `Local API ${url.port}`.trim() : url.hostname;
  for (let number = 1; ; number += 1) {
    const { file, prefix } = apiName(url.origin, title, number);
    const ownerUrl = variables.find(({ name }) => name === `${prefix}_URL`)?.fallback;
    if (ownerUrl === undefined || ownerUrl === url.origin) return { file, prefix, title };
  }
}

/** A field with the author's statement about it. The value of the request stays as an example. */
function withStatement(field: Field, statedFields: readonly Field[]): Field {
  const statedField = statedFields.find(({ name }) => name === field.name);
  if (!statedField) return field;
  const hasValue =
    statedField.default !== undefined || (statedField.examples ?? statedField.enum ?? []).length > 0;
  const example = hasValue || field.default === undefined ? {} : { examples: [field.default] };
  return { ...statedField, description: statedField.description ?? field.description ?? '', ...example };
}

function unknownNameErrors(
  flag: string,
  names: readonly string[],
  { argumentNames: namesInRequest }: RequestBinder,
): readonly InputError[] {
  const argumentNames = [...namesInRequest];
  const list = argumentNames.length > 0 ? `They are ${orList(argumentNames)}.` : 'It has none.';
  return names
    .filter((name) => !namesInRequest.has(name))
    .map((name) => {
      const near = closest(name, argumentNames);
      const hint = near ? `Did you mean ${near}?` : list;
      return inputError(flag, name, 'is not an argument that the request shows', hint);
    });
}

/** The pairs of a query, and the rest, such as `wsdl`, which stays unchanged. */
function splitQuery(query: string): { readonly pairs: string; readonly rest: string } {
  const members = query.split('&').filter((member) => member !== '');
  const isPair = (member: string) => member.includes('=');
  const rest = members.filter((member) => !isPair(member)).join('&');
  requireNoKey(rest, 'query');
  return {
    pairs: members.filter(isPair).join('&'),
    rest: rest.replaceAll('{', '%7B').replaceAll('}', '%7D'),
  };
}

/** `eth_getBalance` → `get_balance`, `Prices` → `get_prices`. */
function nameFromOperation(operation: string, onlyReads: boolean): string | null {
  if (!hasToolName(operation)) return null;
  const words = toSnakeCase(operation.replace(/^(?:eth|net|web3)_/, ''));
  if (!onlyReads) return suggestToolName(words, 'post');
  return suggestToolName(/^(?:get|list|find|search|fetch)/.test(words) ? words : `get_${words}`);
}

function toSnakeCase(text: string): string {
  return text.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
}

/** A path without its arguments, versions and the names of interfaces. */
function resourcePath(path: string): string {
  const segments = path
    .split('/')
    .filter((segment) => !/^(?:v?\d+(?:\.\d+)*|api|rest|public|json)$|\{/i.test(segment));
  return segments.join('/').replace(/\.\w+$/, '');
}
