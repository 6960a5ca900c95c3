import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../packages/contract/src/json/json.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import type { DefinitionChange } from '../../src/model/tool-model.ts';

/** The paths at which two JSON values differ: `inputSchema.properties.a.type`. */
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

/** The differences that no reported change covers: a change covers its path and the paths below it. */
export function silentDifferences(
  given: Json,
  served: Json | undefined,
  changes: readonly DefinitionChange[],
): readonly string[] {
  const told = changes.flatMap(({ path }) =>
    // A placeholder is reported as a change of the examples beside it.
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

/** A path that exists on one side only differs as a whole; a change below it covers the difference. */
function isParent(place: string, path: string): boolean {
  return path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}
