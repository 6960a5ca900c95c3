import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { Methods } from '../../packages/contract/src/model.ts';
import { goodTools } from './good-tools.ts';

/** Definitions that break one rule. `along` lists other rules that must fail too. */
export interface BrokenDefinitions {
  readonly rule: string;
  readonly along?: readonly string[];
  readonly tools: readonly Json[];
  /** The HTTP methods of the tools' API requests. */
  readonly methods?: Methods;
}

export const good: readonly JsonObject[] = goodTools.map(({ definition }) => ({ ...definition }));

/** The good tools, with members of the first replaced by path; undefined removes one. */
export function edited(changes: Readonly<Record<string, Json | undefined>>): readonly JsonObject[] {
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
