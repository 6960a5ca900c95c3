import {
  isObject,
  isReadable,
  type Json,
  type JsonObject,
  matchesWithin,
  shorten,
  textOr,
} from 'market-mcp-contract/json';
import { digitsPattern } from '../digit-texts.ts';
import { plainText } from './document-text.ts';

/** Whether a schema describes requests or answers. */
export type Side = 'input' | 'output';

const jsonTypes = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);

/** The types that a schema names, or those that its other keywords imply, without null. */
export function documentTypes(schema: JsonObject): readonly string[] {
  const types = [schema.type ?? []].flat().filter((type): type is string => jsonTypes.has(type as string));
  if (types.length > 0) return [...new Set(types)];
  if (schema.type === 'file') return [];
  const { properties, additionalProperties, patternProperties } = schema;
  if ([properties, additionalProperties, patternProperties].some(isObject)) return ['object'];
  if (schema.items !== undefined) return ['array'];
  return [
    ...new Set(
      listedValues(schema)
        .map(typeOfValue)
        .filter((type) => jsonTypes.has(type)),
    ),
  ];
}

/** The values that a schema admits, by `const` or `enum`; none if it lists none. */
function listedValues(schema: JsonObject): readonly Json[] {
  if (schema.const !== undefined) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  return [];
}

export function isNullType({ type }: JsonObject): boolean {
  return [type ?? []].flat().includes('null');
}

export function isContainerType(type: string): boolean {
  return type === 'object' || type === 'array';
}

