import { bracketStep, codeTokens, type Placed, textIn } from './tokens.ts';

/** A reference to another module: `import … from`, `export … from`, `import '…'`, `import('…')`, `require('…')`. */
export interface ModuleReference {
  readonly kind: 'import' | 'export' | 'effect' | 'dynamic';
  /** The text between the quotes. */
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
  /** Offsets of the specifier with its quotes. */
  readonly at: readonly [start: number, end: number];
  /** Offsets from the first keyword to the specifier's end, or to the bracket after it. */
  readonly statement: readonly [start: number, end: number];
  /** The names in braces, also those of `const { a } = await import('…')`; null if there is something else. */
  readonly names: readonly ReferencedName[] | null;
  /** Offsets of the braces around the names; empty without names. */
  readonly braces: readonly [start: number, end: number];
}

export interface ReferencedName {
  /** The name in the other module. */
  readonly name: string;
  /** The source text: `type A as B`, `a: b`. */
  readonly text: string;
}

/** A longer statement is not an import. */
const maxTokens = 2_000;

/** Every reference to another module in TypeScript or JavaScript source, in order. */
export function moduleReferences(text: string): readonly ModuleReference[] {
  const tokens = codeTokens(text, 'with comments');
  const found: ModuleReference[] = [];
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    const { type, value } = token;
    const isKeyword = type === 'IdentifierName' && tokens[at - 1]?.value !== '.';
    const isCall = tokens[at + 1]?.value === '(' && tokens[at + 2]?.type === 'StringLiteral';
    if (isKeyword && isCall && (value === 'import' || value === 'require')) {
      found.push(callAt(text, tokens, at));
    } else if (isKeyword && depth === 0 && (value === 'import' || value === 'export')) {
      const statement = statementAt(text, tokens, at, value);
      if (statement) found.push(statement);
    }
    depth += bracketStep(token);
  }
  return found;
}

/** The names that a module exports, without `default` and the names of `export *`. */
export function exportedNames(text: string): ReadonlySet<string> {
  const code = codeTokens(text)
    .map(({ type, value }) => (/^(IdentifierName|Punctuator)$/.test(type) ? value : '""'))
    .join(' ');
  const declared = [...code.matchAll(declaration)].map(([, name]) => name);
  const listed = [...code.matchAll(/\bexport (?:type |const |let )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(',').map((part) => /[\w$]+(?= $)/.exec(part)?.[0]),
  );
  const names = [...declared, ...listed].flatMap((name) => name ?? []);
  return new Set(names.filter((name) => name !== 'default'));
}

const declaration =
  /\bexport (?:(?:async|declare|abstract|function|\*|const|let|class|interface|type|enum) )+([\w$]+)/g;

/** `import '…'`, or a statement that ends in `from '…'`. */
function statementAt(
  text: string,
  tokens: readonly Placed[],
  at: number,
  kind: 'import' | 'export',
): ModuleReference | undefined {
  if (tokens[at + 1]?.type === 'StringLiteral') return reference(text, tokens, [at, at + 1], 'effect');
  for (let i = at + 1; i < Math.min(tokens.length, at + maxTokens); i += 1) {
    const { value } = tokens[i] as Placed;
    if (value === 'from' && tokens[i + 1]?.type === 'StringLiteral') {
      return reference(text, tokens, [at, i + 1], kind, tokens.slice(at + 1, i));
    }
    const belongs = tokens[i]?.type === 'IdentifierName' || /^[{},*]$/.test(value) || isComment(tokens[i]);
    if (!belongs) return undefined;
  }
  return undefined;
}

/** A call of `import` or `require`, with the names that a declaration takes from the whole result. */
function callAt(text: string, tokens: readonly Placed[], at: number): ModuleReference {
  const equals = tokens[at - 1]?.value === 'await' ? at - 2 : at - 1;
  const from = Math.max(0, equals - maxTokens);
  const first =
    from + tokens.slice(from, equals).findLastIndex(({ value }) => /^(const|let|var)$/.test(value));
  const close = tokens[at + 3];
  const isDeclaration = first >= from && tokens[equals]?.value === '=' && close?.value === ')';
  if (isDeclaration && endsStatement.test(text.slice(close.at + 1))) {
    const declared = reference(text, tokens, [first, at + 2], 'dynamic', tokens.slice(first + 1, equals));
    if (declared.names) return { ...declared, statement: [declared.statement[0], close.at + 1] };
  }
  return reference(text, tokens, [at, at + 2], 'dynamic');
}

/** What follows neither reads a member nor declares another variable. */
const endsStatement = /^[^\S\n]*(?:;|\}|\/\/|$|\n\s*(?![\s.,([?]))/;

/**
 * @param ends the first and the last token: a keyword and the specifier
 * @param list the tokens that may be names in braces
 */
function reference(
  text: string,
  tokens: readonly Placed[],
  ends: readonly [first: number, last: number],
  kind: ModuleReference['kind'],
  list: readonly Placed[] = [],
): ModuleReference {
  const [{ at: start }, { at: from, value }] = ends.map((at) => tokens[at]) as [Placed, Placed];
  const end = from + value.length;
  const names = namesIn(list);
  const [open, close] = [list.find(({ value }) => value === '{'), list.at(-1)];
  return {
    kind,
    specifier: textIn(value),
    line: text.slice(0, start).split('\n').length,
    at: [from, end],
    statement: [start, end],
    names,
    braces: names && open && close ? [open.at, close.at + 1] : [from, from],
  };
}

/** The names of `{ a, type b as c, d: e }`, optionally after `type`. */
function namesIn(tokens: readonly Placed[]): readonly ReferencedName[] | null {
  const inner = tokens[0]?.value === 'type' ? tokens.slice(1) : tokens;
  const names = inner.slice(1, -1);
  const isPlain = names.every(({ type, value }) => type === 'IdentifierName' || /^[,:]$/.test(value));
  if (inner[0]?.value !== '{' || inner.at(-1)?.value !== '}' || !isPlain) return null;
  const groups: string[][] = [[]];
  for (const { value } of names) {
    if (value === ',') groups.push([]);
    else groups.at(-1)?.push(value);
  }
  return groups
    .filter((words) => words.length > 0)
    .map((words) => ({
      name: (words[0] === 'type' && words.length > 1 && words[1] !== 'as' ? words[1] : words[0]) ?? '',
      text: words.join(' ').replace(' :', ':'),
    }));
}

function isComment(token: Placed | undefined): boolean {
  return token?.type.endsWith('Comment') ?? false;
}
