import type { Json } from '../contract/model.ts';
import { fault } from '../model/input-error.ts';
import { mismatches } from '../model/match.ts';
import type { Fault, Field, Shape } from '../model/model.ts';
import { parseFieldName } from '../model/names.ts';
import { patternFlaw } from '../model/pattern-safety.ts';
import { shapeSchema } from './shape-schema.ts';

/**
 * What is wrong with fields that their types cannot tell: names that no object can hold or that come twice, patterns
 * that do not compile, ranges that hold nothing, and values that do not fit their own field.
 *
 * @param where path of the list, such as `tools[0].input`
 */
export function fieldFaults(fields: readonly Field[], where: string): readonly Fault[] {
  const seen = new Set<string>();
  return fields.flatMap((field, i) => {
    const at = `${where}[${i}]`;
    const name = parseFieldName(field.name, `${at}.name`);
    const twice = seen.has(field.name)
      ? [fault(`${at}.name`, field.name, 'this name comes twice', 'Give each field a name of its own.')]
      : [];
    seen.add(field.name);
    return [...(name.ok ? [] : name.faults), ...twice, ...shapeFaults(field, at)];
  });
}

/** What is wrong with a value and all that it holds. */
export function shapeFaults(shape: Shape, where: string): readonly Fault[] {
  return [
    ...patternFaults(shape, where),
    ...rangeFaults(shape, where),
    ...valueFaults(shape, where),
    ...(shape.items ? shapeFaults(shape.items, `${where}.items`) : []),
    ...(shape.fields ? fieldFaults(shape.fields, `${where}.fields`) : []),
  ];
}

function patternFaults({ pattern }: Shape, where: string): readonly Fault[] {
  const flaw = pattern === undefined ? undefined : patternFlaw(pattern);
  return flaw === undefined ? [] : [fault(`${where}.pattern`, pattern, flaw.message, flaw.hint)];
}

function rangeFaults({ minimum, maximum, type }: Shape, where: string): readonly Fault[] {
  if (minimum === undefined || maximum === undefined) return [];
  const holdsNone = type === 'integer' ? Math.ceil(minimum) > Math.floor(maximum) : minimum > maximum;
  if (!holdsNone) return [];
  const message = `no ${type} lies between ${minimum} and ${maximum}`;
  return [fault(`${where}.minimum`, minimum, message, 'Let minimum be the smaller one.')];
}

/** `enum` must fit the type, `default` and `examples` all of the field. */
function valueFaults(shape: Shape, where: string): readonly Fault[] {
  if (!patternsHold(shape)) return [];
  const { default: fallback, examples = [], enum: allowed = [], ...bare } = shape;
  return [
    ...misfits(bare, allowed, (i) => `${where}.enum[${i}]`),
    ...misfits(shape, examples, (i) => `${where}.examples[${i}]`),
    ...misfits(shape, fallback === undefined ? [] : [fallback], () => `${where}.default`),
  ];
}

function misfits(shape: Shape, values: readonly Json[], where: (i: number) => string): readonly Fault[] {
  if (values.length === 0) return [];
  const schema = shapeSchema(shape);
  return values.flatMap((value, i) => {
    const [problem] = mismatches(schema, value, '');
    if (!problem) return [];
    const message = `does not fit its own field: ${problem.path ? `${problem.path} ` : ''}expected ${problem.expected}`;
    return [fault(where(i), value, message, 'Write a value that fits, or change the field.')];
  });
}

function patternsHold({ pattern, items, fields = [] }: Shape): boolean {
  return (
    (pattern === undefined || patternFlaw(pattern) === undefined) &&
    (items === undefined || patternsHold(items)) &&
    fields.every(patternsHold)
  );
}
