import type { Json, JsonObject } from 'market-mcp-contract/json';

/** Maximum line length of generated TypeScript, in characters. */
export const lineWidth = 110;

/** Source text that is copied into a literal, such as `...signals`. */
export class Code {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A member of an object literal. A `Code` is a whole member, such as a spread. */
export type LiteralMember = Code | readonly [name: string, value: Node];
export type Node =
  | { readonly members: readonly LiteralMember[] }
  | { readonly items: readonly Node[] }
  | string;

/**
 * A JSON value as a TypeScript literal in the style of a person: bare keys if they are safe, single quotes,
 * one line if it fits. The text evaluates to exactly the value, whatever its strings contain.
 *
 * @param column of the literal's start: the number of characters before it on its line.
 * @param indent leading spaces of the line on which the literal starts.
 * @param spread source text that is put first into the object at `path`, and the names of the members it replaces.
 */
export function printLiteral(value: Json, { column = 0, indent = 0, spread }: LiteralOptions = {}): string {
  return print(nodeOf(value, [], spread), column, indent);
}

/** A member of an object literal, without a trailing comma, on a line with `indent` leading spaces. */
export function propertyText(name: string, value: Json, indent: number): string {
  return printMember(name, nodeOf(value, [], undefined), indent);
}

/** Statements that fill a `Map`, one per entry; a `null` key becomes `undefined`, the key of an absent argument. */
export function mapEntries(map: string, entries: readonly (readonly [Json, Json])[]): string {
  return entries
    .map(([key, value]) => {
      const of = flat(key === null ? 'undefined' : nodeOf(key, [], undefined));
      const node = nodeOf(value, [], undefined);
      const start = `${map}.set(${of}, `;
      // `print` leaves room for one character; a parenthesis and a semicolon follow the value.
      const hugged = `${start}${print(node, start.length + 1, 0)});`;
      const [firstLine = ''] = hugged.split('\n', 1);
      if (firstLine.length <= lineWidth) return hugged;
      return `${map}.set(\n  ${of},\n  ${print(node, 2, 2)},\n);`;
    })
    .join('\n');
}

export interface LiteralOptions {
  readonly column?: number;
  readonly indent?: number;
  readonly spread?: Spread;
}

export interface Spread {
  readonly path: readonly string[];
  readonly code: Code;
  readonly replaces: ReadonlySet<string>;
}

/** A JSON value as a node. */
export function nodeOf(value: Json, path: readonly string[] = [], spread?: Spread): Node {
  if (value === undefined) throw new TypeError(`no value at ${path.join('.') || 'the root'}`);
  if (typeof value === 'string') return stringLiteral(value);
  if (typeof value === 'number') return numberLiteral(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (isList(value)) {
    return { items: value.map((item, index) => nodeOf(item, [...path, String(index)], spread)) };
  }
  const spreadHere = spread && spread.path.join('\0') === path.join('\0') ? spread : undefined;
  const ownEntries = Object.entries(value).filter(([name]) => !spreadHere?.replaces.has(name));
  const members = ownEntries.map(
    ([name, member]): LiteralMember => [name, nodeOf(member, [...path, name], spread)],
  );
  return { members: spreadHere ? [spreadHere.code, ...members] : members };
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

function numberLiteral(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
  if (Object.is(value, -0)) return '-0';
  return String(value).replace('e+', 'e');
}

/** A node as text; it is broken into lines if it exceeds the line. */
export function print(node: Node, column: number, indent: number): string {
  if (typeof node === 'string') return node;
  const line = flat(node);
  // Leaves room for a comma or semicolon.
  if (!mustBreak(node) && column + line.length < lineWidth) return line;
  if ('items' in node) return brokenList(node.items, indent + 2);
  return brokenObject(node.members, indent + 2);
}

function flat(node: Node): string {
  if (typeof node === 'string') return node;
  if ('items' in node) return `[${node.items.map(flat).join(', ')}]`;
  if (node.members.length === 0) return '{}';
  const members = node.members.map((member) =>
    member instanceof Code ? member.text : `${propertyName(member[0])}: ${flat(member[1])}`,
  );
  return `{ ${members.join(', ')} }`;
}

/** Objects with three levels, and lists of several objects, are always broken into lines. */
function mustBreak(node: Node): boolean {
  if (typeof node === 'string') return false;
  if ('items' in node) return node.items.some(mustBreak) || isTable(node.items);
  return (
    objectDepth(node) > 2 || node.members.some((member) => !(member instanceof Code) && mustBreak(member[1]))
  );
}

function isTable(items: readonly Node[]): boolean {
  return (
    items.length > 1 &&
    (items.every((item) => typeof item === 'object' && 'members' in item && item.members.length > 1) ||
      items.every((item) => typeof item === 'object' && 'items' in item && item.items.length > 1))
  );
}

function objectDepth(node: Node): number {
  if (typeof node === 'string') return 0;
  if ('items' in node) return Math.max(0, ...node.items.map(objectDepth));
  return (
    1 + Math.max(0, ...node.members.map((member) => (member instanceof Code ? 0 : objectDepth(member[1]))))
  );
}

function brokenObject(members: readonly LiteralMember[], indent: number): string {
  if (members.length === 0) return '{}';
  const lines = members.map((member) =>
    member instanceof Code ? member.text : printMember(member[0], member[1], indent),
  );
  return enclose('{', lines, '}', indent);
}

/** A string that does not fit is put on the next line. */
function printMember(name: string, value: Node, indent: number): string {
  const start = `${propertyName(name)}: `;
  const text = print(value, indent + start.length, indent);
  const tooLong = indent + start.length + text.length >= lineWidth;
  const isString = typeof value === 'string' && /^['"]/.test(value);
  if (isString && tooLong) return `${start.trimEnd()}\n${' '.repeat(indent + 2)}${text}`;
  return start + text;
}

function brokenList(items: readonly Node[], indent: number): string {
  const numbers = items.every((item) => typeof item === 'string' && /^-?\d/.test(item));
  const lines = numbers
    ? fillLines(items.map(flat), indent)
    : items.map((item) => print(item, indent, indent));
  return enclose('[', lines, ']', indent);
}

/** Puts as many short items on a line as fit. */
function fillLines(items: readonly string[], indent: number): string[] {
  const lines: string[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last !== undefined && indent + last.length + item.length + 2 < lineWidth) {
      lines[lines.length - 1] = `${last}, ${item}`;
    } else {
      lines.push(item);
    }
  }
  return lines;
}

function enclose(open: string, lines: readonly string[], close: string, indent: number): string {
  const pad = ' '.repeat(indent);
  return `${open}\n${lines.map((line) => `${pad}${line},\n`).join('')}${' '.repeat(indent - 2)}${close}`;
}

/** A property name in the form of an object literal. `__proto__` must be computed: otherwise it sets the prototype. */
export function propertyName(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  if (isIdentifierName(name)) return name;
  return stringLiteral(name);
}

/** The access to a member: `input.symbol`, `input['a b']`. */
export function memberAccess(object: string, name: string): string {
  if (isIdentifierName(name)) return `${object}.${name}`;
  return `${object}[${stringLiteral(name)}]`;
}

/**
 * A string literal in single quotes, or in double quotes if they need fewer escapes. Line terminators, invisible characters and
 * direction characters are escaped, so that the source reads as it runs.
 */
export function stringLiteral(text: string): string {
  const quote = text.split("'").length > text.split('"').length ? '"' : "'";
  const escaped = text.replace(unsafe, (character) => {
    if (character === "'" || character === '"') return character === quote ? `\\${character}` : character;
    return escapes.get(character) ?? unicodeEscape(character);
  });
  return quote + escaped + quote;
}

const unsafe =
  /['"\\]|\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}|\p{Bidi_Control}|[\u00ad\u200b\u2060\ufeff]|[\u{e0000}-\u{e007f}]/gu;
const escapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function unicodeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

function isIdentifierName(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}
