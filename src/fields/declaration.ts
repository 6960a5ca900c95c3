import { orList, pass, type Result, reject } from 'market-mcp-contract/command';
import { type Json, parseJsonText, shorten } from 'market-mcp-contract/json';
import { spacelessHint } from '../model/names.ts';
import { type FieldType, type ScalarType, type Shape, scalarTypes } from '../model/tool-model.ts';
import { DeclarationReader, ParseStop, type WrittenValue } from './declaration-reader.ts';
import { numberPattern, typedValue } from './field-values.ts';

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
    return pass(readDeclaration(new DeclarationReader(text.trim())));
  } catch (stop) {
    if (stop instanceof ParseStop) return reject(location, undefined, stop.message, stop.hint);
    throw stop;
  }
}

function readDeclaration(reader: DeclarationReader): Declaration {
  const path = readPath(reader);
  const spaced = /^(\s+[^\s:]+)+\s*\??:/.exec(reader.rest)?.[0];
  if (spaced !== undefined) {
    const name = `${path.at(-1)?.name ?? ''}${spaced.replace(/\s*\??:$/, '')}`;
    reader.stop('a name must not contain spaces', spacelessHint(name));
  }
  const required = !reader.eat('?');
  if (!reader.eat(':'))
    reader.stop('expected a colon after the name', 'Write a name, a colon and a type: symbol:string');
  const spaceless = /^\s+(\S+)/.exec(reader.rest)?.[1];
  if (spaceless !== undefined) {
    reader.stop('expected the type directly after the colon', `Write ${formatPathOf(path)}:${spaceless}.`);
  }
  const shape = readType(reader);
  const fallback = reader.eat('=') ? readValue(reader, shape, reader.value(bareDefault)) : undefined;
  if (!reader.done && !/^\s/.test(reader.rest)) {
    const hint = 'Write name:type=default description. Put a default with spaces in quotes: ="two words"';
    reader.stop('expected a space before the description', hint);
  }
  const description = readDescription(reader);
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

function readPath(reader: DeclarationReader): PathStep[] {
  const steps: PathStep[] = [];
  do {
    const name = reader.rest.startsWith('"') ? reader.json() : reader.take(bareName)?.[0];
    if (typeof name !== 'string' || name === '') {
      const hint = 'Write a name of letters and digits. Put any other name in quotes: "a b":string';
      return reader.stop('expected a name', hint);
    }
    let lists = 0;
    while (reader.eat('[]')) lists += 1;
    steps.push({ name, lists });
  } while (reader.eat('.'));
  const last = steps.at(-1);
  if (last && last.lists > 0) {
    const message = 'expected the brackets of a list after the type, not after the name';
    reader.stop(message, `Write ${last.name}:string[]`);
  }
  return steps;
}

function readType(reader: DeclarationReader): Shape {
  const type = reader.word(baseTypes, 'type', typeAliases) as ScalarType | 'object';
  let shape = readOptions(reader, { type });
  while (reader.eat('[]')) shape = readOptions(reader, { type: 'array', items: shape });
  if (reader.eat('|')) {
    reader.expect('null', `After "|", only null is allowed. Put allowed values in brackets: ${type}(a|b)`);
    return { ...shape, nullable: true };
  }
  return shape;
}

/** `(a|b)`, `(1..100)`, `(nullable, format=date, examples=a|b)` or nothing. */
function readOptions(reader: DeclarationReader, shape: Shape): Shape {
  if (!reader.eat('(')) return shape;
  const options = new Map<OptionName, readonly WrittenValue[]>();
  let nullable = false;
  const set = (name: OptionName, values: readonly WrittenValue[]) => {
    if (options.has(name)) reader.stop(`${name} is given twice`, 'Remove one of them.');
    if (!optionTypes[name].includes(shape.type)) {
      reader.stop(`${name} does not apply to type ${shape.type}`, optionHint(name, shape));
    }
    options.set(name, values);
  };
  do {
    reader.take(/\s*/y);
    if (reader.take(/nullable(?=\s*[,)])/y)) nullable = true;
    else readOption(reader, shape, set);
    reader.take(/\s*/y);
  } while (reader.eat(','));
  reader.expect(')', 'Separate options by commas and end them with ")": integer(1..100, examples=5|10)');
  return optionsShape(reader, nullable ? { ...shape, nullable } : shape, options);
}

