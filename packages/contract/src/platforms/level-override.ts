import type { Level } from '../model.ts';
import type { PlatformProfile } from './profile.ts';

/** The level that a profile sets for the first of these ids, or for the group of one; undefined if it sets none. */
export function levelOverride(ids: readonly string[], { rules }: PlatformProfile): Level | 'off' | undefined {
  const names = [...ids, ...ids.map((id) => id.slice(0, id.indexOf('.')))];
  const name = names.find((candidate) => Object.hasOwn(rules.overrides, candidate));
  if (name === undefined) return undefined;
  return rules.overrides[name];
}
