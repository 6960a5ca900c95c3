import { type ParseResult, type ParserPlugin, parse, parseExpression } from '@babel/parser';
import type { File, Node } from '@babel/types';
import { attempt, memoize } from 'market-mcp-contract/json';

/** A node with its offsets in the text, which every parsed node has. */
export type Placed<T extends Node = Node> = T & { readonly start: number; readonly end: number };

/** The syntax tree of a file. */
export type Tree = ParseResult<File>;

const plugins: ParserPlugin[] = ['typescript', 'decorators-legacy', 'explicitResourceManagement'];

/** A file, and the same after an edit: trees are large, and files are read one after the other. */
const treesKept = 2;

/** The syntax tree of TypeScript, TSX or JavaScript source; undefined if it cannot be parsed. Never throws. */
export const treeOf = memoize((text: string): Tree | undefined => {
  const options = {
    sourceType: 'module',
    errorRecovery: true,
    allowReturnOutsideFunction: true,
    attachComment: false,
  } as const;
  const parsed = (plugins: ParserPlugin[]) =>
    attempt(() => parse(text, { ...options, plugins: plugins }), undefined);
  return parsed(plugins) ?? parsed([...plugins, 'jsx']);
}, treesKept);

/** A node and every node below it, in the order of the text. Does not recurse: a tree may be deep. */
export function* nodesIn(root: Node): Generator<Placed> {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      for (const node of next.toReversed()) waiting.push(node);
    } else if (isNode(next)) {
      yield next;
      const members = Object.entries(next).filter(([name]) => !notCode.has(name));
      waiting.push(...members.map(([, member]) => member).toReversed());
    }
  }
}

/**
 * The meaning of source or JSON regardless of its format: two texts have the same one if they are the same tree with the same
 * comments. A text that cannot be parsed has only itself as meaning.
 *
 * @param names other names for identifiers
 */
export function meaningOf(text: string, names: ReadonlyMap<string, string> = new Map()): string {
  const json = /^[\s\ufeff]*[{[]/.test(text)
    ? attempt(() => parseExpression(text, { plugins }), undefined)
    : undefined;
  const tree = json ?? treeOf(text);
  if (!tree || (tree.errors?.length ?? 0) > 0) return text;
  const comments = (tree.comments ?? []).map(({ value }) => value.replace(/\s+/g, ' ').trim());
  const code = tree.type === 'File' ? tree.program : tree;
  const member = (name: string, value: unknown) =>
    notCode.has(name) ? undefined : unformatted(value, names);
  // A tree may nest too deeply for the stack.
  return attempt(() => JSON.stringify([code, comments], member), text);
}

/** A node without the parts that a formatter changes: brackets around a type, quotes around a key. */
function unformatted(value: unknown, names: ReadonlyMap<string, string>): unknown {
  let node = value;
  while (isNode(node) && node.type === 'TSParenthesizedType') node = node.typeAnnotation;
  if (!isNode(node)) return node;
  if (node.type === 'Identifier') return { ...node, name: names.get(node.name) ?? node.name };
  if (!('key' in node) || node.key?.type !== 'StringLiteral' || ('computed' in node && node.computed))
    return node;
  return { ...node, key: { type: 'Identifier', name: node.key.value } };
}

function isNode(value: unknown): value is Placed {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Members of a node that do not belong to the program. */
const notCode = new Set(
  'start end loc range extra errors comments leadingComments innerComments trailingComments tokens'.split(
    ' ',
  ),
);
