import type { Binding } from './model.ts';

/** A member of a body that is an object or a list, with what it contains. */
export interface Inner {
  readonly name: string;
  readonly isList: boolean;
  readonly members: readonly Binding[];
}

/** The members of a body, those inside another one gathered in its place. */
export function levels(
  bindings: readonly Binding[],
  lists: readonly string[] = [],
): readonly (Binding | Inner)[] {
  const all: (Binding | (Inner & { members: Binding[] }))[] = [];
  for (const binding of bindings) {
    const { within } = binding;
    const last = all.find((one) => 'members' in one && one.name === within);
    if (within === undefined) all.push(binding);
    else if (last && 'members' in last) last.members.push(binding);
    else all.push({ name: within, isList: lists.includes(within), members: [binding] });
  }
  return all;
}
