import { type InputError, inputError } from 'market-mcp-contract/command';
import { clientMismatches, type Json, type JsonObject, patternFlaw, present } from 'market-mcp-contract/json';
import type { Field, Shape } from '../model/model.ts';
import { parseFieldName } from '../model/names.ts';

/**
 * Errors of fields beyond their types: forbidden or repeated names, patterns
 * that do not compile, empty ranges, and values that do not match their field.
 *
 * @param where path of the list, such as `tools[0].input`
 */
export function fieldErrors(fields: readonly Field[], where: string): readonly InputError[] {
  const seen = new Set<string>();
  return fields.flatMap((field, i) => {
    const at = `${where}[${i}]`;
    const name = parseFieldName(field.name, `${at}.name`);
    const twice = seen.has(field.name)
      ? [inputError(`${at}.name`, field.name, 'this name is used twice', 'Rename one of the fields.')]
      : [];
    seen.add(field.name);
    return [...(name.ok ? [] : name.errors), ...twice, ...shapeErrors(field, at)];
  });
}

/** The errors of a value and its members. */
export function shapeErrors(shape: Shape, where: string): readonly InputError[] {
  return [
    ...patternErrors(shape, where),
    ...rangeErrors(shape, where),
    ...valueErrors(shape, where),
    ...(shape.items ? shapeErrors(shape.items, `${where}.items`) : []),
    ...(shape.fields ? fieldErrors(shape.fields, `${where}.fields`) : []),
  ];
}

function patternErrors({ pattern }: Shape, where: string): readonly InputError[] {
  const flaw = pattern === undefined ? undefined : patternFlaw(pattern);
  return flaw === undefined ? [] : [inputError(`${where}.pattern`, pattern, flaw.message, flaw.hint)];
}

function rangeErrors({ minimum, maximum, type }: Shape, where: string): readonly InputError[] {
  if (minimum === undefined || maximum === undefined) return [];
  const holdsNone = type === 'integer' ? Math.ceil(minimum) > Math.floor(maximum) : minimum > maximum;
  if (!holdsNone) return [];
  const message = `there is no ${type} between ${minimum} and ${maximum}`;
  return [inputError(`${where}.minimum`, minimum, message, 'Make minimum the smaller of the two.')];
}

/** `enum` must match the type, `default` and `examples` the whole field. */
function valueErrors(shape: Shape, where: string): readonly InputError[] {
  if (!patternsHold(shape)) return [];
  const { default: fallback, examples = [], enum: allowed = [], ...bare } = shape;
  return [
    ...mismatches(bare, allowed, (i) => `${where}.enum[${i}]`),
    ...mismatches(shape, examples, (i) => `${where}.examples[${i}]`),
    ...mismatches(shape, fallback === undefined ? [] : [fallback], () => `${where}.default`),
  ];
}

function mismatches(
  shape: Shape,
  values: readonly Json[],
  where: (i: number) => string,
): readonly InputError[] {
  if (values.length === 0) return [];
  const schema = shapeSchema(shape);
  return values.flatMap((value, i) => {
    const [problem] = clientMismatches(schema, value, '');
    if (!problem) return [];
    const message = `does not match its field: ${problem.path ? `${problem.path} ` : ''}expected ${problem.expected}`;
    return [inputError(where(i), value, message, 'Change the value, or change the field.')];
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
