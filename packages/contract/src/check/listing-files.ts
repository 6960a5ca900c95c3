import { unwrap } from '../command/command-error.ts';
import { readInput } from '../command/read-input.ts';
import { readToolList } from '../document/tool-list.ts';
import type { PreviousListing } from './check-target.ts';
import { changesBetween } from './drift.ts';

/** The listing in a file, to compare with. @throws CommandError `INVALID_INPUT`, `NOT_READABLE` */
export async function listingIn(file: string): Promise<PreviousListing> {
  const before = unwrap(readToolList(await readInput(file), file));
  return { file, changesTo: (tools) => changesBetween(before, tools) };
}
