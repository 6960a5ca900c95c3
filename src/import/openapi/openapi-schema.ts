import {
  childPointer,
  isObject,
  type Json,
  type JsonObject,
  objectOr,
  patternFlaw,
  requiredOf,
  typesOf,
} from 'market-mcp-contract/json';
import { maxSchemas } from '../../fixes/definitions.ts';
import { parseFieldName } from '../../model/names.ts';
import { digitsPattern } from '../digit-texts.ts';
import { fileSchema, isFile } from './file.ts';
import { type DocumentPlace, DocumentRefusal, type Lost } from './openapi-document.ts';
import {
  asDigits,
  counts,
  described,
  documentTypes,
  enumOf,
  isContainerType,
  isLargeInteger,
  isNullType,
  isOfTypes,
  numberLimits,
  type Side,
  typeKeyword,
  uncheckedKeywords,
  withKnownValues,
  withValues,
} from './openapi-keywords.ts';
import { hasScalarType } from './style.ts';
import { isNullable, nullable, unionOf } from './union.ts';

const deepest = 9;

/** Maximum number of schemas in a definition whose members are cut off as far as possible. */
const maxFlatSchemas = 10_000;

/**
 * Converts a schema of the document into a plain, self-contained JSON Schema: references resolved, `allOf` merged, `oneOf` and
 * `anyOf` united, recursion and great depth cut off. The result keeps types, members and values; for an output, no keyword
 * that would only reject answers.
 *
 * @param lost receives what was cut off or omitted
 * @param holdsFiles a binary text is a file, which callers give in base64
 * @param limit maximum number of schemas in the result before it is cut off
 * @throws Refusal if a reference cannot be resolved, or it has too many members
 */
export function schemaOf(
  place: DocumentPlace,
  side: Side,
  lost: Lost,
  holdsFiles = false,
  limit = maxSchemas,
): JsonObject {
  for (let depth = deepest; ; depth -= 1) {
    const notes: [string, string][] = [];
    const schema = new Conversion({ side, depth, notes, holdsFiles, limit }).whole(place);
    if (schema === null) continue;
    for (const note of new Set(notes.map(([, text]) => text))) {
      const places = [...new Set(notes.filter(([, text]) => text === note).map(([at]) => at))];
      const otherPlaces = places.length - 1;
      lost(`${places[0]}${otherPlaces > 0 ? ` and ${otherPlaces} more` : ''}`, note);
    }
    return schema;
  }
}

/** Note about an input that may be null. Callers omit an optional parameter instead. */
export const nullNote = 'accepts null, which callers cannot give';
const mergedNote =
  'has alternatives: the members of all of them are inputs, and the API checks which go together';
const chosenNote = 'has alternatives: callers give the first object, or the first alternative';

/** A schema of an input before and after its conversion. */
interface ConvertedInput {
  readonly schema: JsonObject;
  readonly variants: readonly JsonObject[];
  readonly input: JsonObject;
  /** The types before one of them was chosen. */
  readonly types: readonly Json[];
  readonly isEmptied: boolean;
}

/** Thrown by a conversion with too many schemas. */
class TooLarge extends Error {}

interface ConversionOptions {
  readonly side: Side;
  readonly depth: number;
  /** Receives pointer and text of what is cut off. */
  readonly notes: [string, string][];
  readonly holdsFiles: boolean;
  readonly limit: number;
}

class Conversion {
  #schemas = 0;
  readonly #options: ConversionOptions;

  constructor(options: ConversionOptions) {
    this.#options = options;
  }

  /** The schema; null if it is too large and must be cut off at a smaller depth. */
  whole(place: DocumentPlace): JsonObject | null {
    try {
      return this.#convert(place, []);
    } catch (error) {
      if (error instanceof TooLarge) return null;
      throw error;
    }
  }

