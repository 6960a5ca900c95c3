import { orList, pass, type Result, reject } from 'market-mcp-contract/command';
import { type Json, parseJsonText, shorten } from 'market-mcp-contract/json';
import { spacelessHint } from '../model/names.ts';
import { type FieldType, type ScalarType, type Shape, scalarTypes } from '../model/tool-model.ts';
import { numberPattern, typedValue } from './field-values.ts';
import { ParseStop, TextCursor, type WrittenValue } from './text-cursor.ts';

/** One part of a path: a name, and the number of lists between it and its members (`rows[].id`: 1). */
export interface PathStep {
  readonly name: string;
  readonly lists: number;
}

/** The content of one `--input` or `--output`: the value at a path, without the members of an object. */
export interface Declaration {
  readonly path: readonly PathStep[];
  readonly required: boolean;
  readonly shape: Shape;
}

/** Names in a path that need no quotes. */
export const bareName = /[\p{L}\p{N}_$-]+/uy;
export const baseTypes = [...scalarTypes, 'object'] as const;
export const typeAliases = new Map([
  ['str', 'string'],
  ['text', 'string'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['decimal', 'number'],
  ['bool', 'boolean'],
  ['date', 'string(format=date)'],
  ['datetime', 'string(format=date-time)'],
  ['date-time', 'string(format=date-time)'],
  ['enum', 'string(a|b)'],
  ['array', 'string[]'],
  ['list', 'string[]'],
  ['map', 'object'],
  ['json', 'object'],
]);
const optionNames = ['enum', 'min', 'max', 'format', 'pattern', 'examples', 'description'] as const;
type OptionName = (typeof optionNames)[number];
/** The types that each option applies to. */
const optionTypes: { readonly [option in OptionName]: readonly FieldType[] } = {
  enum: scalarTypes,
  min: ['number', 'integer'],
  max: ['number', 'integer'],
  format: ['string'],
  pattern: ['string'],
  examples: [...scalarTypes, 'object', 'array'],
  description: [...scalarTypes, 'object', 'array'],
};
const range = new RegExp(String.raw`(${numberPattern})?\.\.(${numberPattern})?(?=\s*[,)])`, 'y');
/** A range in another notation: `1-5`, `1 to 5`, `1-`. */
const wrongRange = new RegExp(
  String.raw`(${numberPattern})\s*(?:[-\u2013\u2014\u2026:]|\.{3}|to)\s*(${numberPattern})?(?=\s*[,)])`,
  'y',
);
/** A comma before another allowed value, not before another option. */
const nextValue = new RegExp(
  String.raw`\s*,\s*(?!nullable\s*[,)]|[a-zA-Z]+\s*=|(?:${numberPattern})?\.\.)(?=[^\s,|()])`,
  'y',
);
const bareDefault = /\S+/y;
const bareOption = /[^\s,|()]+/y;

/**
 * Reads one declaration of the field language (docs/field-language.md):
 * `symbol?:string(BTC|ETH)=BTC Trading pair to look up`.
 */
export function parseDeclaration(text: string, location: string): Result<Declaration> {
  try {
    return pass(readDeclaration(new TextCursor(text.trim())));
  } catch (stop) {
    if (stop instanceof ParseStop) return reject(location, undefined, stop.message, stop.hint);
    throw stop;
  }
}

function readDeclaration(cursor: TextCursor): Declaration {
  const path = readPath(cursor);
  const spaced = /^(\s+[^\s:]+)+\s*\??:/.exec(cursor.rest)?.[0];
  if (spaced !== undefined) {
    const name = `${path.at(-1)?.name ?? ''}${spaced.replace(/\s*\??:$/, '')}`;
    cursor.stop('a name must not contain spaces', spacelessHint(name));
  }
  const required = !cursor.eat('?');
  if (!cursor.eat(':'))
    cursor.stop('expected a colon after the name', 'Write a name, a colon and a type: symbol:string');
  const spaceless = /^\s+(\S+)/.exec(cursor.rest)?.[1];
  if (spaceless !== undefined) {
    cursor.stop('expected the type directly after the colon', `Write ${formatPathOf(path)}:${spaceless}.`);
  }
  const shape = readType(cursor);
  const fallback = cursor.eat('=') ? readValue(cursor, shape, cursor.value(bareDefault)) : undefined;
  if (!cursor.done && !/^\s/.test(cursor.rest)) {
    const hint = 'Write name:type=default description. Put a default with spaces in quotes: ="two words"';
    cursor.stop('expected a space before the description', hint);
  }
  const description = readDescription(cursor);
  return {
    path,
    required,
    shape: {
      ...shape,
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(description === '' ? {} : { description }),
    },
  };
}

function formatPathOf(path: readonly PathStep[]): string {
  return path.map(({ name, lists }) => name + '[]'.repeat(lists)).join('.');
}

function readPath(cursor: TextCursor): PathStep[] {
  const steps: PathStep[] = [];
  do {
    const name = cursor.rest.startsWith('"') ? cursor.json() : cursor.take(bareName)?.[0];
    if (typeof name !== 'string' || name === '') {
      const hint = 'Write a name of letters and digits. Put any other name in quotes: "a b":string';
      return cursor.stop('expected a name', hint);
    }
    let lists = 0;
    while (cursor.eat('[]')) lists += 1;
    steps.push({ name, lists });
  } while (cursor.eat('.'));
  const last = steps.at(-1);
  if (last && last.lists > 0) {
    const message = 'expected the brackets of a list after the type, not after the name';
    cursor.stop(message, `Write ${last.name}:string[]`);
  }
  return steps;
}

function readType(cursor: TextCursor): Shape {
  const type = cursor.word(baseTypes, 'type', typeAliases) as ScalarType | 'object';
  let shape = readOptions(cursor, { type });
  while (cursor.eat('[]')) shape = readOptions(cursor, { type: 'array', items: shape });
  if (cursor.eat('|')) {
    cursor.expect('null', `After "|", only null is allowed. Put allowed values in brackets: ${type}(a|b)`);
    return { ...shape, nullable: true };
  }
  return shape;
}

/** `(a|b)`, `(1..100)`, `(nullable, format=date, examples=a|b)` or nothing. */
function readOptions(cursor: TextCursor, shape: Shape): Shape {
  if (!cursor.eat('(')) return shape;
  const options = new Map<OptionName, readonly WrittenValue[]>();
  let nullable = false;
  const set = (name: OptionName, values: readonly WrittenValue[]) => {
    if (options.has(name)) cursor.stop(`${name} is given twice`, 'Remove one of them.');
    if (!optionTypes[name].includes(shape.type)) {
      cursor.stop(`${name} does not apply to type ${shape.type}`, optionHint(name, shape));
    }
    options.set(name, values);
  };
  do {
    cursor.take(/\s*/y);
    if (cursor.take(/nullable(?=\s*[,)])/y)) nullable = true;
    else readOption(cursor, shape, set);
    cursor.take(/\s*/y);
  } while (cursor.eat(','));
  cursor.expect(')', 'Separate options by commas and end them with ")": integer(1..100, examples=5|10)');
  return optionsShape(cursor, nullable ? { ...shape, nullable } : shape, options);
}

