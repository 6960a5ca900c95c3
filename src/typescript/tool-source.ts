import { isDeepStrictEqual } from 'node:util';
import type { CallExpression, Node, Statement } from '@babel/types';
import { signals, type ToolDefinition } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import { LiteralEdit, type Print } from './literal-edit.ts';
import { type LiteralMembers, LiteralReader, memberName, writtenProperties } from './read-literal.ts';
import { nodesIn, type Placed, type Tree, treeOf } from './tree.ts';

/** The facts in the source of a tool, read without running it. */
export interface ToolSource {
  /** Whether it exports by default what `defineTool` returns. */
  readonly exportsTool: boolean;
  /** The tool's name, if it is a literal. */
  readonly name: string | null;
  /** The tool's description, if it is a literal. */
  readonly description: string | null;
  /** The definition as `tools/list` returns it, if all of it is literal. */
  readonly definition: ToolDefinition | null;
  /** The HTTP methods of its requests to the APIs of `src/apis/`: `get`; `call` for a tool of an MCP server. */
  readonly methods: readonly string[];
}

/** Reads a file of `src/tools/` in any formatting. Never throws. */
export function readToolSource(text: string): ToolSource {
  const tree = treeOf(text);
  const reader = new LiteralReader(tree, { signals });
  const call = tree && toolCall(tree, reader);
  if (!call) return { exportsTool: false, name: null, description: null, definition: null, methods: [] };
  const [options] = call.arguments;
  const members = (options && reader.members(options)) ?? new Map<string, Json | undefined>();
  const [name, description] = [members.get('name'), members.get('description')];
  return {
    exportsTool: true,
    name: typeof name === 'string' ? name : null,
    description: typeof description === 'string' ? description : null,
    definition: definitionIn(members),
    methods: [...new Set(toolRequests(tree).map(({ method }) => method))],
  };
}

/**
 * The source of a tool with another outputSchema: only what differs is written anew, all else stays unchanged, comments included.
 *
 * @returns undefined if a part that differs is not a literal
 */
export function withOutputSchema(text: string, after: JsonObject, print: Print): string | undefined {
  const tree = treeOf(text);
  const reader = new LiteralReader(tree, { signals });
  const schema = tree && schemaNode(tree, reader);
  if (!schema) return undefined;
  const edit = new LiteralEdit(text, tree, reader, print);
  const edited = edit.change(schema, after) ? edit.text() : undefined;
  const editedTree = edited === undefined ? undefined : treeOf(edited);
  if (!editedTree) return undefined;
  const read = new LiteralReader(editedTree, { signals });
  const node = schemaNode(editedTree, read);
  if (node && isDeepStrictEqual(read.value(node), after)) return edited;
  return undefined;
}

/** The literal that is the outputSchema of the tool. */
export function schemaNode(tree: Tree, reader: LiteralReader): Node | undefined {
  const [options] = toolCall(tree, reader)?.arguments ?? [];
  const found =
    options && writtenProperties(reader.resolved(options)).find(([name]) => name === 'outputSchema');
  return found && reader.resolved(found[1]);
}

/**
 * The source of a tool with another name, also as the first argument of `console.error`; all else stays unchanged.
 *
 * @returns undefined if the name is not written as one literal
 */
