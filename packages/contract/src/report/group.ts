import { groupBy } from '../json/json.ts';
import type { Problem } from '../model.ts';

/** Problems that differ in nothing but their path. */
export interface ProblemGroup {
  readonly problem: Problem;
  /** The path of each, in their order. */
  readonly paths: readonly string[];
}

/** The problems of a rule, equal ones together, in the order of the first of each group. */
export function groupsOf(problems: readonly Problem[]): readonly ProblemGroup[] {
  const groups = groupBy(problems, ({ path: _, ...comparedMembers }) => JSON.stringify(comparedMembers));
  return [...groups.values()].map((group) => ({
    problem: group[0],
    paths: group.flatMap(({ path }) => path ?? []),
  }));
}
