import { isDeepStrictEqual } from 'node:util';
import { isObject, objectOr, present } from '../json/json.ts';
import { typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { isReadable } from '../json/walk.ts';
import type { ListingChange } from './model.ts';

/**
 * The changes from one tool list to a later one, tool by tool in the order of the earlier list. A change breaks
 * callers if arguments that were valid may be refused, or if an answer may contain something new or lack
 * what it always contained. Elements that are not readable tools are skipped.
 */
export function changesBetween(before: readonly Json[], after: readonly Json[]): readonly ListingChange[] {
  const [old, now] = [toolsByName(before), toolsByName(after)];
  return [
    ...[...old].flatMap(([tool, definition]) => {
      const successor = now.get(tool);
      if (!successor) return [{ tool, breaks: true, what: gone }];
      return toolChanges(definition, successor).map((change) => ({ tool, ...change }));
    }),
    ...[...now.keys()]
      .filter((tool) => !old.has(tool))
      .map((tool) => ({ tool, breaks: false, what: arrived })),
  ];
}

/** What has changed about a tool that only one of two lists has. */
export const gone = 'the tool was removed';
export const arrived = 'the tool is new';

/** The readable tools of a list, by name. */
export function toolsByName(tools: readonly Json[]): ReadonlyMap<string, JsonObject> {
  return new Map(
    tools.flatMap((tool) =>
      isObject(tool) && isReadable(tool) && typeof tool.name === 'string' ? [[tool.name, tool]] : [],
    ),
  );
}

/** Whether a schema is for input or output: a change that is safe for one may break the other. */
type Side = 'input' | 'output';
type ChangeInTool = Omit<ListingChange, 'tool'>;

function toolChanges(before: JsonObject, after: JsonObject): readonly ChangeInTool[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    if (name === 'inputSchema') return schemaChanges(objectOr(old), objectOr(now), name, 'input');
    if (name === 'outputSchema') return schemaChanges(objectOr(old), objectOr(now), name, 'output');
    return changed(old, now, name, false);
  });
}

/** The changes from one schema, at a path, to a later one. */
type Comparison = (
  before: JsonObject,
  after: JsonObject,
  path: string,
  side: Side,
) => readonly ChangeInTool[];

const schemaChanges: Comparison = (before, after, path, side) => {
  const keywords = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keywords.flatMap((keyword) => {
    const [old, now] = [before[keyword], after[keyword]];
    const at = `${path}.${keyword}`;
    switch (keyword) {
      case 'properties':
        return propertyChanges(before, after, at, side);
      case 'required':
        return requiredChanges(before, after, path, side);
      case 'type':
        return typesDiffer(before, after) ? changed(old, now, at, breaksCallers(before, after, side)) : [];
      case 'nullable':
        return []; // reported with the type
      case 'enum':
        return changed(old, now, at, side === 'input' ? !holdsAll(now, old) : !holdsAll(old, now));
      case 'items':
        return isObject(old) && isObject(now)
          ? schemaChanges(old, now, at, side)
          : changed(old, now, at, constrains(old, now, side));
      default:
        return changed(old, now, at, !annotations.has(keyword) && constrains(old, now, side));
    }
  });
};

/** Keywords for readers, without meaning for a validator. */
const annotations = new Set(['title', 'description', 'default', 'examples', 'deprecated', '$comment']);

const propertyChanges: Comparison = (before, after, path, side) => {
  const [old, now] = [objectOr(before.properties), objectOr(after.properties)];
  const required = namesIn(after.required);
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) => {
    const at = `${path}.${name}`;
    if (!Object.hasOwn(now, name))
      return [{ path: at, breaks: true, what: 'removed', ...present({ before: old[name] }) }];
    if (!Object.hasOwn(old, name)) {
      const breaks = side === 'input' && required.has(name);
      const what = breaks ? 'new and required' : 'new';
      return [{ path: at, breaks, what, ...present({ after: now[name] }) }];
    }
    return schemaChanges(objectOr(old[name]), objectOr(now[name]), at, side);
  });
};

/** Properties that both schemas have and only one of them requires. */
const requiredChanges: Comparison = (before, after, path, side) => {
  const [old, now] = [namesIn(before.required), namesIn(after.required)];
  const lasting = Object.keys(objectOr(after.properties)).filter((name) =>
    Object.hasOwn(objectOr(before.properties), name),
  );
  return lasting
    .filter((name) => old.has(name) !== now.has(name))
    .map((name) => ({
      path: `${path}.properties.${name}`,
      breaks: now.has(name) === (side === 'input'),
      what: now.has(name) ? 'required now' : 'no longer required',
    }));
};

function typesDiffer(before: JsonObject, after: JsonObject): boolean {
  return !isDeepStrictEqual(new Set(typesOf(before)), new Set(typesOf(after)));
}

/** Whether arguments allow fewer types than before, or answers more. No type means any type. */
function breaksCallers(before: JsonObject, after: JsonObject, side: Side): boolean {
  const [narrow, wide] = side === 'input' ? [before, after] : [after, before];
  const types = typesOf(wide);
  if (types.length === 0) return false;
  const covers = (type: Json) => types.includes(type) || (type === 'integer' && types.includes('number'));
  return typesOf(narrow).length === 0 || !typesOf(narrow).every(covers);
}

/** Whether a keyword that was added, removed or changed may refuse arguments, or allow more answers. */
function constrains(before: Json | undefined, after: Json | undefined, side: Side): boolean {
  return side === 'input' ? after !== undefined : before !== undefined;
}

/** Whether every member of the second list is in the first. No list means everything. */
function holdsAll(list: Json | undefined, members: Json | undefined): boolean {
  if (!Array.isArray(list)) return true;
  if (!Array.isArray(members)) return false;
  return members.every((member) => list.some((other) => isDeepStrictEqual(member, other)));
}

function changed(
  before: Json | undefined,
  after: Json | undefined,
  path: string,
  breaks: boolean,
): readonly ChangeInTool[] {
  if (isDeepStrictEqual(before, after)) return [];
  const what = before === undefined ? 'new' : after === undefined ? 'removed' : 'changed';
  return [{ path, breaks, what, ...present({ before, after }) }];
}

function namesIn(required: Json | undefined): ReadonlySet<Json> {
  return new Set(Array.isArray(required) ? required : []);
}
