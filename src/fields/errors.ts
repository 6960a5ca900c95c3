import type { Json } from '../contract/model.ts';
import { inputError } from '../model/input-error.ts';
import { clientMismatches } from '../model/match.ts';
import type { Field, InputError, Shape } from '../model/model.ts';
import { parseFieldName } from '../model/names.ts';
import { patternFlaw } from '../model/pattern.ts';
import { shapeSchema } from './shape-schema.ts';

/**
 * What is wrong with fields that their types cannot tell: names that no object can hold or that come twice, patterns
 * that do not compile, ranges that hold nothing, and values that do not fit their own field.
 *
 * @param where path of the list, such as `tools[0].input`
 */
export function fieldErrors(fields: readonly Field[], where: string): readonly InputError[] {
  const seen = new Set<string>();
  return fields.flatMap((field, i) => {
    const at = `${where}[${i}]`;
    const name = parseFieldName(field.name, `${at}.name`);
    const twice = seen.has(field.name)
      ? [inputError(`${at}.name`, field.name, 'this name comes twice', 'Give each field a name of its own.')]
      : [];
    seen.add(field.name);
    return [...(name.ok ? [] : name.errors), ...twice, ...shapeErrors(field, at)];
  });
}

/** What is wrong with a value and all that it holds. */
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
  const message = `no ${type} lies between ${minimum} and ${maximum}`;
  return [inputError(`${where}.minimum`, minimum, message, 'Let minimum be the smaller one.')];
}

/** `enum` must fit the type, `default` and `examples` all of the field. */
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
    const message = `does not fit its own field: ${problem.path ? `${problem.path} ` : ''}expected ${problem.expected}`;
    return [inputError(where(i), value, message, 'Write a value that fits, or change the field.')];
  });
}

function patternsHold({ pattern, items, fields = [] }: Shape): boolean {
  return (
    (pattern === undefined || patternFlaw(pattern) === undefined) &&
    (items === undefined || patternsHold(items)) &&
    fields.every(patternsHold)
  );
}
