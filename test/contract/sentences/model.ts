/** A sentence or table row of the contract, and the rules that test it or the reason why there are none. */
export interface Sentence {
  /** `2.1` */
  readonly section: string;
  readonly says: string;
  /** Ids; a trailing `*` matches a whole group. */
  readonly rules?: readonly string[];
  readonly untested?: string;
}

export const form =
  'It speaks of the registration form, which the server does not see; the project README says what to enter.';

export const marketplace = 'It speaks of the marketplace, not of the server.';

export const runtime = "No request tells the version; the project's package.json demands it.";

export const open = 'The contract leaves it open.';
