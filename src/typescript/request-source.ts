import type { Node, ObjectExpression, ObjectProperty } from '@babel/types';
import { isObject, type JsonObject } from 'market-mcp-contract/json';
import { LiteralEdit, type Print } from './literal-edit.ts';
import {
  innerExpression,
  LiteralReader,
  memberName,
  writtenMembers,
  writtenProperties,
} from './read-literal.ts';
import { apiCalls, schemaNode } from './tool-source.ts';
import { nodesIn, type Placed, type Tree, treeOf } from './tree.ts';

/** The request of a tool whose answer its outputSchema describes, as its source says. */
export interface ToolRequest {
  readonly method: string;
  /** What its answer becomes, if that is a literal. */
  readonly wrap: string | undefined;
  readonly hasPages: boolean;
  /** What it names as the signs of a success; absent: nothing, null: no literal. */
  readonly success: JsonObject | null | undefined;
  /** Whether its query has arguments of the tool. */
  readonly asksByQuery: boolean;
}

/** Other options of a request. */
export interface RequestChange {
  /** Null: none. */
  readonly wrap?: string | null;
  /** Headers of the answer become `next` and `total`. */
  readonly pages?: true;
  /** Replaces the existing one. */
  readonly success?: JsonObject;
}

interface Located {
  readonly tree: Tree;
  readonly method: string;
  readonly options: Placed<ObjectExpression>;
  readonly members: ReadonlyMap<string, Placed<ObjectProperty>>;
  /** The name of the tool's arguments in its function. */
  readonly input: string | undefined;
}

/** Undefined if the source has no such request, or several. Never throws. */
export function requestInSource(text: string): ToolRequest | undefined {
  const found = locate(text);
  if (!found) return undefined;
  const { method, members, tree } = found;
  const wrap = members.get('wrap')?.value;
  const successMember = members.get('success');
  const success = successMember && new LiteralReader(tree).value(successMember.value);
  return {
    method,
    wrap: wrap?.type === 'StringLiteral' ? wrap.value : undefined,
    hasPages: members.has('pages'),
    success: isObject(success) ? success : successMember && null,
    asksByQuery: inputsIn(found).length > 0,
  };
}

/**
 * The source of a tool with other options of its request; all else stays unchanged.
 *
 * @returns undefined if they cannot be written there
 */
export function withRequestOptions(text: string, change: RequestChange, print: Print): string | undefined {
  const { wrap, pages, success } = change;
  const wrapped = wrap === undefined ? text : withWrap(text, wrap);
  const successText = success && wrapped !== undefined ? withSuccess(wrapped, success, print) : wrapped;
  if (pages && successText !== undefined) return withPagesOption(successText, print);
  return successText;
}

function withSuccess(text: string, success: JsonObject, print: Print): string | undefined {
  const found = locate(text);
  const successMember = found?.members.get('success');
  if (!found || !successMember) return found && withMember(text, found, print.member('success', success, 0));
  const edit = new LiteralEdit(text, found.tree, new LiteralReader(found.tree), print);
  if (edit.change(successMember.value, success)) return edit.text();
  return undefined;
}

function withPagesOption(text: string, print: Print): string | undefined {
  const found = locate(text);
  const isKnown = found && new LiteralReader(found.tree).constant('inputSchema') !== undefined;
  if (!isKnown || found.members.has('pages')) return undefined;
  const inputs = inputsIn(found);
  const names = inputs.filter(([parameter, input]) => parameter !== input);
  const listed = names.map(([parameter, input]) => print.member(parameter, input, 0));
  const shorthand = found.input === 'input' ? 'input' : `input: ${found.input}`;
  const input = inputs.length === 0 ? 'input: {}' : shorthand;
  const parts = [input, 'inputSchema', ...(listed.length > 0 ? [`names: { ${listed.join(', ')} }`] : [])];
  return withMember(text, found, `pages: { ${parts.join(', ')} }`);
}

/** The source with a further option, behind the schema. */
function withMember(text: string, { options, members }: Located, member: string): string | undefined {
  const place = members.get('schema');
  if (!place) return undefined;
  const [, lead = ' '] = /(\n[ \t]*)$/.exec(text.slice(options.start, place.start)) ?? [];
  return `${text.slice(0, place.end)},${lead}${member}${text.slice(place.end)}`;
}

function withWrap(text: string, wrap: string | null): string | undefined {
  const found = locate(text);
  const wrapMember = found?.members.get('wrap');
  if (!found || wrapMember?.value.type !== 'StringLiteral') return undefined;
  const { start, end } = wrapMember.value as Placed;
  if (wrap !== null) return `${text.slice(0, start)}'${wrap}'${text.slice(end)}`;
  const { properties } = found.options;
  const before = properties[properties.indexOf(wrapMember) - 1] as Placed | undefined;
  // What lies between the two must be nothing but a comma.
  if (!before || !/^\s*,\s*$/.test(text.slice(before.end, wrapMember.start))) return undefined;
  return text.slice(0, before.end) + text.slice(wrapMember.end);
}

/** The parameters of the query that are arguments, with the names of these. */
function inputsIn({ members, input }: Located): readonly (readonly [string, string])[] {
  const query = members.get('query')?.value;
  return (query ? writtenProperties(query) : []).flatMap(([parameter, queryValue]) => {
    const value = innerExpression(queryValue);
    if (value.type !== 'MemberExpression') return [];
    if (value.object.type !== 'Identifier' || value.object.name !== input) return [];
    const name = memberName({ key: value.property, computed: value.computed });
    if (name === undefined) return [];
    return [[parameter, name] as const];
  });
}

function locate(text: string): Located | undefined {
  const tree = treeOf(text);
  const reader = new LiteralReader(tree);
  const schema = tree && schemaNode(tree, reader);
  if (!schema) return undefined;
  const found = apiCalls(tree).flatMap(({ node, method }): Located[] => {
    const options = node.arguments.at(-1);
    if (options?.type !== 'ObjectExpression') return [];
    const members = new Map(writtenMembers(options));
    const schemaNode = members.get('schema')?.value;
    if (!schemaNode || reader.resolved(schemaNode) !== schema) return [];
    return [
      {
        tree,
        method,
        options: options as Placed<ObjectExpression>,
        members,
        input: inputParameter(tree, node),
      },
    ];
  });
  if (found.length === 1) return found[0];
  return undefined;
}

/** The first parameter of the innermost function around a node. */
function inputParameter(tree: Tree, { start, end }: Placed): string | undefined {
  const around = [...nodesIn(tree.program)].filter(
    (node): node is Placed<Node & { params: Node[] }> =>
      'params' in node &&
      Array.isArray(node.params) &&
      'body' in node &&
      node.start <= start &&
      node.end >= end,
  );
  const [first] = around.at(-1)?.params ?? [];
  if (first?.type === 'Identifier') return first.name;
  return undefined;
}