export function typeOfValue(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function typeKeyword(types: readonly string[]): JsonObject {
  const [only, secondType] = types;
  if (only === undefined) return {};
  return { type: secondType === undefined ? only : types };
}

export function described(schema: JsonObject, otherSchema: JsonObject = {}): JsonObject {
  const description =
    plainText(schema.description, 400) || plainText(schema.title, 100) || otherSchema.description;
  if (description === undefined || description === '') return {};
  return { description };
}

const largeFormat = /^(?:u?int(?:64|128|256)|u?long|big-?int(?:eger)?)$/i;

/** Whether a schema describes integers that a JavaScript number does not hold exactly, by its format, limits or values. */
export function isLargeInteger(schema: JsonObject): boolean {
  const types = documentTypes(schema);
  const isLarge = largeFormat.test(textOr(schema.format));
  if (!types.includes('integer') && !(isLarge && types.includes('number'))) return false;
  const { minimum, maximum, example, examples, default: fallback, enum: listed } = schema;
  const values = [minimum, maximum, example, examples, fallback, listed].flat();
  const beyond = (value: Json | undefined) =>
    typeof value === 'number' ? Math.abs(value) > Number.MAX_SAFE_INTEGER : /^-?\d{16,}$/.test(textOr(value));
  return values.some(beyond) || (isLarge && typeof maximum !== 'number' && listed === undefined);
}

/** The schema of an argument whose integers are texts of digits. */
export function asDigits({ minimum: _, maximum: __, format: ___, ...schema }: JsonObject): JsonObject {
  const text = (value: Json): Json => (Number.isSafeInteger(value) ? String(value) : value);
  const keywords = Object.entries(schema).filter(([name]) => !/^(?:exclusive|multipleOf)/.test(name));
  const valued = keywords.map(([name, value]): [string, Json] => {
    if (!['example', 'examples', 'default', 'enum', 'const'].includes(name)) return [name, value];
    return [name, Array.isArray(value) ? value.map(text) : text(value)];
  });
  return { ...Object.fromEntries(valued), type: 'string', pattern: digitsPattern };
}

/** Whether a value has one of these types. */
export function isOfTypes(value: Json, types: readonly string[]): boolean {
  const type = typeOfValue(value);
  return types.includes(type) || (type === 'number' && types.includes('integer'));
}

/** Keywords of inputs that a tool definition does not express. */
export const uncheckedKeywords = [
  ...['not', 'if', 'dependentRequired', 'dependentSchemas', 'dependencies', 'prefixItems', 'contains'],
  ...['propertyNames', 'uniqueItems', 'minProperties', 'maxProperties'],
] as const;

/** The allowed values of the schema's types; of a list that is too long for an agent, the first as examples. */
export function enumOf(schema: JsonObject, types: readonly string[]): JsonObject {
  const values = [...new Set(listedValues(schema))].filter((value) => isOfTypes(value, types));
  if (values.length > 200) return { examples: values.slice(0, 3) };
  if (values.length === 0) return {};
  return { enum: values };
}

/** The schema of an answer, with the values that its document lists as text and as examples. */
export function withKnownValues(schema: JsonObject, converted: JsonObject): JsonObject {
  const values = enumOf(schema, documentTypes(schema)).enum as readonly Json[] | undefined;
  if (values === undefined) return converted;
  const valueList = plainText(
    values
      .slice(0, maxShown)
      .map((value) => textOr(value, shorten(value)))
      .join(', '),
    300,
  );
  const knownValues = `Known values: ${valueList}${values.length > maxShown ? ' and others' : ''}.`;
  const { description } = converted;
  const examples = values.slice(0, 3);
  return {
    ...converted,
    description:
      typeof description === 'string'
        ? `${description.replace(/(?<![.!?])$/, '.')} ${knownValues}`
        : knownValues,
    ...(schema.example === undefined && schema.examples === undefined && { examples }),
  };
}

const maxShown = 20;

export function counts(schema: JsonObject, keywords: readonly string[]): JsonObject {
  const usefulKeywords = keywords.filter(
    (keyword) => Number.isSafeInteger(schema[keyword]) && Number(schema[keyword]) >= 0,
  );
  return Object.fromEntries(usefulKeywords.map((keyword) => [keyword, schema[keyword] as Json]));
}

/** In 3.0, a boolean marks a limit as exclusive. */
export function numberLimits({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: JsonObject): JsonObject {
  const low = typeof minimum === 'number' ? minimum : undefined;
  const high = typeof maximum === 'number' ? maximum : undefined;
  return {
    ...(low !== undefined && { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: low }),
    ...(high !== undefined && { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: high }),
    ...(typeof exclusiveMinimum === 'number' && { exclusiveMinimum }),
    ...(typeof exclusiveMaximum === 'number' && { exclusiveMaximum }),
    // Validators divide: 0.07 is no multiple of 0.01 for them.
    ...(Number.isSafeInteger(multipleOf) && Number(multipleOf) > 0 && { multipleOf }),
  };
}

/** Default and examples, if they match the converted schema; for an output, examples of scalars. */
export function withValues(schema: JsonObject, converted: JsonObject, side: Side): JsonObject {
  const types = [converted.type ?? []].flat() as readonly string[];
  const isScalar = types.length > 0 && !types.includes('object') && !types.includes('array');
  if (side === 'output' && !isScalar) return converted;
  const isHeld = (value: Json | undefined): value is Json => {
    if (value === undefined || value === null || !isReadable(value)) return false;
    const isPlain = Object.keys(converted).every((keyword) => plainKeywords.has(keyword));
    if (isPlain && isScalar) return fitsPlainly(converted, types, value);
    return matchesWithin(converted, converted, value);
  };
  const bounds = [
    schema.example,
    ...(Array.isArray(schema.examples) ? (schema.examples as readonly Json[]) : []),
  ];
  const examples = [...new Set(bounds.filter(isHeld))].slice(0, 3);
  return {
    ...converted,
    ...(side === 'input' && isHeld(schema.default) && { default: schema.default }),
    ...(examples.length > 0 && { examples }),
  };
}

/** Keywords that can be checked without a validator, which takes a thousand times as long. */
const plainKeywords = new Set(['type', 'description', 'enum']);

function fitsPlainly(schema: JsonObject, types: readonly string[], value: Json): boolean {
  const type = typeOfValue(value);
  const isTyped = types.includes(type) || (Number.isInteger(value) && types.includes('integer'));
  return isTyped && (!Array.isArray(schema.enum) || (schema.enum as readonly Json[]).includes(value));
}
