import type { DeliberateError } from '../../marketplace/core/unhappy.ts';

/** The flags that say where the commands of the marketplace work. */
export interface PlaceFlags {
  readonly endpoint?: string;
  readonly platform?: string;
}

export interface MarketplaceFlags extends PlaceFlags {
  readonly port?: string;
  readonly exec?: string;
  readonly reset?: true;
}

export interface RegisterFlags extends PlaceFlags {
  readonly name?: string;
  readonly description?: string;
  readonly category?: string;
  readonly price?: string;
}

export interface ListingFlags extends RegisterFlags {
  readonly summary?: string;
  readonly registryName?: string;
  readonly repository?: string;
  readonly website?: string;
  readonly out?: string;
  readonly dryRun?: true;
  readonly force?: true;
}

export interface CallFlags extends PlaceFlags {
  readonly as?: DeliberateError;
  readonly expect?: 'found' | 'empty' | 'fail';
}
