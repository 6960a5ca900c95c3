import jsTokens, { type Token } from 'js-tokens';
import { signals, type ToolDefinition } from 'market-mcp-contract/definition';
import { isObject, type Json } from 'market-mcp-contract/json';
import { LiteralReader, type Members } from './literal.ts';
import { codeTokens, textIn } from './tokens.ts';

/** The facts in the source of a tool, read without running it. */
export interface ToolSource {
  /** Whether it exports by default what `defineTool` returns. */
  readonly exportsTool: boolean;
  /** The tool's name, if it is a literal. */
  readonly name: string | null;
  /** The definition as `tools/list` returns it, if all of it is literal. */
  readonly definition: ToolDefinition | null;
  /** The HTTP methods of its requests to the APIs of `src/apis/`: `get`; `call` for a tool of an MCP server. */
  readonly methods: readonly string[];
}

/** Reads a file of `src/tools/` in any formatting. Never throws. */
export function readToolSource(text: string): ToolSource {
  const tokens = codeTokens(text);
  const reader = new LiteralReader(tokens, { signals });
  const call = toolCall(tokens, reader);
  if (call === undefined) return { exportsTool: false, name: null, definition: null, methods: [] };
  const members = reader.members(call) ?? new Map<string, Json | undefined>();
  const name = members.get('name');
  return {
    exportsTool: true,
    name: typeof name === 'string' ? name : null,
    definition: definitionIn(members),
    methods: methodsIn(tokens),
  };
}

/**
 * The source of a tool with another name, also as the first argument of `console.error`; all else stays as it is.
 *
 * @returns undefined if the name is not written as one literal
 */
export function renamedSource(text: string, from: string, to: string): string | undefined {
  const tokens = [...jsTokens(text)];
  const isName = ({ type, value }: Token) =>
    /^(StringLiteral|NoSubstitutionTemplate)$/.test(type) && textIn(value) === from;
  const written = (word: (at: number) => string | undefined) =>
    tokens
      .map((token, at) => {
        const next = isName(token) ? word(at) : undefined;
        return next === undefined ? token.value : token.value[0] + next + token.value.at(-1);
      })
      .join('');
  // Each literal gets its own word. The one that is read as the name shows which literal is the name.
  const { name } = readToolSource(written(String));
  if (name === null || !tokens[Number(name)]) return undefined;
  const before = (at: number) => tokens.slice(Math.max(0, at - 5), at).map(({ value }) => value);
  const isLogged = (at: number) => /\bconsole\.\w+\(\s*$/.test(before(at).join(''));
  return written((at) => (at === Number(name) || isLogged(at) ? to : undefined));
}

/** The methods that are called on imports from `src/apis/`. */
function methodsIn(tokens: readonly Token[]): readonly string[] {
  const text = (at: number) => tokens[at]?.value ?? '';
  const apis = new Set(
    tokens.flatMap(({ value }, at) => {
      if (!/^['"]\.\.\/apis\//.test(value) || text(at - 1) !== 'from') return [];
      const start = tokens.findLastIndex((token, i) => i < at && token.value === 'import');
      return tokens
        .slice(start, at)
        .flatMap(({ type, value: name }) => (type === 'IdentifierName' ? name : []));
    }),
  );
  const called = tokens.flatMap(({ value }, at) =>
    apis.has(value) && text(at + 1) === '.' && text(at + 3) === '(' ? [text(at + 2)] : [],
  );
  return [...new Set(called.filter((name) => /^(get|post|put|patch|delete|call)$/.test(name)))];
}

/** The token index of the argument of `defineTool` in the call that the file exports by default. */
function toolCall(tokens: readonly Token[], reader: LiteralReader): number | undefined {
  const exported = defaultExport(tokens);
  if (exported === undefined) return undefined;
  const constant = reader.constant(tokens[exported]?.value ?? '');
  const at = constant ?? exported;
  return tokens[at]?.value === 'defineTool' && tokens[at + 1]?.value === '(' ? at + 2 : undefined;
}

/** The token index of the default export: `export default …` or `export { … as default }`. */
function defaultExport(tokens: readonly Token[]): number | undefined {
  const text = (at: number) => tokens[at]?.value;
  const at = tokens.findIndex(
    ({ value }, i) =>
      value === 'default' &&
      (text(i - 1) === 'export' || (text(i - 1) === 'as' && /^[,}]$/.test(text(i + 1) ?? ''))),
  );
  if (at < 0) return undefined;
  return text(at - 1) === 'export' ? at + 1 : at - 2;
}

function definitionIn(members: Members): ToolDefinition | null {
  const [name, description] = [members.get('name'), members.get('description')];
  const [inputSchema, outputSchema] = [members.get('inputSchema'), members.get('outputSchema')];
  const hidden = [...members.keys()].some((member) => member.startsWith('...'));
  if (hidden || typeof name !== 'string' || typeof description !== 'string') return null;
  if (!isObject(inputSchema) || !isObject(outputSchema)) return null;
  const others = ['title', 'annotations', 'icons', '_meta'].filter((member) => members.has(member));
  if (others.some((member) => members.get(member) === undefined)) return null;
  const rest = Object.fromEntries(others.map((member) => [member, members.get(member)]));
  return { name, description, inputSchema, outputSchema, ...rest };
}
