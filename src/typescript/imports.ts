import jsTokens, { type Token } from 'js-tokens';
import { bracketStep, textIn } from './tokens.ts';

/** A reference to another module: `import … from`, `export … from`, `import '…'`, `import('…')`, `require('…')`. */
export interface ModuleReference {
  readonly kind: 'import' | 'export' | 'effect' | 'dynamic';
  /** The text between the quotes. */
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
  /** Offsets of the specifier with its quotes. */
  readonly at: readonly [start: number, end: number];
  /** Offsets from the keyword to the specifier's end. */
  readonly statement: readonly [start: number, end: number];
  /** `import type`, `export type`. */
  readonly isType: boolean;
  /** The names in braces; null if there is something else, such as a default import or a comment. */
  readonly names: readonly ReferencedName[] | null;
}

export interface ReferencedName {
  /** The name in the other module. */
  readonly name: string;
  /** The source text: `type A as B`. */
  readonly text: string;
}

type Placed = Token & { readonly start: number };

/** A longer statement is not an import. */
const mostTokens = 2_000;

/** Every reference to another module in TypeScript or JavaScript source, in order. */
export function moduleReferences(text: string): readonly ModuleReference[] {
  const tokens = placedTokens(text);
  const found: ModuleReference[] = [];
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    const isKeyword = token.type === 'IdentifierName' && tokens[at - 1]?.value !== '.';
    if (isKeyword && token.value === 'import') {
      const reference = importAt(text, tokens, at, depth);
      if (reference) found.push(reference);
    } else if (isKeyword && token.value === 'require') {
      const isCall = tokens[at + 1]?.value === '(' && tokens[at + 2]?.type === 'StringLiteral';
      if (isCall) found.push(reference(text, tokens, at, at + 2, 'dynamic'));
    } else if (isKeyword && token.value === 'export' && depth === 0) {
      const reference = statementAt(text, tokens, at, 'export');
      if (reference) found.push(reference);
    }
    depth += bracketStep(token);
  }
  return found;
}

/** The names that a module exports, without `default` and the names of `export *`. */
export function exportedNames(text: string): ReadonlySet<string> {
  const tokens = placedTokens(text).filter(({ type }) => !type.endsWith('Comment'));
  const names = new Set<string>();
  for (const [at, { value }] of tokens.entries()) {
    if (value !== 'export') continue;
    let next = at + 1;
    while (
      /^(async|declare|abstract|function|\*|const|let|class|interface|type|enum)$/.test(
        tokens[next]?.value ?? '',
      )
    )
      next += 1;
    const isList = tokens[next]?.value === '{';
    if (!isList && tokens[next]?.type === 'IdentifierName') names.add(tokens[next]?.value ?? '');
    for (let i = next + 1; isList && tokens[i] && tokens[i]?.value !== '}'; i += 1) {
      const isLast = /^[,}]$/.test(tokens[i + 1]?.value ?? '');
      if (isLast && tokens[i]?.type === 'IdentifierName') names.add(tokens[i]?.value ?? '');
    }
  }
  names.delete('default');
  return names;
}

function placedTokens(text: string): readonly Placed[] {
  let start = 0;
  const placed: Placed[] = [];
  for (const token of jsTokens(text)) {
    const isSpace = token.type === 'WhiteSpace' || token.type === 'LineTerminatorSequence';
    if (!isSpace) placed.push({ ...token, start });
    start += token.value.length;
  }
  return placed;
}

function importAt(
  text: string,
  tokens: readonly Placed[],
  at: number,
  depth: number,
): ModuleReference | undefined {
  const [next, after] = [tokens[at + 1], tokens[at + 2]];
  if (next?.value === '(') {
    return after?.type === 'StringLiteral' ? reference(text, tokens, at, at + 2, 'dynamic') : undefined;
  }
  if (depth > 0) return undefined;
  if (next?.type === 'StringLiteral') return reference(text, tokens, at, at + 1, 'effect');
  return statementAt(text, tokens, at, 'import');
}

/** A statement that ends in `from '…'`. */
function statementAt(
  text: string,
  tokens: readonly Placed[],
  at: number,
  kind: 'import' | 'export',
): ModuleReference | undefined {
  for (let i = at + 1; i < Math.min(tokens.length, at + mostTokens); i += 1) {
    const { value } = tokens[i] as Placed;
    if (value === 'from' && tokens[i + 1]?.type === 'StringLiteral') {
      return reference(text, tokens, at, i + 1, kind);
    }
    const belongs = tokens[i]?.type === 'IdentifierName' || /^[{},*]$/.test(value) || isComment(tokens[i]);
    if (!belongs) return undefined;
  }
  return undefined;
}

function reference(
  text: string,
  tokens: readonly Placed[],
  first: number,
  last: number,
  kind: ModuleReference['kind'],
): ModuleReference {
  const { start } = tokens[first] as Placed;
  const { start: from, value } = tokens[last] as Placed;
  const end = from + value.length;
  const between = tokens.slice(first + 1, last - 1);
  return {
    kind,
    specifier: textIn(value),
    line: text.slice(0, start).split('\n').length,
    at: [from, end],
    statement: [start, end],
    isType: between[0]?.value === 'type' && between[1]?.value === '{',
    names: kind === 'import' || kind === 'export' ? namesIn(between) : null,
  };
}

/** The names of `{ a, type b as c }`, optionally after `type`. */
function namesIn(tokens: readonly Placed[]): readonly ReferencedName[] | null {
  const inner = tokens[0]?.value === 'type' ? tokens.slice(1) : tokens;
  if (inner[0]?.value !== '{' || inner.at(-1)?.value !== '}' || inner.some(isComment)) return null;
  const groups: string[][] = [[]];
  for (const { value } of inner.slice(1, -1)) {
    if (value === ',') groups.push([]);
    else groups.at(-1)?.push(value);
  }
  return groups
    .filter((words) => words.length > 0)
    .map((words) => ({
      name: (words[0] === 'type' && words.length > 1 && words[1] !== 'as' ? words[1] : words[0]) ?? '',
      text: words.join(' '),
    }));
}

function isComment(token: Placed | undefined): boolean {
  return token?.type.endsWith('Comment') ?? false;
}
