import { randomUUID } from 'node:crypto';
import { shorten } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { admitsPaid, type Control, refusesUnpaid } from '../wire/controls.ts';
import type { HttpAnswer } from '../wire/http.ts';
import type { CallParams, Probe } from '../wire/probe.ts';
import type { TokenVariant } from '../wire/signer.ts';
import { ranProblems } from './answer-problems.ts';
import { type LiveRule, must, problemsInParallel } from './rule.ts';

/** A call without a token is refused and one with a valid token is accepted. */
export const tokenDecides = [refusesUnpaid, admitsPaid];

/** A value for the header of the token, and its name in a report, which must not contain a valid token. */
export interface HeaderValue {
  readonly value: string | undefined;
  readonly label: string;
}

/** A value that contains no secret. */
export function openValue(value: string): HeaderValue {
  return { value, label: shorten(value) };
}

export function bearerValue(probe: Probe, token: string, label: string): HeaderValue {
  return { value: `${probe.profile.token.scheme} ${token}`, label };
}

/** A rule that sends the same tools/call with each value of the token's header; each must be refused. */
export function refusalOfValues(
  id: string,
  title: string,
  attempts: (probe: Probe) => Promise<readonly HeaderValue[]>,
  controls: readonly Control[] = [refusesUnpaid],
): LiveRule {
  return {
    ...must(id, 'C§5.1, C§5.4, C§7'),
    title: `${title} is refused`,
    fix: 'Verify signature, algorithm, issuer, audience and expiry of the token before anything else.',
    controls,
    check: async (probe) => refusalsOf(probe, await attempts(probe)),
  };
}

/** A rule that sends the same tools/call with each of these forged tokens; each must be refused. */
export function refusalOfForgery(
  id: string,
  title: string,
  forgeries: TokenVariant | ((probe: Probe) => readonly TokenVariant[]),
): LiveRule {
  const attempts = async (probe: Probe) => {
    const allForgeries = typeof forgeries === 'function' ? forgeries(probe) : [forgeries];
    const label = (forgery: TokenVariant) => (allForgeries.length === 1 ? title : shorten(forgery));
    return Promise.all(
      allForgeries.map(async (forgery) => bearerValue(probe, await probe.token(forgery), label(forgery))),
    );
  };
  return refusalOfValues(id, `tools/call with ${title}`, attempts, tokenDecides);
}

/** Sends a tools/call with this value of the token's header; by default the call that every rule about tokens sends. */
export async function callWith(
  probe: Probe,
  value: string | undefined,
  call?: CallParams,
): Promise<HttpAnswer> {
  const params = call ?? (await probe.authenticationCall());
  const headers = { [probe.profile.token.header]: value };
  return (await probe.rpcOnce('tools/call', params, { session: await probe.session(), headers })).http;
}

export async function refusalsOf(
  probe: Probe,
  attempts: readonly HeaderValue[],
): Promise<readonly Problem[]> {
  const { header } = probe.profile.token;
  return problemsInParallel(attempts, async ({ value, label }) =>
    ranProblems({ answer: await callWith(probe, value), path: `tools/call, ${header}: ${label}` }),
  );
}

/** A valid token that no other rule has sent. */
export function freshToken(probe: Probe): Promise<string> {
  return probe.token({ claims: { jti: randomUUID() } });
}

/** A valid token that was never sent. @throws NotRun if only one token was given. */
export function reissuedToken(probe: Probe): Promise<string> {
  return probe.token({ claims: { jti: randomUUID(), iat: secondsFromNow(0) } });
}

export function claims(changed: Readonly<Record<string, Json | undefined>>): TokenVariant {
  return { claims: changed };
}

/** A NumericDate of RFC 7519. */
export function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
