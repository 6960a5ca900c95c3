import { type InputError, inputError } from 'market-mcp-contract/command';
import { clientMismatches, type Json, type JsonObject, patternFlaw, present } from 'market-mcp-contract/json';
import { parseFieldName } from '../model/names.ts';
import type { Field, Shape } from '../model/tool-model.ts';

/**
 * Errors of fields beyond their types: forbidden or repeated names, patterns
 * that do not compile, empty ranges, and values that do not match their field.
 *
 * @param location path of the list, such as `tools[0].input`
 */
export function fieldErrors(fields: readonly Field[], location: string): readonly InputError[] {
  const usedNames = new Set<string>();
  return fields.flatMap((field, i) => {
    const at = `${location}[${i}]`;
    const name = parseFieldName(field.name, `${at}.name`);
    const duplicateErrors = usedNames.has(field.name)
      ? [inputError(`${at}.name`, field.name, 'this name is used twice', 'Rename one of the fields.')]
      : [];
    usedNames.add(field.name);
    return [...(name.ok ? [] : name.errors), ...duplicateErrors, ...shapeErrors(field, at)];
  });
}

/** The errors of a value and its members. */
export function shapeErrors(shape: Shape, location: string): readonly InputError[] {
  return [
    ...patternErrors(shape, location),
    ...rangeErrors(shape, location),
    ...valueErrors(shape, location),
    ...(shape.items ? shapeErrors(shape.items, `${location}.items`) : []),
    ...(shape.fields ? fieldErrors(shape.fields, `${location}.fields`) : []),
  ];
}

function patternErrors({ pattern }: Shape, location: string): readonly InputError[] {
  const flaw = pattern === undefined ? undefined : patternFlaw(pattern);
  if (flaw === undefined) return [];
  return [inputError(`${location}.pattern`, pattern, flaw.message, flaw.hint)];
}

function rangeErrors({ minimum, maximum, type }: Shape, location: string): readonly InputError[] {
  if (minimum === undefined || maximum === undefined) return [];
  const holdsNone = type === 'integer' ? Math.ceil(minimum) > Math.floor(maximum) : minimum > maximum;
  if (!holdsNone) return [];
  const message = `there is no ${type} between ${minimum} and ${maximum}`;
  return [inputError(`${location}.minimum`, minimum, message, 'Make minimum the smaller of the two.')];
}

/** `enum` must match the type, `default` and `examples` the whole field. */
function valueErrors(shape: Shape, location: string): readonly InputError[] {
  if (!patternsHold(shape)) return [];
  const { default: fallback, examples = [], enum: allowedValues = [], ...bareShape } = shape;
  return [
    ...shapeMismatches(bareShape, allowedValues, (i) => `${location}.enum[${i}]`),
    ...shapeMismatches(shape, examples, (i) => `${location}.examples[${i}]`),
    ...shapeMismatches(shape, fallback === undefined ? [] : [fallback], () => `${location}.default`),
  ];
}

function shapeMismatches(
  shape: Shape,
  values: readonly Json[],
  location: (i: number) => string,
): readonly InputError[] {
  if (values.length === 0) return [];
  const schema = shapeSchema(shape);
  return values.flatMap((value, i) => {
    const [problem] = clientMismatches(schema, value, '');
    if (!problem) return [];
    const message = `does not match its field: ${problem.path ? `${problem.path} ` : ''}expected ${problem.expected}`;
    return [inputError(location(i), value, message, 'Change the value, or change the field.')];
  });
}

function patternsHold({ pattern, items, fields = [] }: Shape): boolean {
  return (
    (pattern === undefined || patternFlaw(pattern) === undefined) &&
    (items === undefined || patternsHold(items)) &&
    fields.every(patternsHold)
  );
}

/** The JSON Schema of a value, exactly as its author described it. */
export function shapeSchema(shape: Shape): JsonObject {
  const { type, nullable = false } = shape;
  return present({
    type: nullable ? [type, 'null'] : type,
    description: shape.description,
    enum: shape.enum && nullable ? [...shape.enum, null] : shape.enum,
    format: shape.format,
    pattern: shape.pattern,
    minimum: shape.minimum,
    maximum: shape.maximum,
    default: shape.default,
    examples: shape.examples,
    items: shape.items && shapeSchema(shape.items),
    ...(shape.fields && fieldsSchema(shape.fields)),
  });
}

/** `properties` and `required` of an object with these members. */
export function fieldsSchema(fields: readonly Field[]): {
  properties: JsonObject;
  required: readonly string[];
} {
  return {
    properties: Object.fromEntries(fields.map((field) => [field.name, shapeSchema(field)])),
    required: fields.filter((field) => field.required).map((field) => field.name),
  };
}
