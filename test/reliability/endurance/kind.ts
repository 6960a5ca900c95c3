import type { Caller } from './caller.ts';

/** One kind of traffic. */
export interface Kind {
  readonly name: string;
  /** Relative frequency. */
  readonly share: number;
  /** Sends one request, or several related ones, and checks the answers. @throws Error if an answer is wrong */
  run(caller: Caller): Promise<unknown>;
}
