import {
  below,
  clientMismatches,
  isObject,
  isReadable,
  type Json,
  type JsonObject,
} from 'market-mcp-contract/json';
import { isFailure } from '../sample.ts';
import { widened } from '../widen.ts';
import { mayBeJson } from './body.ts';
import type { Lost, OpenApiDocument, Resolved } from './document.ts';
import { documentTypes } from './keywords.ts';

/** The examples of a response of Swagger 2.0: by media type, or the answer itself under another name. */
export function oldExamples({ value: { examples }, pointer }: Resolved<JsonObject>): readonly Resolved[] {
  const listed = Object.entries(isObject(examples) ? examples : {});
  return listed
    .filter(([type]) => !type.includes('/') || mayBeJson(type))
    .map(([type, value]) => ({ value, pointer: below(pointer, 'examples', type) }));
}

/** The examples of a media type; those of its schema if it has none. */
export function examplesOf(
  document: OpenApiDocument,
  { value: media, pointer }: Resolved<JsonObject>,
): readonly Resolved[] {
  const listed = Object.entries(isObject(media.examples) ? media.examples : {}).flatMap(([name, one]) => {
    const at = below(pointer, 'examples', name);
    const example = document.object(one, at);
    return example?.value.value === undefined ? [] : [{ value: example.value.value, pointer: at }];
  });
  const { example } = media;
  const all =
    example === undefined ? listed : [{ value: example, pointer: below(pointer, 'example') }, ...listed];
  return all.length > 0 ? all : schemaExamples(document, media.schema, below(pointer, 'schema'));
}

/** The examples of whole answers that a schema has. */
export function schemaExamples(
  document: OpenApiDocument,
  given: Json | undefined,
  pointer: string,
): readonly Resolved[] {
  const schema = document.object(given, pointer);
  if (!schema) return [];
  const { example, examples } = schema.value;
  const listed = Array.isArray(examples) ? (examples as readonly Json[]) : [];
  return [
    ...(example === undefined ? [] : [{ value: example, pointer: below(schema.pointer, 'example') }]),
    ...listed.map((value, i) => ({ value, pointer: below(schema.pointer, 'examples', i) })),
  ].filter(({ value }) => isObject(value) || Array.isArray(value));
}

/** Examples of an answer that its schema accepts. */
export interface Fitting {
  readonly schema: JsonObject;
  readonly examples: readonly Json[];
}

/**
 * The examples that can be answers, and the schema, widened until it accepts them. An API answers as the example of its document
 * does more often than as the schema beside it.
 *
 * @param isStrict the schema stays as it is, and the examples that it rejects are left out
 * @param lost receives each example that the schema rejects, with the first mismatch, and each that is no answer
 */
export function fitting(
  given: JsonObject,
  examples: readonly Resolved[],
  isStrict: boolean,
  lost: Lost,
): Fitting {
  let schema = given;
  const kept: Json[] = [];
  for (const { value: said, pointer } of examples) {
    const value = parsed(said, given);
    const why = noAnswer(value, given);
    if (why !== undefined) {
      lost(pointer, `${why}: this example was left out`);
      continue;
    }
    const [first] = clientMismatches(schema, value, 'example');
    if (!first) {
      kept.push(value);
      continue;
    }
    const wider = isStrict ? schema : widened(schema, value);
    const isWide = wider !== schema && clientMismatches(wider, value, '').length === 0;
    const { path = 'example', expected, actual } = first;
    const done = isWide ? 'the schema was widened' : 'this example was left out';
    const mismatch = `${path}: expected ${expected}, found ${actual}`.slice(0, 200);
    lost(pointer, `contradicts its schema (${mismatch}): ${done}`);
    if (!isWide) continue;
    schema = wider;
    kept.push(value);
  }
  return { schema, examples: kept };
}

/** Many documents contain their examples as text. */
function parsed(value: Json, schema: JsonObject): Json {
  if (typeof value !== 'string' || documentTypes(schema).includes('string')) return value;
  try {
    return /^\s*[[{]/.test(value) ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}

function noAnswer(value: Json, schema: JsonObject): string | undefined {
  if (!isReadable(value)) return 'has too many values or levels';
  const types = documentTypes(schema);
  const isText = typeof value === 'string' && types.length > 0 && !types.includes('string');
  if (isText) return 'is a text, not the JSON of an answer';
  if (!isObject(value) || clientMismatches(schema, value, '').length === 0) return undefined;
  if (Object.keys(value).length === 0) return 'is empty';
  return isFailure(value) ? 'says that the request failed' : undefined;
}
