import { isObject, objectOr } from './json.ts';
import { pointerSegments as namesIn, valueAt } from './schema.ts';
import type { JsonObject } from './value.ts';
import { type LocatedSchema, schemasIn } from './walk.ts';

/** A way from a schema to one that compares a member or an item of the same value. */
interface Step {
  readonly part: Part;
  readonly to: JsonObject;
}

type Part =
  | { readonly kind: 'member' | 'pattern'; readonly name: string }
  | { readonly kind: 'others'; readonly except: JsonObject; readonly hasPatterns: boolean }
  | { readonly kind: 'items'; readonly from: number; readonly to: number };

/** The longest chain of references, and the visits and comparisons for one schema. Beyond these nothing is reported. */
const limits = { references: 500, work: 100_000 };

/**
 * The first schema inside a schema that refers to itself in two ways for the same part of a value, so that each level of the
 * value doubles the work of validation.
 */
export function doublingSchema(root: JsonObject, path: string): LocatedSchema | undefined {
  const places = [...schemasIn(root, path)];
  if (!places.some(({ schema }) => typeof schema.$ref === 'string')) return undefined;
  const stepsBySchema = new Map<JsonObject, readonly Step[]>();
  let work = 0;

  /** The steps from a schema, also through alternatives and references for the same value. Each way to a step counts. */
  const stepsOf = (schema: JsonObject): readonly Step[] => {
    const before = stepsBySchema.get(schema);
    if (before) return before;
    const steps: Step[] = [];
    const way = new Set<JsonObject>();
    const visit = (at: unknown): void => {
      if (!isObject(at) || way.has(at) || way.size > limits.references || ++work > limits.work) return;
      way.add(at);
      steps.push(...ownSteps(at));
      forSameValue(at, root).forEach(visit);
      way.delete(at);
    };
    visit(schema);
    stepsBySchema.set(schema, work > limits.work ? [] : steps);
    return steps;
  };

  /** What two steps, one of each list or two of one, lead to for the same part of a value. */
  const meeting = (
    some: readonly Step[],
    otherSteps: readonly Step[],
    isOneList = false,
  ): (readonly [JsonObject, JsonObject])[] => {
    const pairs: (readonly [JsonObject, JsonObject])[] = [];
    for (const [index, step] of some.entries()) {
      work += otherSteps.length;
      if (work > limits.work) break;
      const laterSteps = isOneList ? otherSteps.slice(index + 1) : otherSteps;
      for (const otherStep of laterSteps) {
        if (meet(step.part, otherStep.part)) pairs.push([step.to, otherStep.to]);
      }
    }
    return pairs;
  };

  const isDoubling = (schema: JsonObject): boolean => {
    const steps = stepsOf(schema);
    const pairs = meeting(steps, steps, true);
    const visited = new Map<JsonObject, Set<JsonObject>>();
    for (const [left, right] of pairs) {
      if (left === schema && right === schema) return true;
      const partners = visited.get(left) ?? new Set();
      if (partners.has(right)) continue;
      visited.set(left, partners.add(right));
      for (const pair of meeting(stepsOf(left), stepsOf(right))) pairs.push(pair);
    }
    return false;
  };

  const landings = new Set(places.flatMap(({ schema }) => stepsOf(schema).map(({ to }) => to)));
  return places.find(({ schema }) => landings.has(schema) && isDoubling(schema));
}

function meet(part: Part, otherPart: Part): boolean {
  if (part.kind === 'items' || otherPart.kind === 'items') {
    return (
      part.kind === 'items' &&
      otherPart.kind === 'items' &&
      part.from < otherPart.to &&
      otherPart.from < part.to
    );
  }
  if (part.kind === 'others' && otherPart.kind === 'others') return true;
  if (part.kind === 'others')
    return !part.hasPatterns && otherPart.kind === 'member' && !Object.hasOwn(part.except, otherPart.name);
  if (otherPart.kind === 'others') return meet(otherPart, part);
  return part.kind === otherPart.kind && part.name === otherPart.name;
}

/** The schemas that a schema applies to the same value. */
export function forSameValue(schema: JsonObject, root: JsonObject): readonly unknown[] {
  const { $ref, not, if: condition, then: thenSchema, else: otherwise } = schema;
  const { allOf, anyOf, oneOf, dependencies, dependentSchemas } = schema;
  const grouped = [allOf, anyOf, oneOf, dependencies, dependentSchemas].flatMap(objectEntries);
  const isInside = typeof $ref === 'string' && /^#(\/|$)/.test($ref);
  const referred = isInside ? valueAt(root, namesIn($ref)) : undefined;
  return [not, condition, thenSchema, otherwise, referred, ...grouped.map(([, part]) => part)];
}

function ownSteps(schema: JsonObject): readonly Step[] {
  const { properties, patternProperties, additionalProperties, items, additionalItems, contains } = schema;
  const to = (part: Part, target: unknown): Step[] => (isObject(target) ? [{ part, to: target }] : []);
  const allItems = { kind: 'items', from: 0, to: Number.POSITIVE_INFINITY } as const;
  const first = [items, schema.prefixItems].find(Array.isArray) ?? [];
  const otherMembers = {
    kind: 'others',
    except: objectOr(properties),
    hasPatterns: isObject(patternProperties),
  } as const;
  return [
    ...objectEntries(properties).flatMap(([name, target]) => to({ kind: 'member', name }, target)),
    ...objectEntries(patternProperties).flatMap(([name, target]) => to({ kind: 'pattern', name }, target)),
    ...to(otherMembers, additionalProperties),
    ...first.flatMap((target, index) => to({ ...allItems, from: index, to: index + 1 }, target)),
    ...to({ ...allItems, from: first.length }, Array.isArray(items) ? additionalItems : items),
    ...to(allItems, contains),
  ];
}

function objectEntries(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value === 'object' && value !== null) return Object.entries(value);
  return [];
}
