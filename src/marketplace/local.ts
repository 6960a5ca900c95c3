import type { JsonObject } from 'market-mcp-contract/json';
import { openLocalPlatform } from '../dev/local-server.ts';
import { ownStamp } from '../dev/published-state.ts';
import { readSealed } from '../project/read/read-files.ts';
import { makeStateDirectory, refuseLinkedState, saveSealed } from '../project/write/state-directory.ts';
import { Marketplace } from './core/marketplace.ts';
import type { MarketplaceOptions } from './core/marketplace-model.ts';
import { accessIn, linkOf } from './core/page-access.ts';
import { MarketplaceStore } from './core/state-store.ts';
import { provenAccess, runningFile } from './running-marketplace.ts';
import { type Serving, serveMarketplace } from './web/serve.tsx';

export interface LocalOptions extends Omit<MarketplaceOptions, 'privateKey' | 'issuer'> {
  /** The directory with the key: a project whose server trusts it. */
  readonly keyDirectory: string;
  /** undefined: the default port, or the first free one after it. */
  readonly port?: number | undefined;
  /** Deletes the stored state first. */
  readonly reset?: boolean | undefined;
}

/** A running marketplace, and how to end it. */
export interface Local extends Serving {
  readonly marketplace: Marketplace;
}

/**
 * Opens and serves the marketplace of a directory, and stores its link there for other commands, unless one runs there. The next marketplace of the
 * directory has the same secret, so a page that is open in a browser keeps working.
 *
 * @throws CommandError `STATE_DAMAGED`, `IN_PRODUCTION`, `LINK_IN_THE_WAY`, `NOT_WRITABLE`, `PORT_TAKEN`.
 */
export async function openLocalMarketplace({
  keyDirectory,
  port,
  reset = false,
  ...options
}: LocalOptions): Promise<Local> {
  const { directory, profile } = options;
  refuseLinkedState(directory);
  const { privateKey, issuer } = await openLocalPlatform(keyDirectory, profile.token, process.env);
  await makeStateDirectory(directory);
  if (reset) await new MarketplaceStore(directory).reset();
  const marketplace = await Marketplace.open({ ...options, privateKey, issuer });
  const file = runningFile(directory);
  const previous = readSealed(file) ?? {};
  const serving = await serveMarketplace(marketplace, port, keptSecret(previous));
  try {
    if (!(await provenAccess(previous, true)))
      await saveSealed(file, { link: linkOf(serving), ...ownStamp() });
    return { ...serving, marketplace };
  } catch (error) {
    await serving.close();
    throw error;
  }
}

/** The secret of a note whose marketplace had a separate host for its pages. Any other secret was sent to all ports of 127.0.0.1. */
function keptSecret({ link }: JsonObject): string | undefined {
  const access = accessIn(link);
  if (access && link === linkOf(access)) return access.secret;
  return undefined;
}
