// Tokens for an API by OAuth client credentials (RFC 6749 §4.4).

import { isolatesRequests } from '../server/limits.ts';
import { isObject } from '../server/schema.ts';
import {
  type Alternatives,
  allSecretsOf,
  type SourceCredentials,
  secretsInCredentials,
  secretsToSend,
} from './credentials.ts';
import { attachExplanation, failureStatus } from './failure-log.ts';
import { fetchResponse } from './fetch-response.ts';
import { redactorOf } from './redact.ts';
import { basic, Secret } from './secret.ts';
import { reportAddress } from './source-address.ts';
import { cancelledError, SourceError, tooSlowError, unavailableError } from './source-errors.ts';

/** How a server gets its tokens (RFC 6749 §4.4). */
export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly id: Secret | string;
  readonly secret: Secret | string;
  /** Scopes, separated by spaces. */
  readonly scope?: string;
  /** Further parameters of the request, such as `audience`. */
  readonly parameters?: { readonly [name: string]: string };
  /**
   * Where id and secret are sent: `basic`, form-encoded in the header, as RFC 6749 §2.3.1 says (default); `basicPlain`, unchanged; `body`,
   * as parameters.
   */
  readonly send?: 'basic' | 'basicPlain' | 'body';
}

const timeoutMs = 10_000;
const maxBytes = 100_000;
/** Lifetime of a token whose response does not state it. */
const defaultLifetimeSeconds = 300;
/** Time before its expiry in which a token is no longer used, because a request takes time. */
const expiryMarginSeconds = 60;

/** The value of an `authorization` header: a token that is fetched at the first request and before it ends. */
export function clientCredentials(options: ClientCredentials): Secret {
  return new Token(options);
}

class Token extends Secret {
  readonly #options: ClientCredentials;
  #token: { readonly text: string; readonly until: number } | undefined;
  /** The token before the present one. Responses that still arrive may contain it. */
  #previousText: string | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ClientCredentials) {
    const ownHeader = basic(options.id, options.secret);
    super(ownHeader.name, ownHeader.reveal(), ownHeader.isOptional, [...ownHeader.texts()]);
    this.#options = options;
    reportAddress(options.tokenUrl, 'token URL');
  }

  override reveal(): string | null {
    if (super.reveal() === null) return null;
    return `Bearer ${this.#token?.text ?? ''}`;
  }

  override texts(): readonly string[] {
    return [
      ...super.texts(),
      ...[this.#token?.text, this.#previousText].filter((text) => text !== undefined),
    ];
  }

  /** Fetches a token if there is none that is still valid. @throws SourceError */
  async ensureValid(signal: AbortSignal): Promise<void> {
    if (super.reveal() === null || (this.#token && Date.now() < this.#token.until)) return;
    const running = this.#running ?? this.#fetch();
    if (!isolatesRequests()) this.#running = running;
    await waitUnlessAborted(running, signal);
  }

  /** Drops a token that the API has refused, so that the next request fetches another one. */
  discard(sentToken: string | null): void {
    if (sentToken !== this.reveal()) return;
    this.#previousText = this.#token?.text;
    this.#token = undefined;
  }

  async #fetch(): Promise<void> {
    try {
      const { tokenUrl, id, secret, scope, parameters, send = 'basic' } = this.#options;
      const plainText = (part: Secret | string) => (typeof part === 'string' ? part : (part.reveal() ?? ''));
      const [clientId, clientSecret] = [plainText(id), plainText(secret)];
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      if (scope !== undefined) body.set('scope', scope);
      for (const [parameter, value] of Object.entries(parameters ?? {})) body.set(parameter, value);
      if (send === 'body') {
        body.set('client_id', clientId);
        body.set('client_secret', clientSecret);
      }
      const pair =
        send === 'basic'
          ? `${formEncoded(clientId)}:${formEncoded(clientSecret)}`
          : `${clientId}:${clientSecret}`;
      const headers = new Headers({
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      });
      if (send !== 'body') headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
      const signal = AbortSignal.timeout(timeoutMs);
      const request = new Request(tokenUrl, { method: 'POST', headers, body, redirect: 'manual', signal });
      const response = await fetchResponse(request, maxBytes, undefined).catch((error: Error) => {
        if (error instanceof SourceError) throw error;
        throw signal.aborted ? tooSlowError(true) : unavailableError(true);
      });
      const text = await response.text();
      const { access_token: token, expires_in: seconds, error } = parseMembers(text);
      if (!response.ok) throw tokenRefusal(response.status, error, this.name);
      if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw missingTokenError();
      const life = Number(seconds) > 0 ? Number(seconds) : defaultLifetimeSeconds;
      this.#previousText = this.#token?.text ?? this.#previousText;
      this.#token = {
        text: token,
        until: Date.now() + 1_000 * (life - Math.min(expiryMarginSeconds, life / 10)),
      };
    } catch (error) {
      throw this.#explain(error as SourceError);
    } finally {
      this.#running = undefined;
    }
  }

  #explain(error: SourceError): SourceError {
    const { host, pathname } = new URL(this.#options.tokenUrl);
    const detail = `token endpoint: ${error.message}`;
    const hint = `Correct the token URL, ${this.name}, or how they are sent, in src/apis/.`;
    return attachExplanation(error, {
      method: 'post',
      host,
      path: pathname,
      status: failureStatus(error),
      detail,
      hint,
    });
  }
}

