import type { ApiKey, ApiVariable, Binding } from '../import/imported-tool.ts';
import { type RequestForm, requestOptions } from '../import/request-options.ts';
import type { Setting } from '../plan/plan-sources.ts';
import type { toolContext } from '../plan/tool-files.ts';
import {
  Code,
  type LiteralMember,
  memberAccess,
  type Node,
  nodeOf,
  print,
  printLiteral,
  propertyName,
  propertyText,
  stringLiteral,
} from './literal.ts';

/** The request of a tool. */
export type CallContext = NonNullable<ReturnType<typeof toolContext>['call']>;

/** The request as code that reads the arguments of the call from `input`. */
const codeForm: RequestForm<Node> = {
  argument: (name) => memberAccess('input', name),
  constant: (value) => nodeOf(value),
  object: (members) => ({ members }),
  list: (items) => ({ items }),
};

/** The options of a request to a source, on a line with `indent` leading spaces. */
export function requestLiteral(call: CallContext, indent: number): string {
  if (call.method === 'call') return forwardedCall(call, indent);
  const members: LiteralMember[] = [...requestOptions(call, codeForm)];
  if (call.auth) members.push(['auth', printLiteral(call.auth)]);
  if (call.isReadByPost) members.push(['isIdempotent', 'true']);
  members.push(['schema', 'outputSchema']);
  if (call.envelope) members.push(['envelope', stringLiteral(call.envelope)]);
  if (call.wrap !== null) members.push(['wrap', stringLiteral(call.wrap)]);
  members.push(...keptMembers(call));
  if (call.success) members.push(['success', printLiteral(call.success)]);
  if (call.hasPages) members.push(['pages', pages(call.query)]);
  if (call.notFoundIsEmpty) members.push(['notFound', "'empty'"]);
  if (call.takesNoData) members.push(['noData', "'empty'"]);
  members.push(new Code('signal'));
  return print({ members }, Number.POSITIVE_INFINITY, indent);
}

/** The options of a call that is forwarded to an MCP server. */
function forwardedCall(call: CallContext, indent: number): string {
  const { wrap, isReadOnly, takesInput, hasMirrors, nulls = [] } = call;
  const nullMembers = nulls.map((name): LiteralMember => [name, 'null']);
  const wholeInput = nullMembers.length > 0 ? { members: [...nullMembers, new Code('...input')] } : 'input';
  const members: LiteralMember[] = [];
  if (takesInput) members.push(['arguments', wholeInput]);
  if (hasMirrors) members.push(new Code('inputSchema'));
  members.push(['schema', 'outputSchema']);
  if (wrap !== null) members.push(['wrap', stringLiteral(wrap)]);
  members.push(...keptMembers(call));
  if (isReadOnly) members.push(['isReadOnly', 'true']);
  members.push(new Code('signal'));
  return print({ members }, Number.POSITIVE_INFINITY, indent);
}

/** The option that drops the other fields of an answer, if the author has chosen some. */
function keptMembers({ isReduced }: CallContext): readonly LiteralMember[] {
  if (isReduced) return [['keep', "'declared'"]];
  return [];
}

function pages(query: readonly Binding[]): Node {
  const names = query.flatMap(({ name, input = name }): readonly LiteralMember[] =>
    name === input ? [] : [[name, stringLiteral(input)]],
  );
  const ownMembers: readonly LiteralMember[] = names.length > 0 ? [['names', { members: names }]] : [];
  return { members: [new Code('input'), new Code('inputSchema'), ...ownMembers] };
}

/** A variable of `src/env.ts`: its name, its kind and its purpose. */
export function declaration(variable: ApiVariable): string {
  const { name, kind, text, fallback, optional } = variable;
  let options = '';
  if (fallback !== undefined) options = `, { default: ${stringLiteral(fallback)} }`;
  else if (optional) options = ', { optional: true }';
  return `${propertyName(name)}: ${kind}(${stringLiteral(text)}${options})`;
}

/** A setting of an API. */
export function setting(settingValue: Setting): string {
  if ('value' in settingValue) return propertyText(settingValue.name, settingValue.value, 2);
  const members =
    'keys' in settingValue ? settingValue.keys.map(keyMember) : settingValue.sentKeys.map(sentMember);
  return `${propertyName(settingValue.name)}: ${print({ members }, settingValue.name.length + 4, 2)}`;
}

/** A key in the `credentials` of an API, without a comma, on a line with `indent` leading spaces. */
export function keyEntry(key: ApiKey, indent: number): string {
  const [name, value] = keyMember(key);
  return `${propertyName(name)}: ${print(value, indent, indent)}`;
}

function keyMember(key: ApiKey): readonly [string, Node] {
  return [key.key, { members: [[key.in, { members: [sentMember(key)] }]] }];
}

function sentMember({ name, kind, variables, cookie, prefix, scopes }: ApiKey): readonly [string, Node] {
  const [first = '', second = '', third = ''] = variables.map((variable) =>
    memberAccess('env', variable.name),
  );
  const scope = scopes ? `, scope: ${stringLiteral(scopes.join(' '))}` : '';
  const value = {
    plain: prefix === undefined ? first : `${first}.after(${stringLiteral(prefix)})`,
    bearer: `${first}.after('Bearer ')`,
    cookie: `${first}.after(${stringLiteral(`${cookie}=`)})`,
    basic: `basic(${first}, ${variables.length > 1 ? second : "''"})`,
    client: `clientCredentials({ tokenUrl: ${first}, id: ${second}, secret: ${third}${scope} })`,
  }[kind];
  return [name, value];
}
