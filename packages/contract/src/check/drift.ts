import { isDeepStrictEqual } from 'node:util';
import { readableToolsByName } from '../document/tool-list.ts';
import { isObject, objectOr, present } from '../json/json.ts';
import { typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { type ChangeId, changeRules } from './change-rules.ts';
import type { ListingChange } from './check-report.ts';

/**
 * The changes from one tool list to a later one, tool by tool in the order of the earlier list, each with the rule of
 * `changeRules` that says who breaks. Elements that are not readable tools are skipped. A tool of the earlier list of which only
 * the fingerprint is recorded, `{ name, fingerprint }`, has changed, without the details.
 */
export function changesBetween(before: readonly Json[], after: readonly Json[]): readonly ListingChange[] {
  const [old, current] = [readableToolsByName(before), readableToolsByName(after)];
  return [
    ...[...old].flatMap(([tool, definition]) => {
      const successor = current.get(tool);
      if (!successor) return [listingChange('tool.gone', tool)];
      return toolChanges(definition, successor).map(({ id, ...place }) => listingChange(id, tool, place));
    }),
    ...[...current.keys()].filter((tool) => !old.has(tool)).map((tool) => listingChange('tool.new', tool)),
  ];
}

/** A change of a tool as the rule of this id describes it. */
export function listingChange(
  id: ChangeId,
  tool: string,
  place: Pick<ListingChange, 'path' | 'before' | 'after'> = {},
): ListingChange {
  const { what: change, breaks } = changeRules[id];
  const { path, before, after } = place;
  return {
    tool,
    ...(path !== undefined && { path }),
    breaks: breaks && breaks.length > 0,
    what: change,
    ...present({ before, after }),
    rule: id,
    breaksFor: breaks,
  };
}

/** A member of an object; what every object has, such as `constructor`, is none. */
function memberValue(members: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(members, name)) return members[name];
  return undefined;
}

type Side = 'input' | 'output';

interface Difference extends Pick<ListingChange, 'path' | 'before' | 'after'> {
  readonly id: ChangeId;
}

function toolChanges(before: JsonObject, after: JsonObject): readonly Difference[] {
  if (typeof before.fingerprint === 'string') return [{ id: 'tool.fingerprint' }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [old, current] = [memberValue(before, name), memberValue(after, name)];
    if (name === 'inputSchema') return schemaChanges(objectOr(old), objectOr(current), name, 'input');
    if (name === 'outputSchema') return schemaChanges(objectOr(old), objectOr(current), name, 'output');
    return compareValues('tool.text', old, current, name);
  });
}

/** The changes from one schema, at a path, to a later one. */
type Comparison = (before: JsonObject, after: JsonObject, path: string, side: Side) => readonly Difference[];

const schemaChanges: Comparison = (before, after, path, side) => {
  const keywords = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keywords.flatMap((keyword) => {
    const [old, current] = [memberValue(before, keyword), memberValue(after, keyword)];
    const at = `${path}.${keyword}`;
    switch (keyword) {
      case 'properties':
        return memberChanges(before, after, at, side);
      case 'required':
        return requiredChanges(before, after, path, side);
      case 'type':
        return typeChanges(before, after, at, side);
      case 'nullable':
        // Reported with the type, if there is one on both sides.
        if ('type' in before || 'type' in after) return [];
        return typeChanges(before, after, at, side);
      case 'enum':
      case 'anyOf':
        return compareValues(`${side}.enum.${moveOf(old, current, holdsAll)}`, old, current, at);
      default:
        if (annotations.has(keyword)) return compareValues(`${side}.text`, old, current, at);
        return isObject(old) && isObject(current) && schemas.has(keyword)
          ? schemaChanges(old, current, at, side)
          : compareValues(`${side}.limit.${limitMove(keyword, old, current)}`, old, current, at);
    }
  });
};

/** Keywords for readers, without meaning for a validator. */
const annotations = new Set(['title', 'description', 'default', 'examples', 'deprecated', '$comment']);
/** Keywords whose value is a schema that every element must match. */
const schemas = new Set(['items', 'additionalProperties']);