/** As a form encodes a text (RFC 6749, appendix B). */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function parseMembers(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
    return {};
  } catch {
    return {};
  }
}

function tokenRefusal(status: number, error: unknown, name: string): SourceError {
  if (status >= 500) return unavailableError(true);
  const code = typeof error === 'string' && /^[\w-]{1,40}$/.test(error) ? ` (${error})` : '';
  const message = 'The source refused this server. The operator of the server must fix this.';
  return attachExplanation(new SourceError('SOURCE_REFUSED', message), { status, detail: `${name}${code}` });
}

function missingTokenError(): SourceError {
  return new SourceError('SOURCE_MISCONFIGURED', 'The source of tokens answered without a token.');
}

/** Waits for work until the signal is aborted. The work goes on, because other callers may wait for it. */
function waitUnlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(cancelledError());
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function tokensIn(secrets: readonly Secret[]): readonly Token[] {
  return secrets.filter((secret) => secret instanceof Token);
}

/**
 * Sends a request with valid tokens, and once more with new tokens if the API answers with 401.
 *
 * @param auth the keys that the request names
 * @throws SourceError of the token endpoint, or of the request
 */
export async function withApiTokens<T>(
  source: SourceCredentials,
  auth: Alternatives | undefined,
  signal: AbortSignal,
  send: () => Promise<T>,
): Promise<T> {
  const tokens = tokensIn(secretsToSend(source, auth));
  if (tokens.length === 0) return send();
  const ensureValid = () => Promise.all(tokens.map((token) => token.ensureValid(signal)));
  await ensureValid();
  const sentTokens = tokens.map((token) => token.reveal());
  try {
    return await send();
  } catch (error) {
    if (failureStatus(error) !== 401) throw error;
    for (const [i, token] of tokens.entries()) token.discard(sentTokens[i] ?? null);
    await ensureValid();
    return send();
  }
}

/** Returns a function that removes the keys of a source and its present tokens from JSON. */
export function redactorFor(source: SourceCredentials): (text: string) => string {
  const allCredentials = [source, ...Object.values(source.credentials ?? {})].flatMap(secretsInCredentials);
  let secrets = allSecretsOf(source);
  let redact = redactorOf(secrets);
  if (tokensIn(allCredentials).length === 0) return redact;
  return (text) => {
    const presentSecrets = allSecretsOf(source);
    if (presentSecrets.join() !== secrets.join())
      [secrets, redact] = [presentSecrets, redactorOf(presentSecrets)];
    return redact(text);
  };
}