/** An option with values: a range, `name=values`, or the short form of an enum. */
function readOption(
  cursor: TextCursor,
  shape: Shape,
  set: (name: OptionName, values: readonly WrittenValue[]) => void,
): void {
  const between = cursor.take(range);
  if (between) {
    if (between[1] !== undefined) set('min', [{ bare: between[1] }]);
    if (between[2] !== undefined) set('max', [{ bare: between[2] }]);
    return;
  }
  if (/^[a-zA-Z]+\s*=/.test(cursor.rest)) {
    const name = cursor.word(optionNames, 'option') as OptionName;
    cursor.take(/\s*=\s*/y);
    set(name, name === 'pattern' ? [readPattern(cursor)] : readChoice(cursor));
    return;
  }
  if (optionTypes.min.includes(shape.type)) rejectWrongRange(cursor);
  set('enum', readShortEnum(cursor));
}

/** The types that an option applies to, for the error about another type. */
function optionHint(name: OptionName, shape: Shape): string {
  const types = optionTypes[name];
  if (shape.items && types.includes(shape.items.type)) {
    return `It applies to the items. Put it before [], such as ${shape.items.type}(${name}=…)[].`;
  }
  return `Remove it, or use a type that it applies to: ${orList(types)}.`;
}

function rejectWrongRange(cursor: TextCursor): void {
  const [text, from, to = ''] = cursor.take(wrongRange) ?? [];
  if (text !== undefined) cursor.stop(`${shorten(text)} is not a range`, `Write ${from}..${to} for a range.`);
}

