import type { ApiVariable, Binding } from '../import/model.ts';
import type { Setting } from '../plan/sources.ts';
import type { toolContext } from '../plan/tool.ts';
import { memberAccess, propertyName, stringLiteral } from './lexical.ts';
import { Code, type Member, type Node, print } from './literal.ts';

/** The request of a tool. */
export type RequestParts = NonNullable<ReturnType<typeof toolContext>['call']>;

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
    ...kept(call),
    ...(call.notFoundIsEmpty ? [['notFound', "'empty'"] as const] : []),
    new Code('signal'),
  ];
  return print({ members }, Number.POSITIVE_INFINITY, indent);
}

/** The options of a call that is forwarded to an MCP server. */
function forwarded(call: RequestParts, indent: number): string {
  const { wrap, isReadOnly, takesInput, hasMirrors } = call;
  const members: Member[] = [
    ...(takesInput ? [['arguments', 'input'] as const] : []),
    ...(hasMirrors ? [new Code('inputSchema')] : []),
    ['schema', 'outputSchema'],
    ...(wrap === null ? [] : [['wrap', stringLiteral(wrap)] as const]),
    ...kept(call),
    ...(isReadOnly ? [['isReadOnly', 'true'] as const] : []),
    new Code('signal'),
  ];
  return print({ members }, Number.POSITIVE_INFINITY, indent);
}

/** The rest of an answer is dropped if its fields were chosen. */
function kept({ isReduced }: RequestParts): readonly Member[] {
  return isReduced ? [['keep', "'declared'"]] : [];
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
export function declaration(variable: ApiVariable): string {
  const { name, kind, text, fallback, optional } = variable;
  const options =
    fallback !== undefined
      ? `, { default: ${stringLiteral(fallback)} }`
      : optional
        ? ', { optional: true }'
        : '';
  return `${propertyName(name)}: ${kind}(${stringLiteral(text)}${options})`;
}

/** A setting of an API. */
export function setting(given: Setting): string {
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
