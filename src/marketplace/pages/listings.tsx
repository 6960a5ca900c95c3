import { counted } from 'market-mcp-contract/command';
import { writingEffect } from 'market-mcp-contract/definition';
import { isObject } from 'market-mcp-contract/json';
import { brokenBy, type ListingChange } from 'market-mcp-contract/report';
import { guiltyLimit } from '../core/dispute-report.ts';
import { stakeOf } from '../core/listing-form.ts';
import type { ListingStatus, Marketplace } from '../core/marketplace.ts';
import { toolsWithNames } from '../core/registration.ts';
import { inputText } from '../web/form-input.ts';
import {
  CodeCell,
  Empty,
  FieldList,
  Head,
  Labelled,
  type Mark,
  Notice,
  PostButton,
  Table,
  Tag,
  Text,
  Time,
  visibleText,
} from '../web/parts.tsx';
import { EffectTag } from '../web/references.tsx';
import type { Done, Site } from '../web/site.tsx';

export function listingRoutes(site: Site): void {
  const { marketplace } = site;
  site.page('/listings', 'My tools', () => load(marketplace), Listings);
  site.post('/listings/refresh', async (input): Promise<Done> => {
    const { listing, changes } = await marketplace.refresh(inputText(input, 'listing'));
    const refreshed = { name: listing.name, changes };
    const view = async () => <Listings data={await load(marketplace, refreshed)} />;
    return { data: { listing, changes }, title: 'My tools', view };
  });
  site.post('/listings/withdraw', async (input): Promise<Done> => {
    const listing = inputText(input, 'listing');
    await marketplace.withdraw(listing);
    return { data: { withdrawn: listing }, to: '/listings' };
  });
}

type ListingsData = Awaited<ReturnType<typeof load>>;

/** @param refreshed the changes of the refresh that led to this page */
async function load(
  marketplace: Marketplace,
  refreshed: { readonly name: string; readonly changes: readonly ListingChange[] } | null = null,
) {
  const { listings } = await marketplace.store.read();
  return {
    listings: await Promise.all(listings.map((listing) => marketplace.status(listing))),
    refreshed,
    rules: marketplace.profile.listing,
  };
}

function Listings({ data }: { data: ListingsData }) {
  const { listings, refreshed, rules } = data;
  return (
    <>
      <Head title="My tools">
        Buyers see the tools as they were at the last listing or refresh, whatever your server serves now.
      </Head>
      {refreshed && (
        <section class="stack">
          <Notice
            mark="pass"
            title={`${refreshed.name} is refreshed`}
            lines={[
              refreshed.changes.length === 0
                ? 'Nothing has changed.'
                : `Stored: ${counted(refreshed.changes.length, 'change')}.`,
            ]}
          />
          {refreshed.changes.length > 0 && <Changes changes={refreshed.changes} />}
        </section>
      )}
      {listings.length === 0 && (
        <Empty title="Nothing is listed" register="Register">
          A listing is created when the form is submitted and the platform has discovered the tools.
        </Empty>
      )}
      {listings.map((status) => (
        <ListingCard status={status} rules={rules} />
      ))}
    </>
  );
}

function ListingCard({ status, rules }: { status: ListingStatus; rules: ListingsData['rules'] }) {
  const { listing, healthy, changes, guilty } = status;
  const { id, name, description, category, price, endpoint, state, registeredAt, refreshedAt, tools } =
    listing;
  return (
    <section class="panel" aria-label={visibleText(name)}>
      <div class="row between">
        <h2>{visibleText(name)}</h2>
        <span class="row">
          <Tag mark={state === 'listed' ? 'pass' : 'fail'}>{state}</Tag>
          <Tag mark={healthy ? 'pass' : 'fail'}>{healthy ? 'healthy' : 'no answer'}</Tag>
        </span>
      </div>
      <p>{visibleText(description.split('\n')[0])}</p>
      <FieldList
        fields={{
          endpoint: visibleText(endpoint),
          category: visibleText(category),
          price: `${visibleText(price)} ${rules.price.currency} a call, stake ${stakeOf(price, rules)} ${rules.stake.currency}`,
          registered: <Time at={registeredAt} />,
          refreshed: <Time at={refreshedAt} />,
          disputes: `${guilty} guilty; ${guiltyLimit} take the listing off`,
        }}
      />
      {changes === null && <Notice mark="fail" title="The server returns no list of tools at the moment" />}
      {changes && changes.length > 0 && (
        <div class="stack">
          <Notice
            mark="advice"
            title="The server differs from what buyers see"
            lines={['Press Refresh Skills to update the listing:']}
          />
          <Changes changes={changes} />
        </div>
      )}
      <Labelled label="Buyers see">
        <ul class="row plain-list">
          {toolsWithNames(tools).map((tool) => (
            <li class="row">
              <Tag>
                <code>{visibleText(tool.name)}</code>
              </Tag>
              <EffectTag effect={writingEffect(tool.definition)} />
            </li>
          ))}
        </ul>
      </Labelled>
      <details>
        <summary>Stored tools/list</summary>
        {tools.filter(isObject).map((tool) => (
          <Text text={JSON.stringify(tool, null, 2)} />
        ))}
      </details>
      <div class="row">
        <PostButton
          to="/listings/refresh"
          fields={{ listing: id }}
          primary={changes !== null && changes.length > 0}
          label="Refresh Skills"
        />
        <PostButton to="/listings/withdraw" fields={{ listing: id }} label="Withdraw the listing" />
      </div>
    </section>
  );
}

function tagMark(breaks: ListingChange['breaks']): Mark {
  if (breaks === null) return 'advice';
  return breaks ? 'fail' : 'pass';
}

/** The changes of a refresh, one property per row. */
function Changes({ changes }: { changes: readonly ListingChange[] }) {
  return (
    <Table label="Changes" heads={['Tool', 'Property', 'Change', 'Before', 'After', 'Who breaks']}>
      {changes.map(({ tool, path, what, before, after, breaks, breaksFor }) => (
        <tr>
          <CodeCell>{visibleText(tool)}</CodeCell>
          <CodeCell>{visibleText(path ?? '')}</CodeCell>
          <td>{visibleText(what)}</td>
          <CodeCell>{before === undefined ? '' : visibleText(JSON.stringify(before))}</CodeCell>
          <CodeCell>{after === undefined ? '' : visibleText(JSON.stringify(after))}</CodeCell>
          <td>
            <Tag mark={tagMark(breaks)}>{brokenBy(breaksFor)}</Tag>
          </td>
        </tr>
      ))}
    </Table>
  );
}
