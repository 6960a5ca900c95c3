// Nulls for required members that a tool left out, in production.

import { type ObjectSchema, signals } from './define-tool.ts';
import { isObject, type Members } from './schema.ts';

/** Data with null for each required member that was missing, and the paths of these members. */
export interface CompletedData {
  readonly data: object;
  readonly paths: readonly string[];
}

/**
 * Adds null for each missing member that is required and may be null, at any depth. At least half of the root's required members must be
 * present. Returns undefined if no member is added.
 */
export function addMissingNulls(schema: ObjectSchema, data: object): CompletedData | undefined {
  const required = schema.required.filter((name) => !Object.hasOwn(signals, name));
  const presentNames = required.filter((name) => Object.hasOwn(data, name));
  if (presentNames.length * 2 < required.length) return undefined;
  const paths: string[] = [];
  const completedValue = addMissingMembers(data, { ...schema, required }, 'answer', paths);
  if (paths.length > 0 && isObject(completedValue)) return { data: completedValue, paths };
  return undefined;
}

function addMissingMembers(value: unknown, schema: Members, path: string, paths: string[]): unknown {
  const {
    properties = {},
    required = [],
    items,
  } = schema as {
    readonly properties?: Members;
    readonly required?: readonly string[];
    readonly items?: unknown;
  };
  if (Array.isArray(value)) {
    if (isObject(items)) return value.map((item) => addMissingMembers(item, items, `${path}[*]`, paths));
    return value;
  }
  if (!isObject(value)) return value;
  const members = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    const memberSchema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    members.set(
      name,
      isObject(memberSchema) ? addMissingMembers(member, memberSchema, `${path}.${name}`, paths) : member,
    );
  }
  for (const name of required) {
    if (members.has(name) || !typeAdmitsNull(properties[name])) continue;
    members.set(name, null);
    paths.push(`${path}.${name}`);
  }
  return Object.fromEntries(members);
}

function typeAdmitsNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, nullable, enum: listed } = schema;
  if (Array.isArray(listed) && !listed.includes(null)) return false;
  return nullable === true || [type ?? []].flat().includes('null');
}
