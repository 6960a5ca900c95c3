import { clientMismatches, isObject, isReadable, type Json, type JsonObject } from 'market-mcp-contract/json';
import { mayBeJson } from '../media-type.ts';
import { isFailureAnswer } from '../sample.ts';
import { widened } from '../widen.ts';
import type { DocumentPlace, LocatedValue, Lost } from './openapi-document.ts';
import { documentTypes } from './openapi-keywords.ts';

/** The examples of a response of Swagger 2.0: by media type, or the answer itself under another name. */
export function oldExamples(response: DocumentPlace): readonly LocatedValue[] {
  const listed = response.at('examples').entries();
  return listed.flatMap(([type, example]) =>
    !type.includes('/') || mayBeJson(type) ? asWritten(example) : [],
  );
}

/** The examples of a media type; those of its schema if it has none. */
export function examplesOf(media: DocumentPlace): readonly LocatedValue[] {
  const namedExamples = media.at('examples').entries();
  const listed = namedExamples.flatMap(([, example]) => {
    const { value } = example.members;
    if (value === undefined) return [];
    return [{ value, pointer: example.from }];
  });
  const examples = [...asWritten(media.at('example')), ...listed];
  if (examples.length > 0) return examples;
  return schemaExamples(media.at('schema'));
}

/** The examples of whole answers that a schema has. */
export function schemaExamples(schema: DocumentPlace): readonly LocatedValue[] {
  const examples = [schema.at('example'), ...schema.at('examples').items()];
  return examples.flatMap(asWritten).filter(({ value }) => isObject(value) || Array.isArray(value));
}

/** An example is data: what looks like a reference in it is none. */
function asWritten({ given: example, from }: DocumentPlace): readonly LocatedValue[] {
  if (example === undefined) return [];
  return [{ value: example, pointer: from }];
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
 * @param isStrict the schema stays unchanged, and the examples that it rejects are not used
 * @param lost receives each example that the schema rejects, with the first mismatch, and each that is no answer
 */
export function fittingExamples(
  answerSchema: JsonObject,
  examples: readonly LocatedValue[],
  isStrict: boolean,
  lost: Lost,
): Fitting {
  let schema = answerSchema;
  const fittingValues: Json[] = [];
  for (const { value: example, pointer } of examples) {
    const value = parseExample(example, answerSchema);
    const contradiction = exampleFlaw(value, answerSchema);
    if (contradiction !== undefined) {
      lost(pointer, `${contradiction}: this example is not used`);
      continue;
    }
    const [first] = clientMismatches(schema, value, 'example');
    if (!first) {
      fittingValues.push(value);
      continue;
    }
    const wider = isStrict ? schema : widened(schema, value);
    const isWide = wider !== schema && clientMismatches(wider, value, '').length === 0;
    const { path = 'example', expected, actual } = first;
    const consequence = isWide ? 'the schema was widened' : 'this example is not used';
    const mismatch = `${path}: expected ${expected}, found ${actual}`.slice(0, 200);
    lost(pointer, `contradicts its schema (${mismatch}): ${consequence}`);
    if (!isWide) continue;
    schema = wider;
    fittingValues.push(value);
  }
  return { schema, examples: fittingValues };
}

/** Many documents contain their examples as text. */
function parseExample(value: Json, schema: JsonObject): Json {
  if (typeof value !== 'string' || documentTypes(schema).includes('string')) return value;
  try {
    if (/^\s*[[{]/.test(value)) return JSON.parse(value);
    return value;
  } catch {
    return value;
  }
}

function exampleFlaw(value: Json, schema: JsonObject): string | undefined {
  if (!isReadable(value)) return 'has too many values or levels';
  const types = documentTypes(schema);
  const isText = typeof value === 'string' && types.length > 0 && !types.includes('string');
  if (isText) return 'is a text, not the JSON of an answer';
  if (!isObject(value) || clientMismatches(schema, value, '').length === 0) return undefined;
  if (Object.keys(value).length === 0) return 'is empty';
  if (isFailureAnswer(value)) return 'says that the request failed';
  return undefined;
}
