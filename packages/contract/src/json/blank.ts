import type { Json } from './value.ts';
import { leavesIn } from './walk.ts';

/**
 * Whether a value has no content: it is missing, or consists only of empty lists, empty objects and blank scalars.
 *
 * @param scalars the scalars that are blank; whether `0` and `false` are data depends on what the value describes
 */
export function isBlank(value: Json | undefined, scalars: readonly Json[] = [null, '', false]): boolean {
  if (value === undefined) return true;
  return [...leavesIn(value)].every(([, leaf]) => scalars.includes(leaf));
}
