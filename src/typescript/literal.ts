import type { Token } from 'js-tokens';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import { bracketStep, textIn } from './tokens.ts';

/** Deeper nesting is not read: no person writes such a definition. */
const deepest = 200;

/** A value that was read, and the index of the token after it. */
interface Read<T> {
  readonly value: T;
  readonly next: number;
}

/** The members of an object literal; undefined for a value that only running the code could determine. */
export type Members = ReadonlyMap<string, Json | undefined>;

/**
 * Reads values from source code without running it: JSON-like literals, constants of the file with such values, spreads of
 * them, joined strings, `as const` and `satisfies`.
 */
export class LiteralReader {
  readonly #tokens: readonly Token[];
  readonly #constants: ReadonlyMap<string, number>;
  readonly #known: JsonObject;

  /** @param known values of imported names. */
  constructor(tokens: readonly Token[], known: JsonObject = {}) {
    this.#tokens = tokens;
    this.#constants = constantsIn(tokens);
    this.#known = known;
  }

  /** The token index of a top-level constant's value. */
  constant(name: string): number | undefined {
    return this.#constants.get(name);
  }

  /** The value of the expression at a token; undefined if it is not a literal. */
  value(at: number): Json | undefined {
    return this.#expression(at, 0)?.value;
  }

  /** The members of the object at a token, or of the constant named there. */
  members(at: number): Members | undefined {
    const constant = this.#constants.get(this.#text(at));
    return this.#object(constant ?? at, 0)?.value;
  }

