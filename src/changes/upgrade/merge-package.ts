import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject, present } from 'market-mcp-contract/json';
import { compareVersions } from 'market-mcp-contract/report';
import { serializeJson } from '../../project/read/file-text.ts';

/** Members that always belong to the author. */
const authorsOwn = new Set(['name', 'version', 'description', 'private']);

/** Members with versions: if both sides name an exact version, the newer one is used. */
const versioned = /^(dependencies|devDependencies|engines)\./;

/** A merged package.json: with the author's value, and with the new one, of each member that both sides have changed. */
export interface MergedPackage {
  readonly ours: string;
  readonly theirs: string;
}

/**
 * Three-way merge of package.json, member by member.
 *
 * @param usedPackages packages that the author's files import: they are kept even if this version no longer needs them
 * @returns the same text twice if there is no conflict
 * @throws SyntaxError if one of them is not JSON.
 */
export function mergePackage(
  base: string,
  ours: string,
  theirs: string,
  usedPackages: ReadonlySet<string> = new Set(),
): MergedPackage {
  const sides = [base, ours, theirs].map((text): Json => JSON.parse(text));
  if (!sides.every(isObject)) throw new SyntaxError('expected an object');
  const [o, a, b] = sides as [JsonObject, JsonObject, JsonObject];
  const indent = /\n([ \t]+)/.exec(ours)?.[1] ?? '  ';
  const print = (value: Json) => serializeJson(value, indent) + (/\n$/.test(ours) ? '\n' : '');
  const [oursFirst = a, theirsFirst = b] = (['ours', 'theirs'] as const).map((winner) =>
    mergedMember([], [o, a, b], { used: usedPackages, winner }),
  );
  const isSame = isDeepStrictEqual(oursFirst, a) && isDeepStrictEqual(theirsFirst, a);
  if (isSame) return { ours, theirs: ours };
  return { ours: print(oursFirst), theirs: print(theirsFirst) };
}

interface Settings {
  readonly used: ReadonlySet<string>;
  /** The side that wins if both have changed a value. */
  readonly winner: 'ours' | 'theirs';
}

type Sides = readonly [base: Json | undefined, ours: Json | undefined, theirs: Json | undefined];

/** Undefined means that the member is absent. */
function mergedMember(
  path: readonly string[],
  [base, ours, theirs]: Sides,
  settings: Settings,
): Json | undefined {
  if (path.length === 1 && authorsOwn.has(path[0] ?? '')) return ours;
  if (isDeepStrictEqual(ours, theirs) || isDeepStrictEqual(base, theirs)) return ours;
  if (isObject(ours) && isObject(theirs)) {
    return mergedMembers(path, isObject(base) ? base : {}, ours, theirs, settings);
  }
  if (isDeepStrictEqual(base, ours)) return isNeeded(path, theirs, settings) ? ours : theirs;
  return resolveConflict(path, ours, theirs, settings.winner);
}

/** The value of a member that both sides have changed. */
function resolveConflict(
  path: readonly string[],
  ours: Json | undefined,
  theirs: Json | undefined,
  winner: Settings['winner'],
): Json | undefined {
  // A script that the author removed stays removed; a package that this version needs is added again.
  if (ours === undefined && path[0] === 'scripts') return undefined;
  if (ours === undefined) return theirs;
  if (theirs === undefined && path[0] !== 'scripts') return ours;
  return newer(path, ours, theirs) ?? (winner === 'ours' ? ours : theirs);
}

function mergedMembers(
  path: readonly string[],
  base: JsonObject,
  ours: JsonObject,
  theirs: JsonObject,
  settings: Settings,
): JsonObject {
  const keys = Object.keys({ ...ours, ...theirs });
  const members = keys.map((key): [string, Json | undefined] => {
    const sides = [base, ours, theirs].map((side) => packageMember(side, key)) as unknown as Sides;
    return [key, mergedMember([...path, key], sides, settings)];
  });
  return orderMembers(members, Object.keys(ours), Object.keys(theirs));
}

function isNeeded(
  path: readonly string[],
  theirs: Json | undefined,
  { used: usedPackages }: Settings,
): boolean {
  return (
    theirs === undefined && /^(dev)?dependencies$/i.test(path[0] ?? '') && usedPackages.has(path[1] ?? '')
  );
}

function newer(path: readonly string[], ours: Json, theirs: Json | undefined): Json | undefined {
  const exact = [ours, theirs].every((value) => typeof value === 'string' && /^\d+\.\d+\.\d+$/.test(value));
  if (!exact || !versioned.test(path.join('.'))) return undefined;
  if (compareVersions(String(ours), String(theirs)) < 0) return theirs;
  return ours;
}

/** In the author's order; a new member follows the member that precedes it on the other side. */
function orderMembers(
  members: readonly [string, Json | undefined][],
  ours: readonly string[],
  theirs: readonly string[],
): JsonObject {
  const order = [...ours];
  for (const [at, key] of theirs.entries()) {
    if (order.includes(key)) continue;
    const before = theirs.slice(0, at).findLast((name) => order.includes(name));
    order.splice(before === undefined ? 0 : order.indexOf(before) + 1, 0, key);
  }
  return present(
    Object.fromEntries(members.toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))),
  ) as JsonObject;
}

/** Ignores inherited properties. */
function packageMember(object: JsonObject, key: string): Json | undefined {
  if (Object.hasOwn(object, key)) return object[key];
  return undefined;
}
