import { isDeepStrictEqual } from 'node:util';
import { withoutPrototype } from '../json/json.ts';
import { propertiesOf, requiredOf, typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { allowsArguments } from './tool-cases.ts';

/** A value that a generated call gives to an argument. */
export interface ArgumentChange {
  readonly name: string;
  /** Undefined removes the argument. */
  readonly value: Json | undefined;
}

/**
 * The required answer to a call. `result`: a JSON-RPC result, since the inputSchema names these arguments. `answer`: any answer except a
 * crash. `refusal`: a failure, since the inputSchema does not allow the arguments.
 */
export type ExpectedEnding = 'result' | 'answer' | 'refusal';

/** A generated call: valid arguments of a tool, with some changes. */
export interface CallVariant {
  readonly changes: readonly ArgumentChange[];
  readonly expectedEnding: ExpectedEnding;
  /** Sent as `params._meta`. */
  readonly meta?: JsonObject;
  /** Set if the call has no member `arguments`. */
  readonly omitsArguments?: true;
}

/** The characters of the longest text: a page of prose, and more than most columns of a database hold. */
const maxTextLength = 20_000;

/** Texts that every tool gets sooner or later. */
const oddTexts = ['', '😀👩‍👩‍👧‍👦 naïve 数字', '‏שלום \u202eمرحبا\u202c'] as const;

/** The characters of the longest text for an argument with a maxLength: many servers refuse longer bodies. */
const maxTextBeyondLimit = 100_000;

/** A name that no schema declares. */
const undeclaredName = 'zq7_undeclared';

/** Calls that are derived from an inputSchema. */
interface DerivedVariants {
  readonly variants: readonly CallVariant[];
  /** The number of all variants, of which the seed may have chosen a part. */
  readonly total: number;
}

/**
 * Derives the calls of a tool from its inputSchema: each enum value and bound, null, absence, odd texts, values beyond the
 * bounds, an undeclared argument, no arguments, a long text, a progress token.
 *
 * @param base arguments with which the tool succeeds
 * @param limit the maximum number of calls; the seed chooses among more
 */
export function deriveVariants(
  schema: JsonObject,
  base: JsonObject,
  { limit, seed }: { readonly limit: number; readonly seed: number },
): DerivedVariants {
  const allows: AllowsChanges = (changes) => allowsArguments(schema, applyChanges(base, changes));
  const groups = variantGroups(schema, base, allows);
  const variants = [...groups.first, ...groups.withSchemaValues.flat(), ...groups.others.flat()];
  const total = variants.length;
  if (total <= limit) return { variants, total };
  return { variants: chooseVariants(groups, limit, seed, allows), total };
}

/** Whether the inputSchema allows the base arguments with these changes. */
type AllowsChanges = (changes: readonly ArgumentChange[]) => boolean;

/** The variants of a tool by their purpose. */
interface VariantGroups {
  /** Always sent: an undeclared argument, no arguments, a long text. */
  readonly first: readonly CallVariant[];
  /** Values that the schema names, for each parameter. */
  readonly withSchemaValues: readonly (readonly CallVariant[])[];
  /** Odd and long texts, values beyond the bounds, a progress token. */
  readonly others: readonly (readonly CallVariant[])[];
}

function variantGroups(schema: JsonObject, base: JsonObject, allows: AllowsChanges): VariantGroups {
  const required = new Set(requiredOf(schema));
  const parameters = propertiesOf(schema)
    .slice(0, maxParameters)
    .map(([name, property]) => parameterVariants(name, property, base[name], required.has(name), allows));
  const undeclaredChange = [{ name: undeclaredName, value: 'x' }];
  const first: CallVariant[] = [
    { changes: undeclaredChange, expectedEnding: allows(undeclaredChange) ? 'answer' : 'refusal' },
    { changes: [], expectedEnding: 'answer', omitsArguments: true },
  ];
  // A text that a maxLength refuses goes first: a server without that check may fail.
  const [firstLong, ...otherLong] = parameters
    .flatMap(({ long }) => long)
    .toSorted(
      (left, right) => Number(right.expectedEnding === 'refusal') - Number(left.expectedEnding === 'refusal'),
    );
  if (firstLong) first.push(firstLong);
  const progress: CallVariant = {
    changes: [],
    expectedEnding: 'result',
    meta: { progressToken: 'zq7-progress' },
  };
  return {
    first,
    withSchemaValues: parameters.map(({ withSchemaValues }) => withSchemaValues),
    others: [
      [...parameters.flatMap(({ odd }) => odd), ...otherLong],
      parameters.flatMap(({ beyond }) => beyond),
      [progress],
    ],
  };
}

/** The variants that change one parameter. */
function parameterVariants(
  name: string,
  property: JsonObject,
  baseValue: Json | undefined,
  isRequired: boolean,
  allows: AllowsChanges,
) {
  const variant = (value: Json | undefined, expectedEnding: ExpectedEnding): CallVariant => ({
    changes: [{ name, value }],
    expectedEnding,
  });
  const isAllowed = (value: Json | undefined): boolean => allows([{ name, value }]);
  const answerOrRefusal = (value: Json): ExpectedEnding =>
    isAllowed(value) || value === null ? 'answer' : 'refusal';
  const absence = isRequired ? [] : [undefined];
  const newValues = [...namedValues(property), ...absence].filter(
    (value) => !isDeepStrictEqual(value, baseValue),
  );
  return {
    withSchemaValues: unique(newValues)
      .filter(isAllowed)
      .map((value) => variant(value, 'result')),
    odd: oddValues(property).map((value) => variant(value, answerOrRefusal(value))),
    long: longTexts(property).map((value) => variant(value, answerOrRefusal(value))),
    beyond: valuesBeyond(property)
      .filter((value) => !isAllowed(value))
      .map((value) => variant(value, 'refusal')),
  };
}

/** Chooses variants of each group. Half of the calls have the values that the schema names, which are combined. */
function chooseVariants(
  { first, withSchemaValues, others }: VariantGroups,
  limit: number,
  seed: number,
  allows: AllowsChanges,
): readonly CallVariant[] {
  const random = randomFrom(seed);
  const combinations = shuffle(combineParameters(withSchemaValues, allows), random);
  const half = Math.ceil(limit / 2);
  const rest = [...others.map((group) => shuffle(group, random)), combinations.slice(half)];
  return [...first, ...combinations.slice(0, half), ...interleave(rest)].slice(0, limit);
}

/** The maximum number of changed parameters: a schema may have thousands. */
const maxParameters = 50;

/** The arguments of a call after its changes. */
export function applyChanges(base: JsonObject, changes: readonly ArgumentChange[]): JsonObject {
  const args: Record<string, Json> = { ...base };
  for (const { name, value } of changes) {
    if (value === undefined) delete args[name];
    else args[name] = value;
  }
  return withoutPrototype(args);
}

const maxExamples = 3;
/** The maximum number of enum values: they are compared in pairs, and a hostile schema may list a hundred thousand. */
const maxValues = 200;

/** The values that a schema names: its enum, const, default, examples, bounds, both booleans, null. */
function namedValues(schema: JsonObject): readonly Json[] {
  const { enum: listed, const: only, default: defaultValue, examples, pattern, format } = schema;
  const types = typesOf(schema);
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength } = schema;
  const numbers = [minimum, maximum, shiftBound(exclusiveMinimum, 1), shiftBound(exclusiveMaximum, -1)];
  const values = [only, defaultValue, ...numbers].filter((value) => value !== undefined);
  if (Array.isArray(examples)) values.unshift(...examples.slice(0, maxExamples));
  if (Array.isArray(listed)) values.unshift(...listed.slice(0, maxValues));
  const isFree = pattern === undefined && format === undefined;
  if (isFree && types.includes('string'))
    for (const length of [minLength, maxLength]) if (isLength(length)) values.push('x'.repeat(length));
  if (types.includes('boolean')) values.push(true, false);
  if (types.includes('null')) values.push(null);
  return values;
}

