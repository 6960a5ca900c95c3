import type { Json } from 'market-mcp-contract/json';
import { Code, mapEntries, memberAccess, printLiteral, propertyText, type Spread } from './literal.ts';
import { type CallContext, declaration, requestLiteral, setting } from './request-code.ts';

/**
 * The helpers of templates. Every value from an author passes through the helper for its context.
 * Each helper throws a TypeError on `undefined`, which strict mode does not detect in an argument.
 */
export const helpers = {
  /** A value as JSON. `indent` is the column of the line on which it starts. */
  json: (value: unknown, { hash }: Options) =>
    JSON.stringify(defined(value, 'json'), null, 2).replaceAll('\n', `\n${' '.repeat(indentOf(hash))}`),
  /** A value as a TypeScript literal. `column` is where it starts, `indent` where its line starts. */
  ts: (value: unknown, { hash }: Options) => printLiteral(requireJson(value, 'ts'), layoutOf(hash)),
  /** A member of an object literal: name, colon, value. */
  property: (name: unknown, value: unknown, { hash }: Options) =>
    propertyText(requireText(name, 'property'), requireJson(value, 'property'), indentOf(hash)),
  /** An outputSchema as a TypeScript literal; `...signals` replaces the properties named by `standard`. */
  outputSchema: (value: unknown, standard: unknown, { hash }: Options) =>
    printLiteral(requireJson(value, 'outputSchema'), { ...layoutOf(hash), spread: signalSpread(standard) }),
  /** Statements that put entries into a `Map`. */
  entries: (map: unknown, value: unknown) =>
    mapEntries(requireText(map, 'entries'), defined(value, 'entries') as readonly (readonly [Json, Json])[]),
  /** The access to a member of a variable: `input.symbol`, `input['a b']`. */
  member: (object: unknown, name: unknown) =>
    memberAccess(requireText(object, 'member'), requireText(name, 'member')),
  /** The options of a request to a source; `indent` is where its line starts. */
  request: (call: unknown, { hash }: Options) =>
    requestLiteral(defined(call, 'request') as CallContext, indentOf(hash)),
  /** A variable of `src/env.ts`. */
  declaration: (variable: unknown) =>
    declaration(defined(variable, 'declaration') as Parameters<typeof declaration>[0]),
  /** A setting of an API. */
  setting: (value: unknown) => setting(defined(value, 'setting') as Parameters<typeof setting>[0]),
  comment: (value: unknown) => commentText(requireText(value, 'comment')),
  md: (value: unknown) => markdownText(requireText(value, 'md')),
  code: (value: unknown) => markdownCode(requireText(value, 'code')),
} as const;

interface Options {
  readonly hash: Readonly<Record<string, unknown>>;
}

function defined(value: unknown, helper: string): unknown {
  if (value === undefined) throw new TypeError(`${helper}: the context has no such value`);
  return value;
}

function requireText(value: unknown, helper: string): string {
  if (typeof value !== 'string') throw new TypeError(`${helper}: ${typeof value} is not text`);
  return value;
}

/** A template's context contains only JSON; `printLiteral` throws otherwise. */
function requireJson(value: unknown, helper: string): Json {
  return defined(value, helper) as Json;
}

function indentOf({ indent = 0 }: Options['hash']): number {
  return Number(indent);
}

function layoutOf(hash: Options['hash']): { column: number; indent: number } {
  const indent = indentOf(hash);
  return { indent, column: Number(hash.column ?? indent) };
}

function signalSpread(standard: unknown): Spread | undefined {
  const names = new Set(requireJson(standard, 'outputSchema') as readonly string[]);
  if (names.size === 0) return undefined;
  return { path: ['properties'], code: new Code('...signals'), replaces: names };
}

/** Text for Markdown and comments: each function escapes it for one context. */

/** Text as one line of Markdown prose: markup, HTML and entities are escaped, line breaks become spaces. */
export function markdownText(text: string): string {
  return singleLineText(text)
    .replace(/[\\`*_[\]|~$]/g, '\\$&')
    .replace(/<|>|&(?=#|\w+;)/g, (character) => entities.get(character) ?? '')
    .replace(/^(#+|[-+=]|\d+[.)])(?=\s|$)/, '\\$1');
}

/** Text as inline Markdown code, with any number of backticks. */
export function markdownCode(text: string): string {
  const line = singleLineText(text);
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const pad = /^`|`$|^ .* $/.test(line) || line === '' ? ' ' : '';
  return fence + pad + line + pad + fence;
}

/** Text inside a block comment: it cannot end the comment. */
export function commentText(text: string): string {
  return singleLineText(text).replaceAll('*/', '* /');
}

const entities = new Map([
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['&', '&amp;'],
]);

function singleLineText(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim();
}
