import { isLoopback } from './server/origins.ts';
import type { TokenRules } from './server/verify-token.ts';

// The values of variables: each function reads a text, null if the variable is not set, and throws an Error that says what is expected.

export function wholeNumber(minimum: number, maximum: number): (text: string | null) => number {
  return (text) => {
    const value = Number(text);
    if (text !== null && /^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new Error(`expected a whole number from ${minimum} to ${maximum}, got ${JSON.stringify(text)}.`);
  };
}

export function drainOf(text: string | null, graceMs: number | undefined): number {
  const drainMs = wholeNumber(0, 600_000)(text);
  if (drainMs === 0 || graceMs === undefined || drainMs < graceMs) return drainMs;
  throw new Error(`expected less than SHUTDOWN_GRACE_MS, which is ${graceMs}, got "${text}".`);
}

export function metricsPortOf(text: string | null, port: number | undefined): number | null {
  if (text === null) return null;
  const metricsPort = wholeNumber(0, 65_535)(text);
  if (metricsPort === 0 || metricsPort !== port) return metricsPort;
  throw new Error(`expected another port than PORT, got "${text}": metrics are not public.`);
}

export function isOff(text: string | null, stage: string): boolean {
  if (text === null) return false;
  if (text !== 'off') throw new Error(`the only value is "off", got ${JSON.stringify(text)}.`);
  if (stage !== 'development' && stage !== 'test') {
    throw new Error(
      `"off" is refused because NODE_ENV is ${JSON.stringify(stage)}; unset NODE_ENV, or set it to development or test.`,
    );
  }
  return true;
}

/** @param stateUrl undefined if it is invalid */
export function onceOf(text: string | null, stateUrl: string | null | undefined): TokenRules['once'] {
  if (text === 'strict' && stateUrl === null) {
    throw new Error('"strict" needs STATE_URL: used tokens are known to a store that outlives this process.');
  }
  if (text === 'on' || text === 'off' || text === 'strict') return text;
  throw new Error(`expected "on", "strict" or "off", got ${JSON.stringify(text)}.`);
}

export function issuerOf(text: string | null): string {
  if (text !== null) return text;
  throw new Error('must be set: the issuer of the tokens, which the platform profile does not contain.');
}

export function parseKeySetUrl(text: string | null): URL {
  if (text === null) {
    throw new Error(
      'must be set, or PLATFORM_PUBLIC_KEY: without a key, the server cannot verify that a call is paid.',
    );
  }
  const url = parseUrl(text);
  const local = url?.protocol === 'http:' && isLoopback(url.hostname);
  if (url !== null && (url.protocol === 'https:' || local)) return url;
  throw new Error(`expected an https URL, got ${JSON.stringify(text)}.`);
}

export function secretOf(text: string | null): string | null {
  if (text === null || text.length >= 32) return text;
  throw new Error(`expected 32 characters or more, got ${text.length}.`);
}

export function originsOf(text: string | null): ReadonlySet<string> {
  return new Set(
    parseList(text, (origin) => parseUrl(origin)?.origin === origin, 'origins such as https://app.example'),
  );
}

export function hostsOf(text: string | null, audience: string | null): ReadonlySet<string> {
  const isHost = (host: string) => parseUrl(`http://${host}`)?.host === host;
  const hosts = parseList(text?.toLowerCase(), isHost, 'host names such as tools.local');
  return new Set([...hosts, parseUrl(audience ?? '')?.hostname ?? []].flat());
}

function parseList(
  text: string | null | undefined,
  isEntry: (entry: string) => boolean,
  expected: string,
): string[] {
  const entries = (text ?? '').split(',').map((entry) => entry.trim());
  const wrongEntry = entries.find((entry) => entry !== '' && entry !== '*' && !isEntry(entry));
  if (wrongEntry === undefined) return entries.filter(Boolean);
  throw new Error(`expected ${expected}, separated by commas, got ${JSON.stringify(wrongEntry)}.`);
}

function parseUrl(text: string): URL | null {
  if (URL.canParse(text)) return new URL(text);
  return null;
}

export function parseHeaderName(text: string | null): string | null {
  if (text === null || /^[\w-]+$/.test(text)) return text?.toLowerCase() ?? null;
  throw new Error(`expected the name of a header, such as x-forwarded-for, got ${JSON.stringify(text)}.`);
}
