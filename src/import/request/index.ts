import {
  closest,
  type InputError,
  inputError,
  orList,
  pass,
  type Result,
  refuse,
  reject,
  uriDecoded,
} from 'market-mcp-contract/command';
import { hasToolName, suggestToolName } from '../../model/names.ts';
import type { Field } from '../../model/tool-model.ts';
import { digitsPattern } from '../digit-texts.ts';
import type { ApiCall, ApiVariable, KeySource } from '../imported-tool.ts';
import { apiAt, apiName } from '../openapi/api.ts';
import { toolNameOf } from '../openapi/openapi-tool.ts';
import { curlRequest } from './curl-options.ts';
import type { KeylessCommand } from './curl-text.ts';
import { contentTypeOf, givenBody } from './given-body.ts';
import type { GivenRequest, Method } from './given-request.ts';
import { checkHeaders } from './headers.ts';
import { keylessLine } from './line.ts';
import { Parts, refuseKeyIn } from './parts.ts';
import type { SegmentInput } from './path-segments.ts';
import { protocolOf } from './protocols.ts';
import { RequestRefusal } from './request-refusal.ts';

/** The author's statements about the arguments of a request. */
export interface InputChoice {
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
export interface ReadRequest {
  readonly call: ApiCall & { readonly method: Method };
  readonly input: readonly Field[];
  /** Where the value of each key is, by the project's variable for it. */
  readonly keySources: ReadonlyMap<string, KeySource>;
  readonly notes: Parts['notes'];
  /** Arguments made from path segments by a guess. */
  readonly guessedInputs: readonly string[];
  /** Segments of the path that stay constant, and may be values. */
  readonly constantSegments: readonly SegmentInput[];
  /** The name of the tool, if its author gives none. */
  readonly name: string;
  readonly onlyReads: boolean;
}

/** A curl command that was read, and the command that repeats it without its keys. */
export interface CurlCommand {
  readonly request: GivenRequest;
  readonly keyless: KeylessCommand;
}

/** Reads a curl command. */
export function readCurl(text: string): Result<CurlCommand> {
  try {
    const request = curlRequest(text);
    const read = readRequest(request, { input: [], constants: [] });
    if (!read.ok) return read;
    const { call, keySources } = read.value;
    const keyless = { line: keylessLine(request, call), variables: [...keySources.keys()] };
    return pass({ request, keyless });
  } catch (error) {
    return rejection(error);
  }
}

/** A refusal as the error of the flag. @throws any other error */
export function rejection(error: unknown): Result<never> {
  if (error instanceof RequestRefusal) return reject('--from-request', undefined, error.message, error.hint);
  throw error;
}

/** @throws RequestRefusal if no tool can send it */
export function readRequest(
  givenRequest: GivenRequest,
  { input: statedFields, constants, segments, variables = [] }: InputChoice,
): Result<ReadRequest> {
  if (givenRequest.refusal) throw givenRequest.refusal;
  checkHeaders(givenRequest);
  const url = new URL(givenRequest.url);
  const [, pathText = '/', queryText = ''] =
    /^[^:]+:\/\/[^/?#]*([^?]*)\??(.*)$/s.exec(givenRequest.url) ?? [];
  const isUnnamedHost = /^[\d.]+$|^\[|^localhost$/.test(url.hostname);
  const title = isUnnamedHost ? `Local API ${url.port}`.trim() : url.hostname;
  const { file, prefix } = freeApi(url.origin, title, variables);
  const parts = new Parts({ prefix, title }, givenRequest, { constants, segments }, variables);
  const content = givenBody(givenRequest);
  const protocol =
    givenRequest.method === 'post' && content?.kind === 'json' ? protocolOf(content.value) : undefined;
  const { path: pathTemplate, params } = parts.path(pathText || '/');
  if (!segments?.length) parts.notes.push(...constantSegmentNotes(parts));
  const { pairs, rest } = splitQuery(queryText);
  const path = rest === '' ? pathTemplate : `${pathTemplate}?${rest}`;
  const query = parts.query(pairs);
  const headers = parts.headers(givenRequest.headers);
  const type = contentTypeOf(givenRequest);
  const body = parts.body(content, type, protocol);
  if (body === null && type !== '') headers.push({ name: 'content-type', constant: type });
  const derivedFields = parts.fields.filter((field) => !statedFields.some(({ name }) => name === field.name));
  parts.notes.push(...digitsNotes(derivedFields));
  if (givenRequest.pipe !== undefined)
    parts.notes.push({
      path: 'request',
      what: `${givenRequest.pipe} left out`,
      why: 'it changes the answer alone; --fields chooses from it',
    });
  const errors = [
    ...parts.unknownSegments.map((segment) => unknownSegmentError(segment, url)),
    ...unknownNames('--constant', constants, parts),
    ...unknownNames(
      '--input',
      statedFields.map(({ name }) => name),
      parts,
    ),
    ...statedFields
      .filter(({ name }) => constants.includes(name))
      .map(({ name }) =>
        inputError('--constant', name, 'is an --input, too', 'Remove one: a constant is no input.'),
      ),
  ];
  if (errors.length > 0) return refuse(...errors);
  const api = apiAt(url.origin, { file, prefix, title });
  const isOverridden = givenRequest.headers.some(([headerName]) =>
    /^x-(?:http-)?method(?:-override)?$/.test(headerName),
  );
  const onlyReads = !isOverridden && (givenRequest.method === 'get' || protocol?.onlyReads === true);
  const operation = protocol ? toolNameOfOperation(protocol.operation, onlyReads) : null;
  const snakePath = snake(plainPath(pathTemplate));
  const pathForName = /[a-z]/.test(snakePath) ? snakePath : `/${file}`;
  const name = operation ?? toolNameOf({ id: null, method: givenRequest.method, path: pathForName });
  return pass({
    call: {
      api,
      method: givenRequest.method,
      path,
      params,
      query,
      headers,
      body,
      needs: [parts.keys.all],
      wrap: null,
      ...(protocol && { envelope: protocol.envelope }),
      ...(onlyReads && givenRequest.method === 'post' && { onlyReads: true as const }),
      notFoundIsEmpty: false,
    },
    input: parts.fields.map((field) => overridden(field, statedFields)),
    keySources: parts.keys.sources,
    notes: parts.notes,
    guessedInputs: parts.guessedInputs,
    constantSegments: parts.constantSegments,
    name,
    onlyReads,
  });
}

/** Names the segments of the path that stay constant although they may be values. */
function constantSegmentNotes({ constantSegments }: Parts): Parts['notes'] {
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
function digitsNotes(fields: readonly Field[]): Parts['notes'] {
  return fields
    .filter(({ pattern, items }) => (items?.pattern ?? pattern) === digitsPattern)
    .map(({ name }) => ({
      path: `inputSchema.properties.${name}`,
      what: 'is an integer that a JavaScript number may not hold exactly: callers give text',
      why: 'the API receives exactly these digits as an integer',
    }));
}

/** The name of an API that no other address has. */
function freeApi(origin: string, title: string, variables: readonly ApiVariable[]) {
  for (let number = 1; ; number += 1) {
    const found = apiName(origin, title, number);
    const { fallback = origin } = variables.find(({ name }) => name === `${found.prefix}_URL`) ?? {};
    if (fallback === origin) return found;
  }
}

function overridden(field: Field, statedFields: readonly Field[]): Field {
  const statedField = statedFields.find(({ name }) => name === field.name);
  if (!statedField) return field;
  const hasValue =
    statedField.default !== undefined || (statedField.examples ?? statedField.enum ?? []).length > 0;
  const example = hasValue || field.default === undefined ? {} : { examples: [field.default] };
  return { ...statedField, description: statedField.description ?? field.description ?? '', ...example };
}

function unknownNames(
  flag: string,
  names: readonly string[],
  { names: argumentSet }: Parts,
): readonly InputError[] {
  const argumentNames = [...argumentSet];
  const list = argumentNames.length > 0 ? `They are ${orList(argumentNames)}.` : 'It has none.';
  return names
    .filter((name) => !argumentSet.has(name))
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
  refuseKeyIn(rest, 'query');
  return {
    pairs: members.filter(isPair).join('&'),
    rest: rest.replaceAll('{', '%7B').replaceAll('}', '%7D'),
  };
}

/** `eth_getBalance` → `get_balance`, `Prices` → `get_prices`. */
function toolNameOfOperation(operation: string, onlyReads: boolean): string | null {
  if (!hasToolName(operation)) return null;
  const words = snake(operation.replace(/^(?:eth|net|web3)_/, ''));
  if (!onlyReads) return suggestToolName(words, 'post');
  return suggestToolName(/^(?:get|list|find|search|fetch)/.test(words) ? words : `get_${words}`);
}

function snake(text: string): string {
  return text.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
}

/** A path without its arguments, versions and the names of interfaces. */
function plainPath(path: string): string {
  const segments = path
    .split('/')
    .filter((segment) => !/^(?:v?\d+(?:\.\d+)*|api|rest|public|json)$|\{/i.test(segment));
  return segments.join('/').replace(/\.\w+$/, '');
}