/** `a|b`, or `a, b` up to the next option. */
function readShortEnum(cursor: TextCursor): readonly WrittenValue[] {
  const values = [...readChoice(cursor)];
  if (values.length === 1) {
    while (cursor.take(nextValue)) values.push(cursor.value(bareOption));
  }
  const [only] = values;
  if (values.length > 1 || only === undefined) return values;
  const word = 'bare' in only ? only.bare : JSON.stringify(only.json);
  return cursor.stop(
    `${shorten(word)} is not a complete option`,
    `Write format=${word} for a format, enum=${word} for a single allowed value, ${word}|other for several allowed values.`,
  );
}

function readChoice(cursor: TextCursor): readonly WrittenValue[] {
  const values = [];
  do {
    cursor.take(/\s*/y);
    values.push(cursor.value(bareOption));
    cursor.take(/\s*(?=[|,)])/y);
  } while (cursor.eat('|'));
  return values;
}

function readPattern(cursor: TextCursor): WrittenValue {
  const slashed = cursor.take(/\/((?:[^/\\]|\\.)+)\//y);
  if (slashed?.[1] !== undefined) return { json: slashed[1] };
  if (!cursor.rest.startsWith('"')) cursor.stop('expected a pattern', 'Write pattern=/^[A-Z]{3}$/');
  return { json: cursor.json() };
}

function optionsShape(
  cursor: TextCursor,
  shape: Shape,
  options: ReadonlyMap<OptionName, readonly WrittenValue[]>,
): Shape {
  const valuesOf = (name: OptionName, of: Shape) =>
    options.get(name)?.map((value) => readValue(cursor, of, value));
  const oneOf = <T extends string | number>(
    name: OptionName,
    type: T extends string ? 'string' : 'number',
  ) => {
    const values = valuesOf(name, { type });
    if (values && values.length > 1) cursor.stop(`${name} takes only one value`, 'Remove the others.');
    return values?.[0] as T | undefined;
  };
  return Object.fromEntries(
    Object.entries({
      ...shape,
      enum: valuesOf('enum', { type: shape.type }),
      minimum: oneOf<number>('min', 'number'),
      maximum: oneOf<number>('max', 'number'),
      format: oneOf<string>('format', 'string'),
      pattern: oneOf<string>('pattern', 'string'),
      examples: valuesOf('examples', shape),
      description: oneOf<string>('description', 'string'),
    } satisfies Shape).filter(([, value]) => value !== undefined),
  ) as unknown as Shape;
}

/** Converts a written value to the shape's type. */
function readValue(cursor: TextCursor, shape: Shape, writtenValue: WrittenValue): Json {
  const value = typedValue(shape, writtenValue);
  if (value.ok) return value.value;
  return cursor.stop(value.message, value.hint);
}

function readDescription(cursor: TextCursor): string {
  cursor.take(/\s*/y);
  if (cursor.rest.startsWith('=')) {
    cursor.stop('expected the default directly after the type', 'Write name:type=default without spaces.');
  }
  const [quoted] = parseJsonText(cursor.rest);
  if (typeof quoted === 'string') return quoted;
  return cursor.rest;
}
