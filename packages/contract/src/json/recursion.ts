import { isObject, objectOr } from './json.ts';
import { stepsOf as namesIn, valueAt } from './schema.ts';
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
const most = { references: 500, work: 100_000 };

/**
 * The first schema inside a schema that refers to itself in two ways for the same part of a value, so that each level of the
 * value doubles the work of validation.
 */
export function doublingSchema(root: JsonObject, path: string): LocatedSchema | undefined {
  const places = [...schemasIn(root, path)];
  if (!places.some(({ schema }) => typeof schema.$ref === 'string')) return undefined;
  const known = new Map<JsonObject, readonly Step[]>();
  let work = 0;

  /** The steps from a schema, also through alternatives and references for the same value. Each way to a step counts. */
  const stepsOf = (schema: JsonObject): readonly Step[] => {
    const before = known.get(schema);
    if (before) return before;
    const steps: Step[] = [];
    const way = new Set<JsonObject>();
    const visit = (at: unknown): void => {
      if (!isObject(at) || way.has(at) || way.size > most.references || ++work > most.work) return;
      way.add(at);
      steps.push(...ownSteps(at));
      forSameValue(at, root).forEach(visit);
      way.delete(at);
    };
    visit(schema);
    known.set(schema, work > most.work ? [] : steps);
    return steps;
  };

  /** What two steps, one of each list or two of one, lead to for the same part of a value. */
  const meeting = (
    some: readonly Step[],
    others: readonly Step[],
    isOneList = false,
  ): (readonly [JsonObject, JsonObject])[] => {
    const met: (readonly [JsonObject, JsonObject])[] = [];
    for (const [index, one] of some.entries()) {
      work += others.length;
      if (work > most.work) break;
      for (let at = isOneList ? index + 1 : 0; at < others.length; at++) {
        const other = others[at];
        if (other && meet(one.part, other.part)) met.push([one.to, other.to]);
      }
    }
    return met;
  };

  const isDoubling = (schema: JsonObject): boolean => {
    const steps = stepsOf(schema);
    const pairs = meeting(steps, steps, true);
    const seen = new Map<JsonObject, Set<JsonObject>>();
    for (const [one, other] of pairs) {
      if (one === schema && other === schema) return true;
      const others = seen.get(one) ?? new Set();
      if (others.has(other)) continue;
      seen.set(one, others.add(other));
      for (const pair of meeting(stepsOf(one), stepsOf(other))) pairs.push(pair);
    }
    return false;
  };

  const landings = new Set(places.flatMap(({ schema }) => stepsOf(schema).map(({ to }) => to)));
  return places.find(({ schema }) => landings.has(schema) && isDoubling(schema));
}

function meet(one: Part, other: Part): boolean {
  if (one.kind === 'items' || other.kind === 'items') {
    return one.kind === 'items' && other.kind === 'items' && one.from < other.to && other.from < one.to;
  }
  if (one.kind === 'others' && other.kind === 'others') return true;
  if (one.kind === 'others')
    return !one.hasPatterns && other.kind === 'member' && !Object.hasOwn(one.except, other.name);
  return other.kind === 'others' ? meet(other, one) : one.kind === other.kind && one.name === other.name;
}

/** The schemas that a schema applies to the same value. */
export function forSameValue(schema: JsonObject, root: JsonObject): readonly unknown[] {
  const { $ref, not, if: condition, then, else: otherwise } = schema;
  const { allOf, anyOf, oneOf, dependencies, dependentSchemas } = schema;
  const grouped = [allOf, anyOf, oneOf, dependencies, dependentSchemas].flatMap(entriesOf);
  const isInside = typeof $ref === 'string' && /^#(\/|$)/.test($ref);
  const referred = isInside ? valueAt(root, namesIn($ref)) : undefined;
  return [not, condition, then, otherwise, referred, ...grouped.map(([, part]) => part)];
}

function ownSteps(schema: JsonObject): readonly Step[] {
  const { properties, patternProperties, additionalProperties, items, additionalItems, contains } = schema;
  const to = (part: Part, target: unknown): Step[] => (isObject(target) ? [{ part, to: target }] : []);
  const all = { kind: 'items', from: 0, to: Number.POSITIVE_INFINITY } as const;
  const first = [items, schema.prefixItems].find(Array.isArray) ?? [];
  const others = {
    kind: 'others',
    except: objectOr(properties),
    hasPatterns: isObject(patternProperties),
  } as const;
  return [
    ...entriesOf(properties).flatMap(([name, target]) => to({ kind: 'member', name }, target)),
    ...entriesOf(patternProperties).flatMap(([name, target]) => to({ kind: 'pattern', name }, target)),
    ...to(others, additionalProperties),
    ...first.flatMap((target, index) => to({ ...all, from: index, to: index + 1 }, target)),
    ...to({ ...all, from: first.length }, Array.isArray(items) ? additionalItems : items),
    ...to(all, contains),
  ];
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