const memberChanges: Comparison = (before, after, path, side) => {
  const [old, current] = [objectOr(before.properties), objectOr(after.properties)];
  return [...new Set([...Object.keys(old), ...Object.keys(current)])].flatMap((name) => {
    const at = `${path}.${name}`;
    const isIn = (members: JsonObject) => Object.hasOwn(members, name);
    if (isIn(old) && isIn(current))
      return schemaChanges(objectOr(old[name]), objectOr(current[name]), at, side);
    const id = isIn(current) ? newMemberId(name, before, after, side) : removedMemberId(name, before, side);
    return [
      { id, path: at, ...present({ before: memberValue(old, name), after: memberValue(current, name) }) },
    ];
  });
};

function newMemberId(name: string, before: JsonObject, after: JsonObject, side: Side) {
  if (side === 'input')
    return requiredNames(after.required).has(name) ? 'input.member.demanded' : 'input.member.new';
  if (before.additionalProperties === false) return 'output.member.refused';
  return 'output.member.new';
}

function removedMemberId(name: string, before: JsonObject, side: Side) {
  if (side === 'input') return 'input.member.gone';
  if (requiredNames(before.required).has(name)) return 'output.member.lost';
  return 'output.member.gone';
}

/** Members that both schemas have and only one of them requires. */
const requiredChanges: Comparison = (before, after, path, side) => {
  const [old, current] = [requiredNames(before.required), requiredNames(after.required)];
  const lasting = Object.keys(objectOr(after.properties)).filter((name) =>
    Object.hasOwn(objectOr(before.properties), name),
  );
  return lasting
    .filter((name) => old.has(name) !== current.has(name))
    .map((name) => ({
      id: `${side}.required.${current.has(name) ? 'added' : 'gone'}` as const,
      path: `${path}.properties.${name}`,
    }));
};

const typeChanges: Comparison = (before, after, path, side) => {
  const [old, current] = [typesOf(before), typesOf(after)];
  if (isDeepStrictEqual(new Set(old), new Set(current))) return [];
  const covers = (wide: Json | undefined, narrow: Json | undefined) =>
    coversTypes(listed(wide), listed(narrow));
  const id = `${side}.type.${moveOf([...old], [...current], covers)}` as const;
  return [{ id, path, ...present({ before: before.type, after: after.type }) }];
};

/** Whether one list of types has all values of another. No type means any type. */
function coversTypes(wide: readonly Json[], narrow: readonly Json[]): boolean {
  if (wide.length === 0) return true;
  const has = (type: Json) => wide.includes(type) || (type === 'integer' && wide.includes('number'));
  return narrow.length > 0 && narrow.every(has);
}

type Move = 'narrower' | 'wider' | 'other';

/** How the accepted values have changed, by a function that says whether one list has all values of another. */
function moveOf(
  before: Json | undefined,
  after: Json | undefined,
  covers: (wide: Json | undefined, narrow: Json | undefined) => boolean,
): Move {
  if (covers(before, after)) return 'narrower';
  return covers(after, before) ? 'wider' : 'other';
}

/** How a keyword that refuses values has changed. */
function limitMove(keyword: string, before: Json | undefined, after: Json | undefined): Move {
  const [old, current] = [before, after].map((value) => (refusesNothing(keyword, value) ? undefined : value));
  if (old === undefined || current === undefined) return current === undefined ? 'wider' : 'narrower';
  if (typeof old === 'number' && typeof current === 'number' && /^(exclusive)?(min|max)/i.test(keyword))
    return /^(exclusive)?min/i.test(keyword) === current > old ? 'narrower' : 'wider';
  if (schemas.has(keyword) && (old === false || current === false))
    return current === false ? 'narrower' : 'wider';
  return 'other';
}

function refusesNothing(keyword: string, value: Json | undefined): boolean {
  if (schemas.has(keyword)) return value === true || (isObject(value) && Object.keys(value).length === 0);
  return value === undefined || (keyword === 'uniqueItems' && value === false);
}

/** Whether every member of the second list is in the first. No list means everything. */
function holdsAll(list: Json | undefined, members: Json | undefined): boolean {
  if (!Array.isArray(list)) return true;
  if (!Array.isArray(members)) return false;
  return members.every((member) => list.some((otherMember) => isDeepStrictEqual(member, otherMember)));
}

function compareValues(
  id: ChangeId,
  before: Json | undefined,
  after: Json | undefined,
  path: string,
): readonly Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  return [{ id, path, ...present({ before, after }) }];
}

function requiredNames(required: Json | undefined): ReadonlySet<Json> {
  return new Set(listed(required));
}

function listed(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value;
  return [];
}
