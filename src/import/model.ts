import type { JsonObject } from '../contract/model.ts';
import type { Change, SpecEntry } from '../model/model.ts';

/** A tool that was made from something that exists, before it is judged by the contract. */
export interface Imported {
  readonly entry: SpecEntry;
  /** Complete answers of the source, which fit the entry's outputSchema: the tool's sample data. */
  readonly answers: readonly JsonObject[];
  /** What was changed on the way from the document to the entry. */
  readonly changes: readonly Change[];
}