  #text(at: number): string {
    return this.#tokens[at]?.value ?? '';
  }

  #expression(at: number, depth: number): Read<Json> | undefined {
    let read = depth > deepest ? undefined : this.#primary(at, depth + 1);
    while (read) {
      const operator = this.#text(read.next);
      if (operator === 'as' || operator === 'satisfies') {
        read = { value: read.value, next: read.next + 2 };
      } else if (operator === '+') {
        const right = this.#primary(read.next + 1, depth + 1);
        const joined = right && typeof read.value === 'string' && typeof right.value === 'string';
        read = joined ? { value: `${read.value}${right.value}`, next: right.next } : undefined;
      } else {
        return isEnd(operator) ? read : undefined;
      }
    }
    return undefined;
  }

  #primary(at: number, depth: number): Read<Json> | undefined {
    const token = this.#tokens[at];
    if (token?.type === 'StringLiteral' || token?.type === 'NoSubstitutionTemplate') {
      return { value: textIn(token.value), next: at + 1 };
    }
    if (token?.type === 'NumericLiteral') return numberRead(token.value, at + 1);
    if (token?.type === 'IdentifierName') return this.#named(token.value, at, depth);
    switch (token?.value) {
      case '-': {
        const positive = this.#primary(at + 1, depth);
        return typeof positive?.value === 'number'
          ? { value: -positive.value, next: positive.next }
          : undefined;
      }
      case '(': {
        const inner = this.#expression(at + 1, depth);
        return inner && this.#text(inner.next) === ')' ? { ...inner, next: inner.next + 1 } : undefined;
      }
      case '[':
        return this.#list(at + 1, depth);
      case '{': {
        const object = this.#object(at, depth);
        if (!object || [...object.value.values()].includes(undefined)) return undefined;
        return { value: Object.fromEntries(object.value) as JsonObject, next: object.next };
      }
      default:
        return undefined;
    }
  }

  #named(name: string, at: number, depth: number): Read<Json> | undefined {
    const word = words.get(name);
    if (word !== undefined) return { value: word, next: at + 1 };
    const constant = this.#constants.get(name);
    const value =
      constant !== undefined
        ? this.#expression(constant, depth)?.value
        : Object.hasOwn(this.#known, name)
          ? this.#known[name]
          : undefined;
    return value === undefined ? undefined : { value, next: at + 1 };
  }

  #list(start: number, depth: number): Read<Json> | undefined {
    const items: Json[] = [];
    let at = start;
    while (this.#text(at) !== ']') {
      const isSpread = this.#text(at) === '...';
      const item = this.#expression(isSpread ? at + 1 : at, depth);
      if (!item) return undefined;
      if (!isSpread) items.push(item.value);
      else if (Array.isArray(item.value)) items.push(...item.value);
      else return undefined;
      at = this.#behindComma(item.next, ']');
      if (at < 0) return undefined;
    }
    return { value: items, next: at + 1 };
  }

  #object(start: number, depth: number): Read<Map<string, Json | undefined>> | undefined {
    if (this.#text(start) !== '{') return undefined;
    const members = new Map<string, Json | undefined>();
    let at = start + 1;
    while (this.#text(at) !== '}') {
      if (at >= this.#tokens.length) return undefined;
      const next =
        this.#text(at) === '...' ? this.#spread(at + 1, members, depth) : this.#member(at, members, depth);
      at = this.#behindComma(next, '}');
      if (at < 0) return undefined;
    }
    return { value: members, next: at + 1 };
  }

  /** @returns the index after the member. An unreadable spread makes every member before it uncertain. */
  #spread(at: number, members: Map<string, Json | undefined>, depth: number): number {
    const spread = this.#expression(at, depth);
    if (spread && isObject(spread.value)) {
      for (const [name, value] of Object.entries(spread.value)) members.set(name, value);
      return spread.next;
    }
    for (const name of members.keys()) members.set(name, undefined);
    members.set(`...${this.#text(at)}`, undefined);
    return this.#skip(at);
  }

  /** @returns the index after the member. */
  #member(at: number, members: Map<string, Json | undefined>, depth: number): number {
    const { name, next } = this.#key(at);
    const isShorthand = this.#text(next) === ',' || this.#text(next) === '}';
    const value =
      this.#text(next) === ':'
        ? this.#expression(next + 1, depth)
        : isShorthand
          ? this.#named(name, at, depth)
          : undefined;
    members.set(name, value?.value);
    return value?.next ?? this.#skip(next);
  }

  /** The name of a member: `symbol`, `'a b'`, `['__proto__']`, or of a method after `async` or `get`. */
  #key(at: number): { readonly name: string; readonly next: number } {
    const computed = this.#text(at) === '[' && this.#text(at + 2) === ']';
    const token = this.#tokens[computed ? at + 1 : at];
    const isPrefix = /^(async|get|set|\*)$/.test(token?.value ?? '') && !/^[:,(}]$/.test(this.#text(at + 1));
    if (isPrefix) return this.#key(at + 1);
    const name = token?.type === 'StringLiteral' ? textIn(token.value) : (token?.value ?? '');
    return { name, next: computed ? at + 3 : at + 1 };
  }

  /** The index after the comma, or of the closing bracket; negative if neither follows. */
  #behindComma(at: number, close: string): number {
    if (this.#text(at) === ',') return at + 1;
    return this.#text(at) === close ? at : -1;
  }

  /** The index of the comma or bracket that ends the expression. */
  #skip(start: number): number {
    let depth = 0;
    for (let at = start; at < this.#tokens.length; at += 1) {
      const step = bracketStep(this.#tokens[at]);
      if (depth === 0 && (step < 0 || this.#text(at) === ',')) return at;
      depth += step;
    }
    return this.#tokens.length;
  }
}

const words = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Whether a token ends an expression: the end of a member, of a statement, or the start of the next one. */
function isEnd(text: string): boolean {
  return /^(|[,;)\]}]|export|const|let|function|async|class|import|type|interface)$/.test(text);
}

/** Top-level constants by name, with the index of their value's first token. */
function constantsIn(tokens: readonly Token[]): ReadonlyMap<string, number> {
  const constants = new Map<string, number>();
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    const name = tokens[at + 1];
    if (depth === 0 && token.value === 'const' && name?.type === 'IdentifierName') {
      let sign = at + 2;
      while (sign < tokens.length && !/^[=;]$/.test(tokens[sign]?.value ?? '')) sign += 1;
      if (tokens[sign]?.value === '=') constants.set(name.value, sign + 1);
    }
    depth += bracketStep(token);
  }
  return constants;
}

function numberRead(text: string, next: number): Read<number> | undefined {
  const value = Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? { value, next } : undefined;
}
