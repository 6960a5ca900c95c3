import type { Json, JsonObject } from 'market-mcp-contract/json';
import type { ApiBody, ApiRequest, Binding, BoundValue, FilePart } from './imported-tool.ts';

/** How the values of a request are expressed, such as JSON or code. */
export interface RequestForm<Value> {
  /** An argument of the call; undefined if the call has none of this name. */
  argument(name: string): Value | undefined;
  constant(value: Json): Value;
  object(members: readonly Member<Value>[]): Value;
  list(items: readonly Value[]): Value;
}

type Member<Value> = readonly [name: string, value: Value];

/** The request of a call with these arguments. */
export function jsonForm(args: JsonObject): RequestForm<Json> {
  return {
    argument: (name) => (Object.hasOwn(args, name) ? args[name] : undefined),
    constant: (value) => value,
    object: (members) => Object.fromEntries(members),
    list: (items) => items,
  };
}

/** The options that `httpSource` of the runtime takes for a request, in the order of generated code. */
export function requestOptions<Value>(
  { params, query, headers, body }: ApiRequest,
  form: RequestForm<Value>,
): readonly Member<Value>[] {
  const groups = [
    ['params', boundMembers(params, form)],
    ['paramStyles', styleMembers(params, form)],
    ['query', boundMembers(query, form)],
    ['styles', styleMembers(query, form)],
    ['headers', boundMembers(headers, form)],
    ['headerStyles', styleMembers(headers, form)],
  ] as const;
  const options = groups
    .filter(([, members]) => members.length > 0)
    .map(([name, members]): Member<Value> => [name, form.object(members)]);
  if (body) return [...options, ...bodyOptions(body, form)];
  return options;
}

function boundMembers<Value>(
  bindings: readonly Binding[],
  form: RequestForm<Value>,
): readonly Member<Value>[] {
  const members: Member<Value>[] = [];
  for (const binding of bindings) {
    const value = boundValue(binding, form);
    if (value !== undefined) members.push([binding.name, value]);
  }
  return members;
}

function boundValue<Value>(
  { input, constant = null, members, isList }: BoundValue,
  form: RequestForm<Value>,
): Value | undefined {
  if (members && isList)
    return form.list(members.map((member) => boundValue(member, form) ?? form.constant(null)));
  if (members) return form.object(boundMembers(members, form));
  if (input === undefined) return form.constant(constant);
  return form.argument(input);
}

function styleMembers<Value>(
  bindings: readonly Binding[],
  form: RequestForm<Value>,
): readonly Member<Value>[] {
  const members: Member<Value>[] = [];
  for (const { name, style } of bindings) if (style !== undefined) members.push([name, form.constant(style)]);
  return members;
}

function bodyOptions<Value>(
  { kind, content, integers, files, partTypes, mediaType }: ApiBody,
  form: RequestForm<Value>,
): readonly Member<Value>[] {
  const options: Member<Value>[] = [];
  const value = boundValue(content, form);
  if (value !== undefined) options.push([kind, value]);
  if (integers) options.push(['integers', form.constant(integers)]);
  const styles = content.isList ? [] : styleMembers(content.members ?? [], form);
  if (styles.length > 0) options.push(['formStyles', form.object(styles)]);
  if (files) options.push(['files', form.object(files.map((file) => [file.name, fileValue(file, form)]))]);
  if (partTypes) options.push(['partTypes', form.constant(partTypes)]);
  if (mediaType !== undefined) options.push(['contentType', form.constant(mediaType)]);
  return options;
}

function fileValue<Value>({ fileName, mediaType }: FilePart, form: RequestForm<Value>): Value {
  const members: Member<Value>[] = [];
  const name = form.argument(fileName);
  if (name !== undefined) members.push(['name', name]);
  if (mediaType !== undefined) members.push(['type', form.constant(mediaType)]);
  return form.object(members);
}
