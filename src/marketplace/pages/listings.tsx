import type { Change } from '../../check/model.ts';
import { isObject } from '../../contract/json.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { guiltyLimit } from '../core/dispute.ts';
import { stakeOf } from '../core/form.ts';
import type { ListingStatus } from '../core/marketplace.ts';
import { namesOf } from '../core/registration.ts';
import { Head, JsonBlock, Notice, shown, Table, Tag, Time } from '../web/parts.tsx';

export interface ListingsData {
  readonly listings: readonly ListingStatus[];
  /** The changes of the refresh that led to this page. */
  readonly refreshed: { readonly name: string; readonly changes: readonly Change[] } | null;
  readonly rules: PlatformProfile['listing'];
}

export function Listings({ data }: { data: ListingsData }) {
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
                : `${refreshed.changes.length} changes were stored.`,
            ]}
          />
          {refreshed.changes.length > 0 && <Changes changes={refreshed.changes} />}
        </section>
      )}
      {listings.length === 0 && (
        <div class="panel empty">
          <h2>Nothing is listed</h2>
          <p class="soft">
            A listing is created when the form is submitted and the platform has discovered the tools.
          </p>
          <a class="button primary" href="/register">
            Register
          </a>
        </div>
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
    <section class="panel" aria-label={shown(name)}>
      <div class="row between">
        <h2>{shown(name)}</h2>
        <span class="row">
          <Tag mark={state === 'listed' ? 'pass' : 'fail'}>{state}</Tag>
          <Tag mark={healthy ? 'pass' : 'fail'}>{healthy ? 'healthy' : 'no answer'}</Tag>
        </span>
      </div>
      <p>{shown(description.split('\n')[0])}</p>
      <dl class="fields">
        <dt>endpoint</dt>
        <dd>{shown(endpoint)}</dd>
        <dt>category</dt>
        <dd>{shown(category)}</dd>
        <dt>price</dt>
        <dd>
          {shown(price)} {rules.price.currency} a call, stake {stakeOf(price, rules)} {rules.stake.currency}
        </dd>
        <dt>registered</dt>
        <dd>
          <Time at={registeredAt} />
        </dd>
        <dt>refreshed</dt>
        <dd>
          <Time at={refreshedAt} />
        </dd>
        <dt>disputes</dt>
        <dd>
          {guilty} guilty; {guiltyLimit} take the listing off
        </dd>
      </dl>
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
      <div class="stack tight">
        <span class="label small">Buyers see</span>
        <p class="row">
          {namesOf(tools).map((tool) => (
            <Tag>
              <code>{shown(tool)}</code>
            </Tag>
          ))}
        </p>
      </div>
      <details>
        <summary>Stored tools/list</summary>
        {tools.filter(isObject).map((tool) => (
          <JsonBlock value={tool} />
        ))}
      </details>
      <div class="row">
        <form method="post" action="/listings/refresh">
          <input type="hidden" name="listing" value={id} />
          <button type="submit" class={changes && changes.length > 0 ? 'primary' : ''}>
            Refresh Skills
          </button>
        </form>
        <form method="post" action="/listings/withdraw">
          <input type="hidden" name="listing" value={id} />
          <button type="submit">Withdraw the listing</button>
        </form>
      </div>
    </section>
  );
}

/** The changes of a refresh, one property per row. */
function Changes({ changes }: { changes: readonly Change[] }) {
  return (
    <Table label="Changes" heads={['Tool', 'Property', 'Change', 'Before', 'After', 'Callers']}>
      {changes.map(({ tool, path, what, before, after, breaks }) => (
        <tr>
          <td>
            <code>{shown(tool)}</code>
          </td>
          <td>
            <code>{shown(path ?? '')}</code>
          </td>
          <td>{shown(what)}</td>
          <td>
            <code>{before === undefined ? '' : shown(JSON.stringify(before))}</code>
          </td>
          <td>
            <code>{after === undefined ? '' : shown(JSON.stringify(after))}</code>
          </td>
          <td>{breaks ? <Tag mark="fail">may break</Tag> : <Tag mark="pass">safe</Tag>}</td>
        </tr>
      ))}
    </Table>
  );
}
