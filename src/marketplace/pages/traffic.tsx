import type { CallCause } from '../core/model.ts';
import { type ExchangeOutcome, outcomeKinds } from '../core/outcome.ts';
import { type Exchange, type LogLine, type Purpose, purposes, sentBody } from '../core/traffic.ts';
import { walkableJsonIn } from '../core/values.ts';
import {
  Choice,
  CodeCell,
  CopyButton,
  Head,
  LinkButton,
  live,
  Notice,
  PostButton,
  Submit,
  shown,
  Table,
  Text,
  Time,
} from '../web/parts.tsx';
import { Why } from './cause.tsx';
import { Outcome } from './outcome.tsx';

export interface TrafficFilter {
  readonly text: string;
  readonly purpose: Purpose | '';
  readonly outcome: ExchangeOutcome['kind'] | '';
}

/** One exchange in the list, without the messages, which are on its own page. */
export type ExchangeSummary = Omit<Exchange, 'request' | 'response' | 'logs'> & {
  readonly status: number | null;
};

export interface TrafficData {
  readonly filter: TrafficFilter;
  readonly exchanges: readonly ExchangeSummary[];
  readonly kept: number;
  readonly dropped: number;
  readonly bytes: number;
  readonly serverLog: readonly LogLine[];
}

/** The filter as a URL query. */
export function queryOf(filter: TrafficFilter): string {
  return new URLSearchParams({ ...filter }).toString();
}

export function TrafficPage({ data }: { data: TrafficData }) {
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
                <Choice value={purpose} now={filter.purpose} />
              ))}
            </select>
          </label>
          <label>
            <span>Outcome</span>
            <select name="outcome">
              <option value="">any</option>
              {outcomeKinds.map((kind) => (
                <Choice
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

function Rows({ data: { exchanges, kept, dropped, bytes } }: { data: TrafficData }) {
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
                {shown(titleOf(exchange))}
                {exchange.rpc?.arguments && <span class="arguments">{shown(exchange.rpc.arguments)}</span>}
              </CodeCell>
              <td>
                <Outcome of={exchange.outcome} />
                {exchange.error !== null && <span class="reason">{shown(exchange.error)}</span>}
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

/** `tools/call get_price`, or the HTTP request if it is not JSON-RPC. */
export function titleOf({ rpc, method, url }: Pick<Exchange, 'rpc' | 'method' | 'url'>): string {
  if (!rpc) return `${method} ${new URL(url).pathname}`;
  return rpc.tool === undefined ? rpc.method : `${rpc.method} ${rpc.tool}`;
}

export interface ExchangeData {
  readonly exchange: Exchange;
  readonly curl: string;
  /** Why it failed; null if it did not, or that is not known. */
  readonly cause: CallCause | null;
}

export function ExchangePage({ data: { exchange, curl, cause } }: { data: ExchangeData }) {
  const { id, at, purpose, method, url, request, response, ms, error, outcome, logs, rpc } = exchange;
  return (
    <>
      <Head title={`Request ${id}`}>
        {shown(titleOf(exchange))}, sent for {purpose}, <Time at={at} />
      </Head>
      {error !== null && <Notice mark="fail" title="There was no response" lines={[error]} />}
      {cause && <Why cause={{ ...cause, lines: [] }} />}
      <div class="split even">
        <section class="panel" aria-labelledby="request">
          <h2 id="request">Request</h2>
          <p class="mono">
            {method} {shown(url)}
          </p>
          <Text text={headersText(request.headers)} />
          {request.body !== '' && <Text text={pretty(request.body)} />}
          <Cut bytes={request.cut} />
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
                <Outcome of={outcome} />
                <span class="soft">
                  HTTP {response.status}
                  {ms === null ? '' : `, ${Math.round(ms)} ms`}
                </span>
              </p>
              <Text text={headersText(response.headers)} />
              {response.body !== '' && <Text text={pretty(response.body)} />}
              <Cut bytes={response.cut} />
            </>
          ) : (
            <p class="soft">none</p>
          )}
          {rpc?.tool !== undefined && response && (
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

function Cut({ bytes }: { bytes: number }) {
  return bytes > 0 ? <p class="soft small">{bytes} more bytes were not kept.</p> : null;
}

function headersText(headers: Exchange['request']['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function pretty(body: string): string {
  const [value] = walkableJsonIn(body);
  return value === undefined ? body : JSON.stringify(value, null, 2);
}
