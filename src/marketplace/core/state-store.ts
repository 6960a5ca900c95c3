import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, saveJson } from 'market-mcp-contract/command';
import { isObject } from 'market-mcp-contract/json';
import { readRegular } from '../../project/read/read-files.ts';
import { makeStateDirectory, stateDirectory } from '../../project/write/state-directory.ts';
import { marketCommand } from '../../system/command-line.ts';
import type { MarketplaceState } from './marketplace-model.ts';

const empty: MarketplaceState = { schema: 1, listings: [], disputes: [], examples: [] };

/** Listings, disputes and saved examples, in one file that is replaced atomically. */
export class MarketplaceStore {
  readonly file: string;
  readonly #directory: string;
  #state: MarketplaceState | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  /** @param directory of the project, or the one in which the marketplace runs. */
  constructor(directory: string) {
    this.#directory = directory;
    this.file = join(directory, stateDirectory, 'marketplace.json');
  }

  /** @throws CommandError `STATE_DAMAGED` if the file is not one of ours. */
  async read(): Promise<MarketplaceState> {
    this.#state ??= await this.#load();
    return this.#state;
  }

  /** Changes the state; concurrent changes are serialized. @throws CommandError `NOT_WRITABLE`, `STATE_DAMAGED`. */
  async update(change: (state: MarketplaceState) => MarketplaceState): Promise<MarketplaceState> {
    const work = this.#writing.then(async () => {
      const next = change(await this.read());
      await makeStateDirectory(this.#directory);
      await saveJson(this.file, next);
      this.#state = next;
      return next;
    });
    // Its caller gets the error; the next change is made in any case.
    this.#writing = work.catch(() => {});
    return work;
  }

  /** Deletes all listings, disputes and examples. */
  async reset(): Promise<void> {
    await rm(this.file, { force: true });
    this.#state = undefined;
  }

  async #load(): Promise<MarketplaceState> {
    try {
      const value: unknown = JSON.parse(readRegular(this.file).toString('utf8'));
      if (isState(value)) return value;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return empty;
      throw damagedState(this.file, (error as Error).message, error);
    }
    throw damagedState(this.file, 'does not contain the state of a marketplace', undefined);
  }
}

function isState(value: unknown): value is MarketplaceState {
  return (
    isObject(value) &&
    value.schema === 1 &&
    [value.listings, value.disputes, value.examples].every(
      (list) => Array.isArray(list) && list.every(isObject),
    )
  );
}

function damagedState(file: string, damage: string, cause: unknown): CommandError {
  const hint = `Start with an empty state: ${marketCommand('marketplace', '--reset')}`;
  return new CommandError('STATE_DAMAGED', `${file}: ${damage}`, hint, { cause });
}