/** Odd texts for an argument that takes any text; null for one that does not declare it. */
function oddValues(schema: JsonObject): readonly Json[] {
  const types = typesOf(schema);
  const values: Json[] = isFreeText(schema) ? [...oddTexts] : [];
  if (types.length > 0 && !types.includes('null')) values.push(null);
  return values;
}

/** A text of ten times the maxLength of an argument that takes any text, or a very long one. */
function longTexts(schema: JsonObject): readonly string[] {
  const { maxLength } = schema;
  if (!isFreeText(schema)) return [];
  if (typeof maxLength !== 'number') return ['x'.repeat(maxTextLength)];
  if (maxLength < maxTextBeyondLimit) return ['x'.repeat(Math.min(10 * maxLength, maxTextBeyondLimit))];
  return [];
}

/** Whether an argument takes any text, of any length or up to a maximum. */
export function isFreeText(schema: JsonObject): boolean {
  const { enum: listed, const: only, pattern, format } = schema;
  const isUnrestricted = [listed, only, pattern, format].every((keyword) => keyword === undefined);
  return isUnrestricted && typesOf(schema).includes('string');
}

/** Values of the right type that the schema does not allow. */
function valuesBeyond(schema: JsonObject): readonly Json[] {
  const { enum: listed, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const types = typesOf(schema);
  const numbers = [shiftBound(minimum, -1), shiftBound(maximum, 1), exclusiveMinimum, exclusiveMaximum];
  const values = numbers.filter((value) => value !== undefined);
  if (Array.isArray(listed) && types.includes('string')) return ['zq7-not-listed', ...values];
  return values;
}

function shiftBound(bound: Json | undefined, step: number): number | undefined {
  const moved = typeof bound === 'number' ? bound + step : undefined;
  if (Number.isSafeInteger(moved) || !Number.isInteger(bound)) return moved;
  return undefined;
}

function isLength(value: Json | undefined): value is number {
  return typeof value === 'number' && value > 0 && value <= maxTextLength;
}

/**
 * Combines the first value of each parameter in one call, then the second values, and so on. If the schema does not allow a combination,
 * each value has its own call.
 */
function combineParameters(
  columns: readonly (readonly CallVariant[])[],
  allows: AllowsChanges,
): readonly CallVariant[] {
  const rows = Math.max(0, ...columns.map((column) => column.length));
  return Array.from({ length: rows }, (_, row): readonly CallVariant[] => {
    const cells = columns.flatMap((column) => column[row] ?? []);
    const changes = cells.flatMap((cell) => cell.changes);
    if (allows(changes)) return [{ changes, expectedEnding: 'result' }];
    return cells;
  }).flat();
}

/** The first of each group, the second of each, and so on. */
function interleave(groups: readonly (readonly CallVariant[])[]): readonly CallVariant[] {
  const rows = Math.max(...groups.map((group) => group.length));
  return Array.from({ length: rows }, (_, row) => groups.flatMap((group) => group[row] ?? [])).flat();
}

function unique(values: readonly (Json | undefined)[]): readonly (Json | undefined)[] {
  return values.filter(
    (value, at) => values.findIndex((otherValue) => isDeepStrictEqual(otherValue, value)) === at,
  );
}

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ item }) => item);
}

