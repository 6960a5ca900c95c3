import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../src/contract/json.ts';
import type { Json } from '../../src/contract/model.ts';
import type { Change } from '../../src/model/model.ts';

/** The places at which two JSON values differ: `inputSchema.properties.a.type`. */
export function differences(given: Json | undefined, served: Json | undefined, path = ''): readonly string[] {
  if (isDeepStrictEqual(given, served)) return [];
  if (isObject(given) && isObject(served)) {
    return [...new Set([...Object.keys(given), ...Object.keys(served)])].flatMap((name) =>
      differences(given[name], served[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(given) && Array.isArray(served) && given.length === served.length) {
    return given.flatMap((member, i) => differences(member, served[i], `${path}[${i}]`));
  }
  return [path];
}

/** The differences that no reported change speaks of: a change covers its place, and what is below it. */
export function silentDifferences(
  given: Json,
  served: Json | undefined,
  changes: readonly Change[],
): readonly string[] {
  const told = changes.flatMap(({ path }) =>
    // A placeholder is told as a change of the examples that it stands beside.
    path.endsWith('.examples') ? [path, path.replace(/\.examples$/, '.$comment')] : [path],
  );
  return differences(given, served).filter(
    (place) =>
      !told.some(
        (path) =>
          place === path ||
          place.startsWith(`${path}.`) ||
          place.startsWith(`${path}[`) ||
          isParent(place, path),
      ),
  );
}

/** A place that is there on one side only differs as a whole: what was changed below it is the difference. */
function isParent(place: string, path: string): boolean {
  return path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}
