import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Json, Problem } from '../model.ts';
import type { Probe } from '../probe/probe.ts';
import type { Forgery } from '../probe/signer.ts';
import { NotRun } from '../report/not-run.ts';
import { unauthorizedProblems } from './expect.ts';
import { callWith, forged, refuses, refusesOnlyOthers } from './gate-token.ts';
import { type LiveRule, unless } from './rule.ts';

/** A token that the platform does not issue, but that its own middleware accepts. */
const doubtful = {
  level: 'should',
  source: 'C§5.1; RFC 7519 §4.1; the tokens of the platform are valid for two minutes',
  fix: 'Refuse a token whose iat is in the future, or whose exp is far from its iat.',
} as const;

/** Only a token with the right claims passes authentication, and only while it is valid. */
export const gateClaimRules: readonly LiveRule[] = [
  forged('gate.expired', 'an expired token', () => [claims({ exp: secondsFromNow(-120) })]),
  {
    ...refuses('gate.expired-after-success', 'an expired token that was accepted before', async () => []),
    controls: refusesOnlyOthers,
    check: usedTokenProblems,
  },
  forged('gate.no-expiry', 'a token that never expires', claims({ exp: undefined })),
  {
    ...forged('gate.long-lived', 'a token that is valid for ten years', () => [
      claims({ exp: secondsFromNow(10 * 365 * 86_400) }),
    ]),
    ...doubtful,
  },
  forged('gate.not-yet-valid', 'a token that is not valid yet', () => [claims({ nbf: secondsFromNow(600) })]),
  {
    ...forged('gate.issued-later', 'a token that was issued an hour from now', () => [
      claims({ iat: secondsFromNow(3_600), exp: secondsFromNow(3_720) }),
    ]),
    ...doubtful,
  },
  forged('gate.wrong-issuer', 'a token of another issuer', claims({ iss: 'https://attacker.example' })),
  forged('gate.no-issuer', 'a token without an issuer', claims({ iss: undefined })),
  forged(
    'gate.similar-issuer',
    'a token of an issuer that only starts or ends like the right one',
    ({ target: { signer } }) => similarTo(signer?.issuer).map((iss) => claims({ iss })),
  ),
  forged('gate.wrong-audience', 'a token for another server', claims({ aud: 'https://other.example/mcp' })),
  forged('gate.no-audience', 'a token without an audience', claims({ aud: undefined })),
  forged(
    'gate.similar-audience',
    'a token for a URL that only starts or ends like the right one',
    ({ target: { signer } }) => similarTo(signer?.audience).map((aud) => claims({ aud })),
  ),
];

/** Texts that begin or end like another, in either direction. */
function similarTo(text = ''): readonly string[] {
  return [`${text}/`, `${text}/other`, `${text}.attacker.example`, text.replace(/.[^/]*$/, ''), `x${text}`];
}

function claims(changed: Readonly<Record<string, Json | undefined>>): Forgery {
  return { claims: changed };
}

/** A NumericDate of RFC 7519. */
function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** The seconds after the expiry of a token within which the leeway of a server is looked for: a few before, for its clock. */
const youngest = -10;
const oldest = 65;
const retryMs = 250;

/**
 * Uses a token just before it is refused, and asks again afterwards. The leeway of the server is measured first. Each time, a token
 * with the same exp that was not used is asked first: if that is refused and the used one is not, the server remembers it.
 */
async function usedTokenProblems(probe: Probe): Promise<readonly Problem[]> {
  const { lifetimeSeconds, scheme } = probe.profile.token;
  const admits = async (token: string) =>
    unauthorizedProblems(await callWith(probe, `${scheme} ${token}`), probe.profile).length > 0;
  const aged = (age: number) => {
    const exp = secondsFromNow(-age);
    return () => probe.token(claims({ iat: exp - lifetimeSeconds, exp, jti: randomUUID() }));
  };
  let [accepted, refusedFrom] = [youngest, oldest];
  while (refusedFrom - accepted > 1) {
    const age = Math.floor((accepted + refusedFrom) / 2);
    if (await admits(await aged(age)())) accepted = age;
    else refusedFrom = age;
  }
  if (accepted > youngest && refusedFrom < oldest) {
    for (const left of [1, 2, 4]) {
      const unused = aged(refusedFrom - left);
      const used = await unused();
      if (!(await admits(used))) continue; // on a busy machine, its time is already over
      for (let turn = 1; turn <= 40; turn++) {
        if (!(await admits(await unused()))) {
          return unless(!(await admits(used)), {
            path: 'tools/call with a token that was used before it expired',
            expected: 'refused, like one with the same exp that was not used',
            actual: 'accepted',
          });
        }
        await setTimeout(retryMs);
      }
    }
  }
  throw NotRun.because('inapplicable', 'the server has no leeway for expired tokens that can be measured');
}