/** Repeatable random numbers from 0 to 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/**
 * Simpler calls than a failed call: with one of its changes, with a shorter text, without optional arguments. The first one that also
 * fails is reported.
 */
export function simplerVariants(
  { changes, ...variant }: CallVariant,
  base: JsonObject,
  schema: JsonObject,
): readonly SimplerVariant[] {
  const simpler: SimplerVariant[] = [];
  const [firstChange, ...otherChanges] = changes;
  if (otherChanges.length > 0)
    for (const change of changes) simpler.push({ variant: { ...variant, changes: [change] }, base });
  else if (firstChange)
    for (const value of shorterTexts(firstChange.value))
      simpler.push({ variant: { ...variant, changes: [{ ...firstChange, value }] }, base });
  const required = new Set(requiredOf(schema));
  const isOptional = (name: string) => !required.has(name) && !changes.some((change) => change.name === name);
  const removals = Object.keys(base)
    .filter(isOptional)
    .map((name) => ({ name, value: undefined }));
  if (removals.length > 0)
    simpler.push({ variant: { ...variant, changes }, base: applyChanges(base, removals) });
  return simpler;
}

export interface SimplerVariant {
  readonly variant: CallVariant;
  readonly base: JsonObject;
}

/** Shorter texts of the same kind: the first character, a tenth, a half. */
function shorterTexts(value: Json | undefined): readonly string[] {
  if (typeof value !== 'string' || value.length < 2) return [];
  const characters = [...value];
  if (characters.length === 1) return [];
  return [characters.length, 10, 2].map((part) =>
    characters.slice(0, Math.floor(characters.length / part)).join(''),
  );
}