/** An option with values: a range, `name=values`, or the short form of an enum. */
function readOption(
  reader: DeclarationReader,
  shape: Shape,
  set: (name: OptionName, values: readonly WrittenValue[]) => void,
): void {
  const between = reader.take(range);
  if (between) {
    if (between[1] !== undefined) set('min', [{ bare: between[1] }]);
    if (between[2] !== undefined) set('max', [{ bare: between[2] }]);
    return;
  }
  if (/^[a-zA-Z]+\s*=/.test(reader.rest)) {
    const name = reader.word(optionNames, 'option') as OptionName;
    reader.take(/\s*=\s*/y);
    set(name, name === 'pattern' ? [readPattern(reader)] : readChoice(reader));
    return;
  }
  if (optionTypes.min.includes(shape.type)) rejectWrongRange(reader);
  set('enum', readShortEnum(reader));
}

/** The types that an option applies to, for the error about another type. */
function optionHint(name: OptionName, shape: Shape): string {
  const types = optionTypes[name];
  if (shape.items && types.includes(shape.items.type)) {
    return `It applies to the items. Put it before [], such as ${shape.items.type}(${name}=…)[].`;
  }
  return `Remove it, or use a type that it applies to: ${orList(types)}.`;
}

function rejectWrongRange(reader: DeclarationReader): void {
  const [text, from, to = ''] = reader.take(wrongRange) ?? [];
  if (text !== undefined) reader.stop(`${shorten(text)} is not a range`, `Write ${from}..${to} for a range.`);
}

/** `a|b`, or `a, b` up to the next option. */
function readShortEnum(reader: DeclarationReader): readonly WrittenValue[] {
  const values = [...readChoice(reader)];
  if (values.length === 1) {
    while (reader.take(nextValue)) values.push(reader.value(bareOption));
  }
  const [only] = values;
  if (values.length > 1 || only === undefined) return values;
  const word = 'bare' in only ? only.bare : JSON.stringify(only.json);
  return reader.stop(
    `${shorten(word)} is not a complete option`,
    `Write format=${word} for a format, enum=${word} for a single allowed value, ${word}|other for several allowed values.`,
  );
}

function readChoice(reader: DeclarationReader): readonly WrittenValue[] {
  const values = [];
  do {
    reader.take(/\s*/y);
    values.push(reader.value(bareOption));
    reader.take(/\s*(?=[|,)])/y);
  } while (reader.eat('|'));
  return values;
}

function readPattern(reader: DeclarationReader): WrittenValue {
  const slashed = reader.take(/\/((?:[^/\\]|\\.)+)\//y);
  if (slashed?.[1] !== undefined) return { json: slashed[1] };
  if (!reader.rest.startsWith('"')) reader.stop('expected a pattern', 'Write pattern=/^[A-Z]{3}$/');
  return { json: reader.json() };
}

function optionsShape(
  reader: DeclarationReader,
  shape: Shape,
  options: ReadonlyMap<OptionName, readonly WrittenValue[]>,
): Shape {
  const valuesOf = (name: OptionName, of: Shape) =>
    options.get(name)?.map((value) => readValue(reader, of, value));
  const oneOf = <T extends string | number>(
    name: OptionName,
    type: T extends string ? 'string' : 'number',
  ) => {
    const values = valuesOf(name, { type });
    if (values && values.length > 1) reader.stop(`${name} takes only one value`, 'Remove the others.');
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
function readValue(reader: DeclarationReader, shape: Shape, writtenValue: WrittenValue): Json {
  const value = typedValue(shape, writtenValue);
  if (value.ok) return value.value;
  return reader.stop(value.message, value.hint);
}

function readDescription(reader: DeclarationReader): string {
  reader.take(/\s*/y);
  if (reader.rest.startsWith('=')) {
    reader.stop('expected the default directly after the type', 'Write name:type=default without spaces.');
  }
  const [quoted] = parseJsonText(reader.rest);
  if (typeof quoted === 'string') return quoted;
  return reader.rest;
}
