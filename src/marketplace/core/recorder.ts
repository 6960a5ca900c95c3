import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type Json, shorten } from 'market-mcp-contract/json';
import {
  isLoopback,
  msSince,
  networkReason,
  nowMs,
  type Recorder,
  type SentRequest,
} from 'market-mcp-contract/wire';
import { exactJsonIn, walkableValuesIn } from './answer-values.ts';
import { exchangeOutcome, failedOutcome } from './call-verdict.ts';
import type { DeliberateRefusal } from './marketplace-model.ts';
import { redact, redactText, redactUrl } from './redact-traffic.ts';
import { type Exchange, type Message, maxBodyBytes, type Purpose, sentTo, type Traffic } from './traffic.ts';

export interface RecordOptions {
  readonly purpose: Purpose;
  /** The refusal that the contract expects of the calls; a call without a token is `Unauthorized` in any case (C§5.4). */
  readonly refusal?: DeliberateRefusal | null;
}

/** Tells a local development server which exchange a request belongs to (src/dev/observe.js). */
const exchangeHeader = 'x-market-mcp-exchange';

/** Records the requests of a probe in the traffic, without secrets. */
export class ExchangeRecorder {
  /** The id of the last exchange; undefined before the first. */
  last: number | undefined;
  /** Why the last request got no response; undefined if it got one. */
  error: string | undefined;
  readonly #traffic: Traffic;
  readonly #tokenHeader: string;
  readonly #options: RecordOptions;

  /** @param tokenHeader the request header that carries the platform's token, lower case. */
  constructor(traffic: Traffic, tokenHeader: string, options: RecordOptions) {
    this.#traffic = traffic;
    this.#tokenHeader = tokenHeader;
    this.#options = options;
  }

  readonly record: Recorder = ({ method, url, headers: requestHeaders, body = '' }) => {
    const traffic = this.#traffic;
    const { purpose, refusal = null } = this.#options;
    const sentBytes = Buffer.from(body);
    const [value] = exactJsonIn(redactText(sentBytes.toString('utf8')));
    const length = sentBytes.length > 0 && { 'content-length': String(sentBytes.length) };
    const names = Object.entries(requestHeaders).map(([name, value]) => [name.toLowerCase(), value]);
    const headers: SentRequest['headers'] = { host: url.host, ...length, ...Object.fromEntries(names) };
    const startedAt = nowMs();
    const id = traffic.start({
      purpose,
      method,
      url: redactUrl(url.href),
      [sentTo]: url.href,
      rpc: rpcOf(value),
      request: this.#message(headers, sentBytes),
    });
    this.last = id;
    this.error = undefined;
    const fail = (reason: Error): void => {
      const isLeft = reason.name === 'AbortError';
      const error = isLeft ? 'the caller closed the connection' : networkReason(reason.cause ?? reason);
      this.error = error;
      traffic.change(id, { ms: msSince(startedAt), error, outcome: failedOutcome('no answer') });
    };
    const mark: SentRequest['headers'] = isLoopback(url.hostname) ? { [exchangeHeader]: String(id) } : {};
    return {
      headers: mark,
      follow: (answer) =>
        void answer.then(({ status, headers: answered, bytes = [] }) => {
          const responseBytes = Buffer.from(bytes);
          const calls = callsIn(value);
          const unpaid = headers[this.#tokenHeader] === undefined ? 'Unauthorized' : null;
          const outcome = exchangeOutcome({
            status,
            values: walkableValuesIn(responseBytes.toString('utf8'), answered['content-type']),
            id: isObject(value) ? value.id : undefined,
            isCall: calls === 'one',
            refusal: calls === 'none' ? null : (refusal ?? unpaid),
          });
          const response = { ...this.#message(answered, responseBytes), status };
          traffic.change(id, { response, ms: msSince(startedAt), outcome });
        }, fail),
    };
  };

  #message(headers: IncomingHttpHeaders, bytes: Buffer): Message {
    const message = {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: bytes.subarray(0, maxBodyBytes).toString('utf8'),
      cut: Math.max(0, bytes.length - maxBodyBytes),
    };
    return redact(message, this.#tokenHeader);
  }
}

/** Whether a body calls a tool: as a single request, or in a batch. */
function callsIn(value: Json | undefined): 'none' | 'one' | 'batch' {
  const isCall = (message: Json | undefined) => isObject(message) && message.method === 'tools/call';
  if (Array.isArray(value)) return value.some(isCall) ? 'batch' : 'none';
  return isCall(value) ? 'one' : 'none';
}

const shownCharacters = 200;

/** The method of a JSON-RPC request; the tool and its arguments if it calls one. */
function rpcOf(value: Json | undefined): Exchange['rpc'] {
  if (Array.isArray(value)) return { method: `batch of ${value.length}` };
  if (!isObject(value) || typeof value.method !== 'string') return null;
  const { method } = value;
  const params = isObject(value.params) ? value.params : {};
  if (typeof params.name !== 'string') return { method };
  return { method, tool: params.name, arguments: shorten(params.arguments ?? {}, shownCharacters) };
}
