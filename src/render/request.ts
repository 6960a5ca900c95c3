import type { Json } from '../contract/model.ts';
import { memberAccess, propertyName, stringLiteral } from './lexical.ts';
import { Code, type Member, type Node, print } from './literal.ts';

/** An argument and its place in the request, as `Binding` of src/import. */
interface Binding {
  readonly name: string;
  readonly input: string;
  readonly style?: string;
}

/** The parts of an `ApiCall` that determine its request. */
export interface RequestParts {
  readonly params: readonly Binding[];
  readonly query: readonly Binding[];
  readonly headers: readonly Binding[];
  readonly body: {
    readonly kind: string;
    readonly members: readonly Binding[] | string;
    readonly files?: readonly {
      readonly name: string;
      readonly fileName: string;
      readonly mediaType?: string;
    }[];
    readonly mediaType?: string;
  } | null;
  readonly wrap: string | null;
  readonly notFoundIsEmpty: boolean;
  readonly method: string;
  readonly isReadOnly: boolean;
  /** Whether the tool has arguments. */
  readonly takesInput: boolean;
  /** Whether headers repeat arguments, according to the inputSchema. */
  readonly hasMirrors: boolean;
}

/** The options of a request to a source, on a line with `indent` leading spaces. */
export function requestLiteral(call: RequestParts, indent: number): string {
  if (call.method === 'call') return forwarded(call, indent);
  const members: Member[] = [
    ...group('params', call.params),
    ...group('query', call.query),
    ...styles('styles', call.query),
    ...group('headers', call.headers),
    ...bodyOf(call.body),
    ['schema', 'outputSchema'],
    ...(call.wrap === null ? [] : [['wrap', stringLiteral(call.wrap)] as const]),
    ...(call.notFoundIsEmpty ? [['notFound', "'empty'"] as const] : []),
    new Code('signal'),
  ];
  return print({ members }, Number.POSITIVE_INFINITY, indent);
}

/** The options of a call that is forwarded to an MCP server. */
function forwarded({ wrap, isReadOnly, takesInput, hasMirrors }: RequestParts, indent: number): string {
  const members: Member[] = [
    ...(takesInput ? [['arguments', 'input'] as const] : []),
    ...(hasMirrors ? [new Code('inputSchema')] : []),
    ['schema', 'outputSchema'],
    ...(wrap === null ? [] : [['wrap', stringLiteral(wrap)] as const]),
    ...(isReadOnly ? [['isReadOnly', 'true'] as const] : []),
    new Code('signal'),
  ];
  return print({ members }, Number.POSITIVE_INFINITY, indent);
}

function group(name: string, bindings: readonly Binding[]): readonly Member[] {
  return bindings.length === 0 ? [] : [[name, accesses(bindings)]];
}

function accesses(bindings: readonly Binding[]): Node {
  return { members: bindings.map(({ name, input }): Member => [name, memberAccess('input', input)]) };
}

function styles(name: string, bindings: readonly Binding[]): readonly Member[] {
  const members = bindings.flatMap(({ name, style }): readonly Member[] =>
    style === undefined ? [] : [[name, stringLiteral(style)]],
  );
  return members.length === 0 ? [] : [[name, { members }]];
}

function bodyOf(body: RequestParts['body']): readonly Member[] {
  if (body === null) return [];
  const { kind, members, files, mediaType } = body;
  const named = files?.map(({ name, fileName, mediaType: type }): Member => {
    const typed: Member[] = type === undefined ? [] : [['type', stringLiteral(type)]];
    return [name, { members: [['name', memberAccess('input', fileName)], ...typed] }];
  });
  return [
    [kind, typeof members === 'string' ? memberAccess('input', members) : accesses(members)],
    ...(typeof members === 'string' ? [] : styles('formStyles', members)),
    ...(named ? [['files', { members: named }] as const] : []),
    ...(mediaType === undefined ? [] : [['contentType', stringLiteral(mediaType)] as const]),
  ];
}

/** A variable of `src/env.ts`: its name, its kind and its purpose. */
export function declaration(variable: {
  readonly name: string;
  readonly kind: 'secret' | 'url';
  readonly text: string;
  readonly fallback?: string;
  readonly optional?: true;
}): string {
  const { name, kind, text, fallback, optional } = variable;
  const options =
    fallback !== undefined
      ? `, { default: ${stringLiteral(fallback)} }`
      : optional
        ? ', { optional: true }'
        : '';
  return `${propertyName(name)}: ${kind}(${stringLiteral(text)}${options})`;
}

/** A setting of an API: a group of credentials, or a number. */
export function setting(
  given:
    | { readonly name: string; readonly value: Json }
    | {
        readonly name: string;
        readonly credentials: readonly {
          readonly name: string;
          readonly kind: 'plain' | 'bearer' | 'basic' | 'cookie';
          readonly variables: readonly string[];
          readonly cookie?: string;
        }[];
      },
): string {
  if (!('credentials' in given)) {
    const { name, value } = given;
    return `${propertyName(name)}: ${typeof value === 'string' ? stringLiteral(value) : JSON.stringify(value)}`;
  }
  const members = given.credentials.map(({ name, kind, variables, cookie }): Member => {
    const [first = '', second = ''] = variables.map((variable) => memberAccess('env', variable));
    const value = {
      plain: first,
      bearer: `${first}.after('Bearer ')`,
      cookie: `${first}.after(${stringLiteral(`${cookie}=`)})`,
      basic: `basic(${first}, ${second})`,
    }[kind];
    return [name, value];
  });
  return `${propertyName(given.name)}: ${print({ members }, given.name.length + 4, 2)}`;
}
