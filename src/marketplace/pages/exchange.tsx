import type { Context } from 'hono';
import { CommandError, posixCommands, posixLine } from 'market-mcp-contract/command';
import { isWalkable, literallyIn, writeLiterally } from 'market-mcp-contract/json';
import type { Marketplace } from '../core/marketplace.ts';
import { redacted } from '../core/redact.ts';
import { type Exchange, sentBody } from '../core/traffic.ts';
import { inputText } from '../web/input.ts';
import { CopyButton, Head, Notice, PostButton, Submit, shown, Text, Time } from '../web/parts.tsx';
import { OutcomeText, Why } from '../web/references.tsx';
import type { Done, Site } from '../web/site.tsx';

/** One exchange, and its replay. */
export function exchangeRoutes(site: Site): void {
  const { marketplace } = site;
  site.page('/traffic/:id', 'Request', (c) => load(marketplace, c), ExchangePage);
  site.post('/traffic/:id/replay', async (input, c): Promise<Done> => {
    const body = inputText(input, 'body') || undefined;
    const id = await marketplace.replay(exchangeOf(marketplace, c).id, body);
    return { data: marketplace.traffic.get(id), to: `/traffic/${id}` };
  });
}

async function load(marketplace: Marketplace, c: Context) {
  const { id } = exchangeOf(marketplace, c);
  const cause = await marketplace.causeOf(id);
  const exchange = exchangeOf(marketplace, c);
  return { exchange, curl: curlOf(exchange), cause };
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
export function exchangeTitle({ rpc, method, url }: Pick<Exchange, 'rpc' | 'method' | 'url'>): string {
  if (!rpc) return `${method} ${new URL(url).pathname}`;
  return rpc.tool === undefined ? rpc.method : `${rpc.method} ${rpc.tool}`;
}

function ExchangePage({ data: { exchange, curl, cause } }: { data: Awaited<ReturnType<typeof load>> }) {
  const { id, at, purpose, method, url, request, response, ms, error, outcome, logs, rpc } = exchange;
  return (
    <>
      <Head title={`Request ${id}`}>
        {shown(exchangeTitle(exchange))}, sent for {purpose}, <Time at={at} />
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
                <OutcomeText of={outcome} />
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
  const [value] = literallyIn(body).filter((one) => isWalkable(one));
  return value === undefined ? body : writeLiterally(value, 2);
}
