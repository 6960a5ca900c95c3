import type { Change } from '../reference.ts';

/** A server with one fault, which breaks one sentence. */
export interface BrokenServer {
  /** What its author did. */
  readonly name: string;
  /** Where the sentence is: C§n is the contract, `facts` are the platform facts, `MCP` is the protocol. */
  readonly source: string;
  readonly change: Change;
  /** The rules that must fail, and no others may. `a|b`: one of them, depending on which request came first. */
  readonly fails: readonly string[];
}

/** A row of a table. */
export function broken(
  source: string,
  name: string,
  fails: readonly string[] | string,
  change: Change,
): BrokenServer {
  return { source, name, change, fails: [fails].flat() };
}