export function renamedSource(text: string, from: string, to: string): string | undefined {
  const tree = treeOf(text);
  const literals = [...(tree ? nodesIn(tree.program) : [])].filter((node) => literalText(node) === from);
  const wordBefore = (word: (at: number) => string | undefined) =>
    literals.reduceRight((result, { start, end }, at) => {
      const next = word(at);
      if (next === undefined) return result;
      return result.slice(0, start + 1) + next + result.slice(end - 1);
    }, text);
  // Each literal gets its own word. The one that is read as the name shows which literal is the name.
  const { name } = readToolSource(wordBefore(String));
  if (name === null || !literals[Number(name)]) return undefined;
  const isLogged = (at: number) => /\bconsole\.\w+\(\s*$/.test(text.slice(0, literals[at]?.start));
  return wordBefore((at) => (at === Number(name) || isLogged(at) ? to : undefined));
}

function literalText(node: Node): string | undefined {
  if (node.type === 'StringLiteral') return node.value;
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.value.cooked ?? undefined;
}

/** What a file asks of the APIs of `src/apis/`. */
export interface ApiUse {
  /** The modules as it imports them: `../apis/gas.ts`. */
  readonly modules: readonly string[];
  /** `target`: the path, or the name of a server's tool; null if it is not a literal. */
  readonly requests: readonly { readonly method: string; readonly target: string | null }[];
}

/** Reads what a file of a project asks of APIs. Never throws. */
export function apiUseIn(text: string): ApiUse {
  const tree = text.includes('apis/') ? treeOf(text) : undefined;
  if (tree)
    return { modules: apiImports(tree).map(({ source }) => source.value), requests: toolRequests(tree) };
  return { modules: [], requests: [] };
}

function apiImports({ program }: Tree) {
  return program.body.flatMap((statement) =>
    statement.type === 'ImportDeclaration' && statement.source.value.startsWith('../apis/') ? statement : [],
  );
}

function toolRequests(tree: Tree): ApiUse['requests'] {
  const reader = new LiteralReader(tree);
  return apiCalls(tree).map(({ method, node }) => {
    const [first] = node.arguments;
    const target = first && reader.resolved(first);
    return { method, target: (target && literalText(target)) ?? null };
  });
}

/** The requests to APIs in a file. */
export function apiCalls(
  tree: Tree,
): readonly { readonly method: string; readonly node: Placed<CallExpression> }[] {
  const apis = new Set(
    apiImports(tree).flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name)),
  );
  if (apis.size === 0) return [];
  return [...nodesIn(tree.program)].flatMap((node) => {
    const callee = node.type === 'CallExpression' ? node.callee : undefined;
    if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return [];
    if (callee.object.type !== 'Identifier' || !apis.has(callee.object.name)) return [];
    const method = memberName({ key: callee.property, computed: callee.computed }) ?? '';
    if (/^(get|post|put|patch|delete|call)$/.test(method)) return [{ method, node }];
    return [];
  });
}

/** The call of `defineTool` whose result the file exports by default. */
function toolCall(tree: Tree, reader: LiteralReader): CallExpression | undefined {
  const exported = tree.program.body.map(defaultExport).find((found) => found !== undefined);
  const call = exported && reader.resolved(exported);
  if (call?.type !== 'CallExpression' || call.callee.type !== 'Identifier') return undefined;
  if (call.callee.name === 'defineTool') return call;
  return undefined;
}

/** The default export of a statement: `export default …` or `export { … as default }`. */
function defaultExport(statement: Statement): Node | undefined {
  if (statement.type === 'ExportDefaultDeclaration') return statement.declaration;
  if (statement.type !== 'ExportNamedDeclaration' || statement.source) return undefined;
  const listed = statement.specifiers.find(
    ({ exported }) => 'name' in exported && exported.name === 'default',
  );
  if (listed?.type === 'ExportSpecifier') return listed.local;
  return undefined;
}

function definitionIn(members: LiteralMembers): ToolDefinition | null {
  const [name, description] = [members.get('name'), members.get('description')];
  const [inputSchema, outputSchema] = [members.get('inputSchema'), members.get('outputSchema')];
  const hidden = [...members.keys()].some((member) => member.startsWith('...'));
  if (hidden || typeof name !== 'string' || typeof description !== 'string') return null;
  if (!isObject(inputSchema) || !isObject(outputSchema)) return null;
  const otherMembers = ['title', 'annotations', 'icons', '_meta'].filter((member) => members.has(member));
  if (otherMembers.some((member) => members.get(member) === undefined)) return null;
  const rest = Object.fromEntries(otherMembers.map((member) => [member, members.get(member)]));
  return { name, description, inputSchema, outputSchema, ...rest };
}
