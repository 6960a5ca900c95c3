import type { Token } from 'js-tokens';
import type { Json } from 'market-mcp-contract/json';
import { LiteralReader } from './literal.ts';
import { bracketStep, codeTokens, textIn } from './tokens.ts';

/** The keys in a file of `src/apis/`, read without running it. */
export interface ApiSource {
  /** The members of `env` in `headers` and `query`, which every request sends. */
  readonly shared: ReadonlySet<string>;
  /**
   * The names in `credentials`, which requests state: the places that each fills and its members of `env`, `headers X-Key` and
   * `SHOP_KEY`; empty if it is not literal.
   */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
  /** What requests send that state nothing; undefined if it is not stated, or not literal. */
  readonly auth: Json | undefined;
  /** The ends of the options, and of `credentials` if there are any. */
  readonly options: End;
  readonly credentials: End | undefined;
}

/** The end of an object in the text: the index of its bracket, and that behind the last token before it. */
export interface End {
  readonly bracket: number;
  readonly behind: number;
}

/** Reads a file of `src/apis/` in any formatting. Undefined if its options are not written as one object literal. */
export function readApiSource(text: string): ApiSource | undefined {
  const tokens = codeTokens(text);
  const start = tokens.findIndex(
    ({ value }, i) => value === 'httpSource' && tokens[i + 1]?.value === '(' && tokens[i + 2]?.value === '{',
  );
  const shared = new Set<string>();
  const named = new Map<string, Set<string>>();
  const path: string[] = [];
  let credentials: End | undefined;
  for (let i = start + 2; start >= 0 && i < tokens.length; i += 1) {
    const [last, token, after] = [tokens[i - 1], tokens[i], tokens[i + 1]?.value];
    const before = last?.value ?? '';
    if (!token || (path.length === 1 && token.value === '...')) return undefined;
    const step = bracketStep(token);
    if (step > 0) path.push('');
    const end = { bracket: token.at, behind: (last?.at ?? 0) + before.length };
    if (step < 0) {
      if (path.length === 2 && path[0] === 'credentials') credentials = end;
      path.pop();
    }
    if (path.length === 0) {
      const auth = new LiteralReader(tokens).members(start + 2)?.get('auth');
      return { shared, named, auth, credentials, options: end };
    }
    if (after === ':' && /^[{,]$/.test(before)) {
      path[path.length - 1] = nameIn(token);
      if (path[0] === 'credentials' && path.length === 2) named.set(nameIn(token), new Set());
      if (path[0] === 'credentials' && path.length === 4)
        named.get(path[1] ?? '')?.add(path.slice(2).join(' '));
    }
    const isMember = before === '.' || (before === '[' && after === ']');
    const object = before === '.' || before === '[' ? tokens[i - 2]?.value : undefined;
    if (!isMember || object !== 'env') continue;
    if (/^(headers|query)$/.test(path[0] ?? '')) shared.add(nameIn(token));
    if (path[0] === 'credentials') named.get(path[1] ?? '')?.add(nameIn(token));
  }
  return undefined;
}

function nameIn({ type, value }: Token): string {
  return type === 'StringLiteral' ? textIn(value) : value;
}
