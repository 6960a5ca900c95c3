import { isolatesRequests } from '../server/limits.ts';
import { isObject } from '../server/schema.ts';
import { reportAddress } from './address.ts';
import {
  type Alternatives,
  allSecretsOf,
  type SourceCredentials,
  secretsInCredentials,
  usedBy,
} from './credentials.ts';
import { SourceError, tooSlow, unavailable } from './errors.ts';
import { redactorOf } from './redact.ts';
import { explained, failureStatus } from './running.ts';
import { basic, Secret } from './secret.ts';
import { answerTo } from './send.ts';

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
/** Of a token that does not say how long it is valid. */
const unsaidSeconds = 300;
/** A token is not used in the last part of its time, which requests take. */
const marginSeconds = 60;

/** The value of an `authorization` header: a token that is fetched at the first request and before it ends. */
export function clientCredentials(options: ClientCredentials): Secret {
  return new Token(options);
}

class Token extends Secret {
  readonly #options: ClientCredentials;
  #held: { readonly text: string; readonly until: number } | undefined;
  /** Answers that are under way may repeat it. */
  #before: string | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ClientCredentials) {
    const ownHeader = basic(options.id, options.secret);
    super(ownHeader.name, ownHeader.reveal(), ownHeader.isOptional, [...ownHeader.texts()]);
    this.#options = options;
    reportAddress(options.tokenUrl, 'token URL');
  }

  override reveal(): string | null {
    if (super.reveal() === null) return null;
    return `Bearer ${this.#held?.text ?? ''}`;
  }

  override texts(): readonly string[] {
    return [...super.texts(), ...[this.#held?.text, this.#before].filter((text) => text !== undefined)];
  }

  /** Fetches a token if there is none that is still valid. @throws SourceError */
  async ready(signal: AbortSignal): Promise<void> {
    if (super.reveal() === null || (this.#held && Date.now() < this.#held.until)) return;
    const running = this.#running ?? this.#fetch();
    if (!isolatesRequests()) this.#running = running;
    await unlessGone(running, signal);
  }

  /** The API has refused this value: the next request fetches another token. */
  refuse(sentToken: string | null): void {
    if (sentToken !== this.reveal()) return;
    this.#before = this.#held?.text;
    this.#held = undefined;
  }

  async #fetch(): Promise<void> {
    try {
      const { tokenUrl, id, secret, scope, parameters, send = 'basic' } = this.#options;
      const plainText = (part: Secret | string) => (typeof part === 'string' ? part : (part.reveal() ?? ''));
      const [name, word] = [plainText(id), plainText(secret)];
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        ...(scope !== undefined && { scope }),
        ...parameters,
        ...(send === 'body' && { client_id: name, client_secret: word }),
      });
      const pair = send === 'basic' ? `${formEncoded(name)}:${formEncoded(word)}` : `${name}:${word}`;
      const headers = new Headers({
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(send !== 'body' && { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }),
      });
      const signal = AbortSignal.timeout(timeoutMs);
      const request = new Request(tokenUrl, { method: 'POST', headers, body, redirect: 'manual', signal });
      const response = await answerTo(request, maxBytes, undefined).catch((error: Error) => {
        if (error instanceof SourceError) throw error;
        throw signal.aborted ? tooSlow(true) : unavailable(true);
      });
      const text = await response.text();
      const { access_token: token, expires_in: seconds, error } = membersIn(text);
      if (!response.ok) throw tokenRefusal(response.status, error, this.name);
      if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw malformed();
      const life = Number(seconds) > 0 ? Number(seconds) : unsaidSeconds;
      this.#before = this.#held?.text ?? this.#before;
      this.#held = { text: token, until: Date.now() + 1_000 * (life - Math.min(marginSeconds, life / 10)) };
    } catch (error) {
      throw this.#explained(error as SourceError);
    } finally {
      this.#running = undefined;
    }
  }

  #explained(error: SourceError): SourceError {
    const { host, pathname } = new URL(this.#options.tokenUrl);
    const detail = `token endpoint: ${error.message}`;
    const hint = `Correct the token URL, ${this.name}, or how they are sent, in src/apis/.`;
    return explained(error, {
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

function membersIn(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
    return {};
  } catch {
    return {};
  }
}

function tokenRefusal(status: number, error: unknown, name: string): SourceError {
  if (status >= 500) return unavailable(true);
  const code = typeof error === 'string' && /^[\w-]{1,40}$/.test(error) ? ` (${error})` : '';
  const message = 'The source refused this server. The operator of the server must fix this.';
  return explained(new SourceError('SOURCE_REFUSED', message), { status, detail: `${name}${code}` });
}

function malformed(): SourceError {
  return new SourceError('SOURCE_MISCONFIGURED', 'The source of tokens answered without a token.');
}

/** The result of work that others also wait for; a caller that leaves does not end it. */
function unlessGone(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new SourceError('CANCELLED', 'The caller disconnected.'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function tokensIn(secrets: readonly Secret[]): readonly Token[] {
  return secrets.filter((secret) => secret instanceof Token);
}

/**
 * Sends a request with valid tokens, and once more with others if the API answers with 401.
 *
 * @param auth the keys that the request names
 * @throws SourceError of the token endpoint, or of the request
 */
export async function withTokens<T>(
  source: SourceCredentials,
  auth: Alternatives | undefined,
  signal: AbortSignal,
  send: () => Promise<T>,
): Promise<T> {
  const tokens = tokensIn(usedBy(source, auth));
  if (tokens.length === 0) return send();
  const ready = () => Promise.all(tokens.map((token) => token.ready(signal)));
  await ready();
  const sentTokens = tokens.map((token) => token.reveal());
  try {
    return await send();
  } catch (error) {
    if (failureStatus(error) !== 401) throw error;
    for (const [i, token] of tokens.entries()) token.refuse(sentTokens[i] ?? null);
    await ready();
    return send();
  }
}

/** Removes the keys of a source from JSON, also its present tokens. */
export function redactorFor(source: SourceCredentials): (text: string) => string {
  const allCredentials = [source, ...Object.values(source.credentials ?? {})].flatMap(secretsInCredentials);
  let secrets = allSecretsOf(source);
  let redact = redactorOf(secrets);
  if (tokensIn(allCredentials).length === 0) return redact;
  return (text) => {
    const present = allSecretsOf(source);
    if (present.join() !== secrets.join()) [secrets, redact] = [present, redactorOf(present)];
    return redact(text);
  };
}
