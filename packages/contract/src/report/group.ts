import type { Problem } from '../model.ts';

/** Problems that differ in nothing but their path. */
export interface ProblemGroup {
  readonly problem: Problem;
  /** The path of each, in their order. */
  readonly paths: readonly string[];
}

/** The problems of a rule, equal ones together, in the order of the first of each group. */
export function groupsOf(problems: readonly Problem[]): readonly ProblemGroup[] {
  const groups = new Map<string, { readonly problem: Problem; readonly paths: string[] }>();
  for (const problem of problems) {
    const { path, ...others } = problem;
    const key = JSON.stringify(others);
    const group = groups.get(key) ?? { problem, paths: [] };
    groups.set(key, group);
    if (path !== undefined) group.paths.push(path);
  }
  return [...groups.values()];
}
