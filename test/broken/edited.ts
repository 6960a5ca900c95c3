import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { Methods } from '../../packages/contract/src/model.ts';
import { goodTools } from './good-tools.ts';

/** Members of the first good tool by path, with their new values; undefined removes one. */
export type Changes = Readonly<Record<string, Json | undefined>>;

export interface Definitions {
  readonly tools: readonly Json[];
  /** The HTTP methods of the tools' API requests. */
  readonly methods?: Methods;
}

export const good: readonly JsonObject[] = goodTools.map(({ definition }) => ({ ...definition }));

/** The good tools, the first one changed. */
export function edited(changes: Changes): readonly JsonObject[] {
  const [first, ...rest] = structuredClone(good);
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    const parent = steps.reduce(
      (at, step) => at[step] as Record<string, Json>,
      first as Record<string, Json>,
    );
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return first ? [first, ...rest] : rest;
}

/** The definitions that changes mean, or that are given as they are. */
export function definitionsOf(broken: Definitions | Changes): Definitions {
  return 'tools' in broken ? (broken as Definitions) : { tools: edited(broken as Changes) };
}