  /** @param open pointers of the enclosing schemas */
  #convert(reference: DocumentPlace, open: readonly string[]): JsonObject {
    const place = withBeside(reference);
    this.#schemas += 1;
    if (this.#schemas > this.#options.limit && this.#options.depth > 1) throw new TooLarge();
    if (this.#schemas > maxFlatSchemas)
      throw new DocumentRefusal(`its schema has more than ${maxFlatSchemas} members`, place.from);
    const { given: source, value: schema, pointer } = place;
    if (!isObject(schema)) return {};
    // Authors of 3.0 documents expect that a description beside a $ref also applies.
    const siblings =
      isObject(source) && source !== schema ? { description: source.description ?? schema.description } : {};
    const schemaWithSiblings = { ...schema, ...siblings } as JsonObject;
    const types = documentTypes(schemaWithSiblings);
    const isCircle = open.includes(pointer);
    const isDeep = open.length > this.#options.depth && (types.length === 0 || types.some(isContainerType));
    if (isCircle || isDeep || open.length > deepest * 2) {
      const reason = isCircle ? 'refers to itself' : 'is nested too deep';
      this.#options.notes.push([pointer, `${reason}: its members are not described`]);
      return {
        ...typeKeyword(types),
        ...(types.includes('array') && { items: typeKeyword(documentTypes(place.at('items').members)) }),
        ...described(schemaWithSiblings),
      };
    }
    return this.#convertPlain(schemaWithSiblings, place, [...open, pointer]);
  }

  #convertPlain(source: JsonObject, place: DocumentPlace, open: readonly string[]): JsonObject {
    if (this.#options.holdsFiles && isFile(source)) return fileSchema(source);
    const schema = this.#withDigits(source, place.pointer);
    const ownKeywords = this.#own(schema, place, open);
    const listed = (keyword: string) => (schema[keyword] === undefined ? [] : place.at(keyword).items());
    const parts = listed('allOf').map((part) => this.#convert(part, open));
    const mergedSchema =
      parts.length > 0 ? mergeAll([...parts, ownKeywords, { required: requiredOf(schema) }]) : ownKeywords;
    const variants = [...listed('oneOf'), ...listed('anyOf')].map((variant) => this.#convert(variant, open));
    const united =
      variants.length > 0 ? mergeAll([unionOf(variants, this.#options.side), mergedSchema]) : mergedSchema;
    const empties = schema.nullable === true || isNullType(schema);
    const result = { ...united, ...described(schema, united) };
    if (this.#options.side === 'input') {
      const input = withValues(schema, plainParameterSchema(result), 'input');
      const isEmptied = empties || isNullable(united);
      this.#reportInput({ schema, variants, input, types: typesOf(result), isEmptied }, place.pointer);
      return input;
    }
    const describedSchema = withKnownValues(schema, result);
    return withValues(
      schema,
      empties || isNullable(united) ? nullable(describedSchema) : describedSchema,
      'output',
    );
  }

  /** Reports how an input differs from its schema. */
  #reportInput({ schema, variants, input, types, isEmptied }: ConvertedInput, pointer: string): void {
    const { notes } = this.#options;
    const typesWithoutNull = types.filter((type) => type !== 'null');
    if (typesWithoutNull.length > 1 && typeof input.type === 'string')
      notes.push([pointer, `accepts ${typesWithoutNull.join(' or ')}: callers give ${input.type}`]);
    if (isEmptied && typesWithoutNull.length > 0) notes.push([pointer, nullNote]);
    const alternatives = variants.filter(({ type }) => type !== 'null');
    const isMerged = alternatives.every(({ type }) => type === 'object');
    if (alternatives.length > 1 && isMerged) notes.push([pointer, mergedNote]);
    else if (alternatives.length > 1 && !alternatives.every(hasScalarType)) notes.push([pointer, chosenNote]);
    if (schema.default !== undefined && schema.default !== null && input.default === undefined)
      notes.push([childPointer(pointer, 'default'), 'was dropped: its schema does not admit it']);
    for (const keyword of uncheckedKeywords) {
      const isStated = schema[keyword] !== undefined && schema[keyword] !== false;
      if (isStated) notes.push([childPointer(pointer, keyword), 'was dropped: only the API checks it']);
    }
  }

  /** A large integer is a text of digits in requests, and can be one in answers. */
  #withDigits(schema: JsonObject, pointer: string): JsonObject {
    const isInput = this.#options.side === 'input';
    if (!isLargeInteger(schema)) {
      // Only a text of digits that is an integer has this very pattern.
      if (isInput && schema.pattern === digitsPattern) return { ...schema, pattern: '^-?[0-9]+$' };
      return schema;
    }
    const reason = 'is an integer that a JavaScript number may not hold exactly';
    this.#options.notes.push([
      pointer,
      `${reason}: ${isInput ? 'callers give' : 'a large one arrives as'} text`,
    ]);
    if (isInput) return asDigits(schema);
    return { ...schema, type: [...documentTypes(schema), 'string'] };
  }

  /** The schema's own keywords, without those that combine other schemas. */
  #own(schema: JsonObject, place: DocumentPlace, open: readonly string[]): JsonObject {
    const types = documentTypes(schema);
    return {
      ...typeKeyword(types.length === 0 && isNullType(schema) ? ['null'] : types),
      ...(this.#options.side === 'input' && this.#limits(schema, types, place.pointer)),
      ...(types.includes('object') && this.#members(schema, place, open)),
      ...(types.includes('array') && {
        // Without own items, those of allOf count.
        ...((schema.items !== undefined || schema.allOf === undefined) && {
          items: this.#convert(place.at('items'), open),
        }),
        ...(this.#options.side === 'input' && counts(schema, ['minItems', 'maxItems'])),
      }),
    };
  }

  #members(schema: JsonObject, place: DocumentPlace, open: readonly string[]): JsonObject {
    const hidden = this.#options.side === 'input' ? 'readOnly' : 'writeOnly';
    const members = place.at('properties').entries();
    const properties = members.flatMap(([name, property]): [string, JsonObject][] => {
      const { given: source, from } = property;
      if (source === false || (isObject(source) && source[hidden] === true)) return [];
      if (!parseFieldName(name, from).ok) {
        this.#options.notes.push([from, 'was dropped: no field can have its name']);
        return [];
      }
      const converted = this.#convert(property, open);
      if (hidden === 'readOnly' && converted.type === 'null') {
        this.#options.notes.push([from, 'was dropped: it can only be null']);
        return [];
      }
      return [[name, converted]];
    });
    const names = new Set(properties.map(([name]) => name));
    const additionalProperties = this.#further(schema, place, open);
    return {
      ...(properties.length > 0 && {
        properties: Object.fromEntries(properties),
        required: [...new Set(requiredOf(schema))].filter((name) => names.has(name)),
      }),
      ...(additionalProperties && { additionalProperties: additionalProperties }),
    };
  }

  /** The schema of members that are not declared, with the schema of members by pattern, whose names are not checked. */
  #further(schema: JsonObject, place: DocumentPlace, open: readonly string[]): JsonObject | undefined {
    const { additionalProperties, properties } = schema;
    const isTyped = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
    const patterns = place.at('patternProperties').entries();
    if (patterns.length > 0)
      this.#options.notes.push([
        childPointer(place.pointer, 'patternProperties'),
        'is not checked: any name is accepted',
      ]);
    const isOpen = !isTyped && additionalProperties !== false && properties !== undefined;
    const schemas = [
      ...(isTyped ? [place.at('additionalProperties')] : []),
      // Where other members may have any type, theirs would reject these.
      ...(isOpen ? [] : patterns.map(([, pattern]) => pattern)),
    ].map((part) => this.#convert(part, open));
    if (schemas.length > 0) return unionOf(schemas, this.#options.side);
    return undefined;
  }

  /** The checks of an argument. An API may answer with further values, and with dates in other forms. */
  #limits(schema: JsonObject, types: readonly string[], pointer: string): JsonObject {
    const isNumber = types.includes('number') || types.includes('integer');
    const listed = enumOf(schema, types);
    const { multipleOf } = schema;
    if (isNumber && multipleOf !== undefined && !Number.isSafeInteger(multipleOf))
      this.#options.notes.push([childPointer(pointer, 'multipleOf'), 'was dropped: it is not an integer']);
    return {
      ...listed,
      ...(isNumber && numberLimits(schema)),
      // A listed value counts, even if the format says otherwise.
      ...(types.includes('string') && listed.enum === undefined && this.#textLimits(schema, pointer)),
    };
  }

  #textLimits(schema: JsonObject, pointer: string): JsonObject {
    const { pattern } = schema;
    // Many documents call a URI so.
    const format = schema.format === 'url' ? 'uri' : schema.format;
    const keptKeywords = {
      ...(typeof format === 'string' && formats.has(format) && { format }),
      ...counts(schema, ['minLength', 'maxLength']),
    };
    if (typeof pattern !== 'string') return keptKeywords;
    const flaw = patternFlaw(pattern);
    if (flaw) this.#options.notes.push([childPointer(pointer, 'pattern'), `was dropped: it ${flaw.message}`]);
    return { ...keptKeywords, ...(!flaw && { pattern }) };
  }
}

/** Formats that callers can follow. */
const formats = new Set(['date-time', 'date', 'uuid', 'email', 'uri', 'hostname', 'ipv4', 'ipv6']);

/** Keywords that say nothing of the values. */
const annotation = /^(?:\$|x-|(?:title|summary|description|deprecated|readOnly|writeOnly|externalDocs)$)/;

/** A place with a reference; if other keywords apply beside it (OpenAPI 3.1), the place with an `allOf` of both. */
function withBeside(original: DocumentPlace): DocumentPlace {
  if (original.document.version !== '3.1') return original;
  const types = documentTypes(original.members);
  for (let place: DocumentPlace | undefined = original; place; place = place.next) {
    const { $ref, allOf, ...siblings } = objectOr(place.given);
    const isReference = typeof $ref === 'string';
    const isBeside = allOf !== undefined || Object.keys(siblings).some((name) => !annotation.test(name));
    if (!isReference || !isBeside) continue;
    const { description = siblings.description } = objectOr(original.given);
    const parts: readonly Json[] = Array.isArray(allOf) ? allOf : [];
    return place.with({
      ...typeKeyword(types),
      ...siblings,
      ...(description !== undefined && { description }),
      allOf: [{ $ref }, ...parts],
    });
  }
  return original;
}

/** Merges schemas that all apply. */
function mergeAll(schemas: readonly JsonObject[]): JsonObject {
  const objects = (keyword: string) => schemas.map((schema) => schema[keyword]).filter(isObject);
  const properties = Object.assign({}, ...objects('properties'));
  const required = new Set(schemas.flatMap((schema) => schema.required ?? []));
  const { required: _, ...keywords } = Object.assign({}, ...schemas);
  return {
    ...keywords,
    ...(Object.keys(properties).length > 0 && {
      properties,
      required: [...required].filter((name) => Object.hasOwn(properties, String(name))),
    }),
  };
}

/** A parameter has one plain type (C§2.1), without null; without a type, it is a string. */
function plainParameterSchema(schema: JsonObject): JsonObject {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null') as readonly string[];
  const type = types.includes('string') ? 'string' : types[0];
  if (type !== undefined) {
    const { enum: values, ...keywords } = schema;
    const allowedValues = Array.isArray(values)
      ? (values as readonly Json[]).filter((value) => isOfTypes(value, [type]))
      : [];
    return { ...keywords, type, ...(allowedValues.length > 0 && { enum: allowedValues }) };
  }
  if (schema.anyOf !== undefined || schema.type !== undefined) return schema;
  return { ...schema, type: isObject(schema.properties) ? 'object' : 'string' };
}
