import type { Caller } from './caller.ts';

/** One kind of traffic. */
export interface Kind {
  readonly name: string;
  /** How often it comes, relative to the others. */
  readonly share: number;
  /** Sends one request, or a few that belong together, and checks what comes back. @throws Error where that is wrong */
  run(caller: Caller): Promise<unknown>;
}
