import type { Context } from 'hono';
import { CommandError } from 'market-mcp-contract/command';
import { version } from '../../plan/versions.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { type Exchange, purposes, toHar } from '../core/traffic.ts';
import { outcomeKinds } from '../core/verdict.ts';
import {
  ChoiceField,
  CodeCell,
  Head,
  LinkButton,
  live,
  PostButton,
  shown,
  Table,
  Text,
} from '../web/parts.tsx';
import { OutcomeText } from '../web/references.tsx';
import type { Done, Site } from '../web/site.tsx';
import { exchangeRoutes, exchangeTitle } from './exchange.tsx';

const shownExchanges = 200;

/** Traffic: the list and its exports, and one exchange. */
export function trafficRoutes(site: Site): void {
  const { marketplace } = site;
  const { traffic } = marketplace;
  site.page('/traffic', 'Traffic', (c) => trafficOf(marketplace, c), TrafficPage);
  site.app.get('/traffic/export.har', (c) => {
    c.header('content-disposition', 'attachment; filename="traffic.har"');
    return c.json(toHar(filtered(marketplace, c, traffic.size).toReversed(), version));
  });
  site.app.get('/traffic/export.json', (c) =>
    c.json({ exchanges: filtered(marketplace, c, traffic.size).toReversed() }),
  );
  site.post('/traffic/clear', async (): Promise<Done> => {
    traffic.clear();
    return { data: { cleared: true }, to: '/traffic' };
  });
  exchangeRoutes(site);
}

type Data = ReturnType<typeof trafficOf>;

function filterOf(c: Context) {
  return {
    text: c.req.query('text') ?? '',
    purpose: choiceOf(c, 'purpose', purposes),
    outcome: choiceOf(c, 'outcome', outcomeKinds),
  };
}

/** A parameter of the URL that is empty or one of a list. @throws CommandError `BAD_FILTER` */
function choiceOf<Value extends string>(c: Context, name: string, known: readonly Value[]): Value | '' {
  const given = c.req.query(name) ?? '';
  const value = known.find((one) => one === given);
  if (value !== undefined || given === '') return value ?? '';
  const message = `there is no ${name} ${JSON.stringify(given)}`;
  throw new CommandError('BAD_FILTER', message, `Choose one of: ${known.join(', ')}.`);
}

function filtered(marketplace: Marketplace, c: Context, count: number): readonly Exchange[] {
  const { text, purpose, outcome } = filterOf(c);
  const wanted = text.toLowerCase();
  return marketplace.traffic.newest(count, (exchange) => {
    if (purpose === '' ? exchange.purpose === 'discovery' : exchange.purpose !== purpose) return false;
    if (outcome !== '' && exchange.outcome?.kind !== outcome) return false;
    const { url, rpc } = exchange;
    const searched = [exchangeTitle(exchange), rpc?.arguments, url, exchange.outcome?.code].join(' ');
    return searched.toLowerCase().includes(wanted);
  });
}

function summaryOf({ request: _, response, logs: __, ...rest }: Exchange) {
  return { ...rest, status: response?.status ?? null };
}

function trafficOf(marketplace: Marketplace, c: Context) {
  const { traffic, serverLog } = marketplace;
  return {
    filter: filterOf(c),
    exchanges: filtered(marketplace, c, shownExchanges).map(summaryOf),
    kept: traffic.size,
    dropped: traffic.dropped,
    bytes: traffic.bytes,
    serverLog: [...serverLog],
  };
}

/** The filter as a URL query. */
function queryOf(filter: Data['filter']): string {
  return new URLSearchParams({ ...filter }).toString();
}

function TrafficPage({ data }: { data: Data }) {
  const { filter } = data;
  const query = queryOf(filter);
  return (
    <>
      <Head title="Traffic">
        Every request of this marketplace and its response, newest first, without secrets. It stays in memory,
        up to a bound.
      </Head>
      <form method="get" action="/traffic" class="panel">
        <div class="row filter">
          <label>
            <span>Search</span>
            <input name="text" value={filter.text} placeholder="tool, argument, code" />
          </label>
          <label>
            <span>Sent for</span>
            <select name="purpose">
              <option value="">all but look-ups</option>
              {purposes.map((purpose) => (
                <ChoiceField value={purpose} now={filter.purpose} />
              ))}
            </select>
          </label>
          <label>
            <span>Outcome</span>
            <select name="outcome">
              <option value="">any</option>
              {outcomeKinds.map((kind) => (
                <ChoiceField
                  value={kind}
                  now={filter.outcome}
                  text={kind === 'refused' ? 'refused as expected' : kind}
                />
              ))}
            </select>
          </label>
          <button type="submit">Filter</button>
        </div>
      </form>
      <div class="stack" {...live('rows', `/traffic?${query}`, 'traffic')}>
        <Rows data={data} />
      </div>
      <div class="row">
        <LinkButton to={`/traffic/export.json?${query}`} label="Export JSON" />
        <LinkButton to={`/traffic/export.har?${query}`} label="Export HAR" />
        <PostButton to="/traffic/clear" label="Clear" />
      </div>
      <section class="stack" {...live('log', `/traffic?${query}`, 'log')}>
        {data.serverLog.length > 0 && (
          <>
            <h2>Server log</h2>
            <p class="soft small">Lines that your server wrote outside any request.</p>
            <Text text={data.serverLog.map(({ text }) => text).join('\n')} />
          </>
        )}
      </section>
    </>
  );
}

function Rows({ data: { exchanges, kept, dropped, bytes } }: { data: Data }) {
  return (
    <>
      <p class="soft small">
        {exchanges.length} shown of {kept} kept, {(bytes / 1024 / 1024).toFixed(1)} MiB
        {dropped > 0 ? `; ${dropped} older ones were removed` : ''}
      </p>
      {exchanges.length > 0 && (
        <Table label="Requests" heads={['#', 'Request', 'Outcome', 'HTTP', 'ms', 'For', 'Time']}>
          {exchanges.map((exchange) => (
            <tr>
              <td class="num">
                <a href={`/traffic/${exchange.id}`}>{exchange.id}</a>
              </td>
              <CodeCell>
                {shown(exchangeTitle(exchange))}
                {exchange.rpc?.arguments && <span class="aside soft">{shown(exchange.rpc.arguments)}</span>}
              </CodeCell>
              <td>
                <OutcomeText of={exchange.outcome} />
                {exchange.error !== null && <span class="aside soft">{shown(exchange.error)}</span>}
              </td>
              <td class="num">{exchange.status ?? ''}</td>
              <td class="num">{exchange.ms === null ? '' : Math.round(exchange.ms)}</td>
              <td class="nowrap">{exchange.purpose}</td>
              <td class="nowrap">{exchange.at.slice(11, 23)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
