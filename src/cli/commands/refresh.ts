import { CommandError, counted, type ExitCode, type Output } from 'market-mcp-contract/command';
import { changeLines, type ListingChange } from 'market-mcp-contract/report';
import type { ListingStatus } from '../../marketplace/core/marketplace.ts';
import type { Listing } from '../../marketplace/core/marketplace-model.ts';
import type { Access } from '../../marketplace/core/page-access.ts';
import { requestJson } from '../../marketplace/running-marketplace.ts';
import type { PlaceFlags } from '../command-flags.ts';
import { withMarketplace } from '../marketplace/connect.ts';

/** `market-mcp marketplace refresh [listing]`: the local marketplace reads the tools again. Prints the changes, property by property. */
export async function refresh(
  endpointText: string | undefined,
  output: Output,
  flags: PlaceFlags,
): Promise<ExitCode> {
  return withMarketplace(flags, output, async (market, { endpoint }) => {
    const body = { listing: endpointText ?? (await onlyListing(market, endpoint)) };
    const refreshed = await requestJson<{
      readonly listing: Listing;
      readonly changes: readonly ListingChange[];
    }>(market, '/listings/refresh.json', body);
    const { listing, changes } = refreshed;
    const summary = changes.length === 0 ? 'nothing has changed' : counted(changes.length, 'change');
    output.done(`${listing.name}: ${summary}`);
    for (const line of changeLines(changes, output.paint)) output.line(line);
    return output.result(refreshed);
  });
}

async function onlyListing(market: Access, endpoint: string | undefined): Promise<string> {
  const { listings } = await requestJson<{ readonly listings: readonly ListingStatus[] }>(
    market,
    '/listings.json',
  );
  const ownListing =
    listings.find(({ listing }) => listing.endpoint === endpoint) ??
    (listings.length === 1 ? listings[0] : undefined);
  if (ownListing) return ownListing.listing.id;
  const names = listings.map(({ listing }) => listing.name).join(', ');
  if (names === '')
    throw new CommandError('NO_SUCH_LISTING', 'nothing is listed', 'Run market-mcp register first.');
  throw new CommandError('WHICH_LISTING', 'there are several listings', `Name one: ${names}.`);
}
