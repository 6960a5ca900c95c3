import type { Context } from 'hono';
import { posixCommands, posixLine } from '../../model/shell.ts';
import { version } from '../../plan/versions.ts';
import { MarketError } from '../core/errors.ts';
import { toHar } from '../core/export.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { outcomeKinds } from '../core/outcome.ts';
import { redacted } from '../core/redact.ts';
import { type Exchange, purposes } from '../core/traffic.ts';
import {
  ExchangePage,
  type ExchangeSummary,
  type TrafficData,
  TrafficPage,
  titleOf,
} from '../pages/traffic.tsx';
import { textOf } from './input.ts';
import type { Done, Site } from './site.tsx';

const shownExchanges = 200;

/** Traffic: the list, one exchange, replay and exports. */
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
  const load = async (c: Context) => {
    const { id } = exchangeOf(marketplace, c);
    const cause = await marketplace.causeOf(id);
    const exchange = exchangeOf(marketplace, c);
    return { exchange, curl: curlOf(exchange), cause };
  };
  site.page('/traffic/:id', 'Request', load, ExchangePage);
  site.post('/traffic/:id/replay', async (input, c): Promise<Done> => {
    const body = textOf(input, 'body') || undefined;
    const id = await marketplace.replay(exchangeOf(marketplace, c).id, body);
    return { data: traffic.get(id), to: `/traffic/${id}` };
  });
}

function exchangeOf(marketplace: Marketplace, c: Context): Exchange {
  const id = Number.parseInt(c.req.param('id') ?? '', 10);
  const exchange = marketplace.traffic.get(id);
  if (exchange) return exchange;
  const hint = 'See /traffic.';
  throw new MarketError('NO_SUCH_REQUEST', 'this request is not in the traffic, or no longer', hint);
}

function filterOf(c: Context): TrafficData['filter'] {
  return {
    text: c.req.query('text') ?? '',
    purpose: choiceOf(c, 'purpose', purposes),
    outcome: choiceOf(c, 'outcome', outcomeKinds),
  };
}

/** A parameter of the URL that is empty or one of a list. @throws MarketError `BAD_FILTER` */
function choiceOf<Value extends string>(c: Context, name: string, known: readonly Value[]): Value | '' {
  const given = c.req.query(name) ?? '';
  const value = known.find((one) => one === given);
  if (value !== undefined || given === '') return value ?? '';
  const message = `there is no ${name} ${JSON.stringify(given)}`;
  throw new MarketError('BAD_FILTER', message, `Choose one of: ${known.join(', ')}.`);
}

function filtered(marketplace: Marketplace, c: Context, count: number): readonly Exchange[] {
  const { text, purpose, outcome } = filterOf(c);
  const wanted = text.toLowerCase();
  return marketplace.traffic.newest(count, (exchange) => {
    if (purpose === '' ? exchange.purpose === 'discovery' : exchange.purpose !== purpose) return false;
    if (outcome !== '' && exchange.outcome?.kind !== outcome) return false;
    const { url, rpc } = exchange;
    const searched = [titleOf(exchange), rpc?.arguments, url, exchange.outcome?.code].join(' ');
    return searched.toLowerCase().includes(wanted);
  });
}

function summaryOf({ request: _, response, logs: __, ...rest }: Exchange): ExchangeSummary {
  return { ...rest, status: response?.status ?? null };
}

function trafficOf(marketplace: Marketplace, c: Context): TrafficData {
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

/** A request as a shell command; a placeholder replaces its secrets. */
function curlOf({ method, url, request }: Exchange): string {
  const left = /^(?:host|content-length|accept-encoding|user-agent|accept-language|sec-fetch-mode)$/;
  const line = (...words: string[]) => posixLine(words.map((word) => word.replaceAll(redacted, 'TOKEN')));
  const headers = Object.entries(request.headers)
    .filter(([name]) => !left.test(name))
    .map(([name, value]) => line('-H', `${name}: ${value}`));
  const body = request.body === '' ? [] : [line('--data-raw', request.body)];
  return posixCommands([[line('curl', '-sS', '-X', method, url), ...headers, ...body].join(' \\\n  ')]);
}
