import type { Context } from 'hono';
import { CommandError, posixCommands, posixLine } from 'market-mcp-contract/command';
import { isWalkable, literallyIn, writeLiterally } from 'market-mcp-contract/json';
import { version } from '../../plan/package-versions.ts';
import { outcomeKinds } from '../core/call-verdict.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { redacted } from '../core/redact-traffic.ts';
import { type Exchange, type Message, purposes, sentBody, toHar } from '../core/traffic.ts';
import { inputText } from '../web/form-input.ts';
import {
  ChoiceField,
  CodeCell,
  CopyButton,
  Head,
  LinkButton,
  live,
  Notice,
  PostButton,
  Submit,
  Table,
  Text,
  Time,
  visibleText,
} from '../web/parts.tsx';
import { OutcomeText, Why } from '../web/references.tsx';
import type { Done, Site } from '../web/site.tsx';

const shownExchanges = 200;

/** Traffic: the list and its exports, one exchange, and its replay. */
export function trafficRoutes(site: Site): void {
  const { marketplace } = site;
  const { traffic } = marketplace;
  site.page('/traffic', 'Traffic', (c) => trafficOf(marketplace, c), TrafficPage);
  site.app.get('/traffic/export.har', (c) => {
    c.header('content-disposition', 'attachment; filename="traffic.har"');
    return c.json(toHar(filtered(marketplace, c).toReversed(), version));
  });
  site.app.get('/traffic/export.json', (c) => c.json({ exchanges: filtered(marketplace, c).toReversed() }));
  site.post('/traffic/clear', async (): Promise<Done> => {
    traffic.clear();
    return { data: { cleared: true }, to: '/traffic' };
  });
  site.page('/traffic/:id', 'Request', (c) => load(marketplace, c), ExchangePage);
  site.post('/traffic/:id/replay', async (input, c): Promise<Done> => {
    const body = inputText(input, 'body') || undefined;
    const id = await marketplace.replay(exchangeOf(marketplace, c).id, body);
    return { data: traffic.get(id), to: `/traffic/${id}` };
  });
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
function choiceOf<Value extends string>(c: Context, name: string, knownValues: readonly Value[]): Value | '' {
  const queryValue = c.req.query(name) ?? '';
  const value = knownValues.find((knownValue) => knownValue === queryValue);
  if (value !== undefined || queryValue === '') return value ?? '';
  const message = `there is no ${name} ${JSON.stringify(queryValue)}`;
  throw new CommandError('BAD_FILTER', message, `Choose one of: ${knownValues.join(', ')}.`);
}

function filtered(marketplace: Marketplace, c: Context, count?: number): readonly Exchange[] {
  const { text, purpose, outcome } = filterOf(c);
  const searchText = text.toLowerCase();
  return marketplace.traffic.newest(count, (exchange) => {
    if (purpose === '' ? exchange.purpose === 'discovery' : exchange.purpose !== purpose) return false;
    if (outcome !== '' && exchange.outcome?.kind !== outcome) return false;
    const { url, rpc } = exchange;
    const searched = [exchangeTitle(exchange), rpc?.arguments, url, exchange.outcome?.code].join(' ');
    return searched.toLowerCase().includes(searchText);
  });
}

function summarizeExchange({ request: _, response, logs: __, ...rest }: Exchange) {
  return { ...rest, status: response?.status ?? null };
}

function trafficOf(marketplace: Marketplace, c: Context) {
  const { traffic, serverLog } = marketplace;
  return {
    filter: filterOf(c),
    exchanges: filtered(marketplace, c, shownExchanges).map(summarizeExchange),
    ...traffic.totals,
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
                {visibleText(exchangeTitle(exchange))}
                {exchange.rpc?.arguments && (
                  <span class="aside soft">{visibleText(exchange.rpc.arguments)}</span>
                )}
              </CodeCell>
              <td>
                <OutcomeText of={exchange.outcome} />
                {exchange.error !== null && <span class="aside soft">{visibleText(exchange.error)}</span>}
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

async function load(marketplace: Marketplace, c: Context) {
  const { id } = exchangeOf(marketplace, c);
  const cause = await marketplace.causeOf(id);
  const exchange = exchangeOf(marketplace, c);
  return { exchange, curl: curlOf(exchange), cause, canDispute: await marketplace.canDispute(id) };
}

function exchangeOf(marketplace: Marketplace, c: Context): Exchange {
  const id = Number.parseInt(c.req.param('id') ?? '', 10);
  const exchange = marketplace.traffic.get(id);
  if (exchange) return exchange;
  const hint = 'See /traffic.';
  throw new CommandError('NO_SUCH_REQUEST', 'this request is not in the traffic, or no longer', hint);
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

/** `tools/call get_price`, or the HTTP request if it is not JSON-RPC. */
function exchangeTitle({ rpc, method, url }: Pick<Exchange, 'rpc' | 'method' | 'url'>): string {
  if (!rpc) return `${method} ${new URL(url).pathname}`;
  if (rpc.tool === undefined) return rpc.method;
  return `${rpc.method} ${rpc.tool}`;
}

function ExchangePage({ data }: { data: Awaited<ReturnType<typeof load>> }) {
  const { exchange, curl, cause, canDispute } = data;
  const { id, at, purpose, method, url, request, response, ms, error, outcome, logs } = exchange;
  return (
    <>
      <Head title={`Request ${id}`}>
        {visibleText(exchangeTitle(exchange))}, sent for {purpose}, <Time at={at} />
      </Head>
      {error !== null && <Notice mark="fail" title="There was no response" lines={[error]} />}
      {cause && <Why cause={{ ...cause, lines: [] }} />}
      <div class="split even">
        <section class="panel" aria-labelledby="request">
          <h2 id="request">Request</h2>
          <p class="mono">
            {method} {visibleText(url)}
          </p>
          <MessageText message={request} />
          <div class="row">
            <CopyButton of="curl" label="Copy as curl" />
          </div>
          <details>
            <summary>curl</summary>
            <Text text={curl} id="curl" />
          </details>
        </section>
        <section class="panel" aria-labelledby="response">
          <h2 id="response">Response</h2>
          {response ? (
            <>
              <p class="row">
                <OutcomeText of={outcome} />
                <span class="soft">
                  HTTP {response.status}
                  {ms === null ? '' : `, ${Math.round(ms)} ms`}
                </span>
              </p>
              <MessageText message={response} />
            </>
          ) : (
            <p class="soft">none</p>
          )}
          {canDispute && (
            <PostButton to="/disputes" fields={{ call: String(id) }} label="Dispute this call" />
          )}
        </section>
      </div>
      {logs.length > 0 && (
        <section class="panel">
          <h2>What the server wrote during this request</h2>
          <Text text={logs.map(({ stream, text }) => `${stream.padEnd(8)}${text}`).join('\n')} />
        </section>
      )}
      <form method="post" action={`/traffic/${id}/replay`} class="panel stack">
        <h2>Send it again</h2>
        <p class="soft">
          With a new session and a new token.
          {request[sentBody] !== undefined && ' Secrets that are redacted here are sent.'}
        </p>
        <label>
          <span>Body</span>
          <textarea name="body" rows={8} spellcheck={false}>{`\n${pretty(request.body)}`}</textarea>
        </label>
        <Submit label="Replay" />
      </form>
    </>
  );
}

function MessageText({ message: { headers, body, cut } }: { message: Message }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <Text text={lines.join('\n')} />
      {body !== '' && <Text text={pretty(body)} />}
      {cut > 0 && <p class="soft small">{cut} more bytes were not kept.</p>}
    </>
  );
}

function pretty(body: string): string {
  const [value] = literallyIn(body).filter((candidate) => isWalkable(candidate));
  if (value === undefined) return body;
  return writeLiterally(value, 2);
}
