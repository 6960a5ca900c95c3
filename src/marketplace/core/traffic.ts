import type { Json, JsonObject } from 'market-mcp-contract/json';
import type { ExchangeOutcome } from './call-verdict.ts';

export const purposes = ['call', 'registration', 'refresh', 'replay', 'discovery'] as const;
/** The purpose of a request. */
export type Purpose = (typeof purposes)[number];

export interface LogLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** The body as it was sent, if it contains secrets. A symbol, like `sentTo`: a replay sends it, a dispute is decided by it. */
export const sentBody = Symbol('sentBody');

export interface Message {
  readonly [sentBody]?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Bytes of the body that were not kept. */
  readonly cut: number;
}

/** The URL that a request was sent to. A symbol, so it is in no answer and no export: unlike `url`, it may contain secrets. */
export const sentTo = Symbol('sentTo');

/** A request, and the part of its response that has arrived. Secrets are redacted, except behind symbols. */
export interface Exchange {
  readonly [sentTo]: string;
  readonly id: number;
  readonly at: string;
  readonly purpose: Purpose;
  readonly method: string;
  readonly url: string;
  /** The JSON-RPC method; of a call, the tool and its arguments as text, which may be shortened. */
  readonly rpc: { readonly method: string; readonly tool?: string; readonly arguments?: string } | null;
  readonly request: Message;
  readonly response: (Message & { readonly status: number }) | null;
  /** Milliseconds from the first byte sent to the last received; null while the exchange is running. */
  readonly ms: number | null;
  /** The reason if there is no response. */
  readonly error: string | null;
  /** Null while the exchange is running. */
  readonly outcome: ExchangeOutcome | null;
  readonly logs: readonly LogLine[];
}

const running = { response: null, ms: null, error: null, outcome: null, logs: [] } as const;

const overheadBytes = 1_024;
const maximumLogLines = 200;
/** Maximum number of bytes kept of a body. */
export const maxBodyBytes = 256 * 1024;

/** The exchanges of a marketplace. The oldest are dropped when the memory limit is reached. */
export class Traffic {
  readonly #exchanges = new Map<number, Exchange>();
  readonly #limit: number;
  readonly #onChange: (id: number) => void;
  #bytes = 0;
  #lastId = 0;
  #dropped = 0;

  /** @param limit approximate size of all exchanges in bytes. */
  constructor(limit: number = 32 * 1024 * 1024, onChange: (id: number) => void = () => {}) {
    this.#limit = limit;
    this.#onChange = onChange;
  }

  /** The numbers of exchanges that are kept and that were dropped; the approximate size of the kept ones in bytes. */
  get totals(): { readonly kept: number; readonly dropped: number; readonly bytes: number } {
    return { kept: this.#exchanges.size, dropped: this.#dropped, bytes: this.#bytes };
  }

  get(id: number): Exchange | undefined {
    return this.#exchanges.get(id);
  }

  /** The newest exchanges that pass a filter, newest first. */
  newest(count = Infinity, keep: (exchange: Exchange) => boolean = () => true): readonly Exchange[] {
    return this.all().toReversed().filter(keep).slice(0, count);
  }

  /** All exchanges in memory, oldest first. */
  all(): readonly Exchange[] {
    return [...this.#exchanges.values()];
  }

  start(exchange: Omit<Exchange, 'id' | 'at' | keyof typeof running>): number {
    const id = ++this.#lastId;
    const at = new Date().toISOString();
    this.#put({ ...exchange, ...running, id, at });
    return id;
  }

  /** Updates an exchange. A dropped exchange is not restored. */
  change(id: number, members: Partial<Omit<Exchange, 'id'>>): void {
    const exchange = this.#exchanges.get(id);
    if (exchange) this.#put({ ...exchange, ...members });
  }

  log(id: number, line: LogLine): void {
    const exchange = this.#exchanges.get(id);
    if (exchange && exchange.logs.length < maximumLogLines)
      this.#put({ ...exchange, logs: [...exchange.logs, line] });
  }

  clear(): void {
    this.#dropped += this.#exchanges.size;
    this.#exchanges.clear();
    this.#bytes = 0;
    this.#onChange(0);
  }

  #put(exchange: Exchange): void {
    const before = this.#exchanges.get(exchange.id);
    this.#bytes += sizeOf(exchange) - (before ? sizeOf(before) : 0);
    this.#exchanges.set(exchange.id, exchange);
    for (const [id, oldest] of this.#exchanges) {
      if (this.#bytes <= this.#limit || id === exchange.id) break;
      this.#exchanges.delete(id);
      this.#bytes -= sizeOf(oldest);
      this.#dropped += 1;
    }
    this.#onChange(exchange.id);
  }
}

/** Size of an exchange in bytes: two per character, the maximum in V8. */
function sizeOf({ url, request, response, logs }: Exchange): number {
  const messages = response ? [request, response] : [request];
  const texts = [
    url,
    ...messages.flatMap(({ headers, body, [sentBody]: requestBody = '' }) => [
      body,
      requestBody,
      ...Object.entries(headers).flat(),
    ]),
    ...logs.map(({ text }) => text),
  ];
  return overheadBytes + 2 * texts.reduce((sum, text) => sum + text.length, 0);
}

/** Exchanges as an HTTP archive (HAR 1.2). */
export function toHar(exchanges: readonly Exchange[], version: string): JsonObject {
  return {
    log: { version: '1.2', creator: { name: 'market-mcp', version }, entries: exchanges.map(harEntry) },
  };
}

function harEntry({ at, ms, method, url, request, response, error }: Exchange): JsonObject {
  const time = ms ?? 0;
  return {
    startedDateTime: at,
    time,
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: harHeaders(request),
      queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
      headersSize: -1,
      bodySize: bodySize(request),
      ...(request.body !== '' && {
        postData: { mimeType: request.headers['content-type'] ?? '', text: request.body },
      }),
    },
    response: {
      status: response?.status ?? 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: response ? harHeaders(response) : [],
      content: {
        size: response ? bodySize(response) : 0,
        mimeType: response?.headers['content-type'] ?? '',
        text: response?.body ?? '',
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: response ? bodySize(response) : 0,
      ...(error !== null && { comment: error }),
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
  };
}

function harHeaders({ headers }: Message): readonly Json[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

function bodySize({ body, cut }: Message): number {
  return Buffer.byteLength(body) + cut;
}
