import type { TokenVariant } from '../wire/signer.ts';
import { answerProblems } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import {
  bearerValue,
  callWith,
  claims,
  refusalOfForgery,
  secondsFromNow,
  tokenDecides,
} from './gate-attempts.ts';
import { type LiveRule, must } from './rule.ts';

const otherAudiences = ['https://other.example/mcp', 'https://third.example/mcp'];
const unknownExtension = 'x-unknown-4kx';

/** For a token that the platform does not issue, but that servers which keep the contract may accept. */
const advice = (source: string, fix: string) => ({ level: 'should', source, fix }) as const;

/** A token that the platform's own middleware accepts. */
const doubtful = advice(
  'C§5.1; RFC 7519 §4.1; the tokens of the platform are valid for two minutes',
  'Refuse a token whose iat is in the future, or whose exp is far from its iat.',
);

/** A token that the platform has signed passes authentication only with the right claims, and while it is valid. */
export const gateClaimRules: readonly LiveRule[] = [
  refusalOfForgery('gate.expired', 'an expired token', () => [claims({ exp: secondsFromNow(-120) })]),
  {
    ...refusalOfForgery(
      'gate.expired-lately',
      'a token that expired longer ago than clocks differ',
      ({ profile: { token } }) => [claims({ exp: secondsFromNow(-token.clockToleranceSeconds - 5) })],
    ),
    ...advice('C§5.1; profile token.clockToleranceSeconds', 'Set the clock tolerance to a few seconds.'),
  },
  refusalOfForgery('gate.no-expiry', 'a token that never expires', claims({ exp: undefined })),
  {
    ...refusalOfForgery('gate.long-lived', 'a token that is valid for ten years', () => [
      claims({ exp: secondsFromNow(10 * 365 * 86_400) }),
    ]),
    ...doubtful,
  },
  refusalOfForgery('gate.not-yet-valid', 'a token that is not valid yet', () => [
    claims({ nbf: secondsFromNow(600) }),
  ]),
  {
    ...refusalOfForgery('gate.issued-later', 'a token that was issued an hour from now', () => [
      claims({ iat: secondsFromNow(3_600), exp: secondsFromNow(3_720) }),
    ]),
    ...doubtful,
  },
  mergeLive({ title: 'tools/call with a token that does not name the platform as its issuer is refused' }, [
    refusalOfForgery(
      'gate.wrong-issuer',
      'a token of another issuer',
      claims({ iss: 'https://attacker.example' }),
    ),
    refusalOfForgery('gate.no-issuer', 'a token without an issuer', claims({ iss: undefined })),
    refusalOfForgery(
      'gate.similar-issuer',
      'a token of an issuer that only resembles the right one',
      ({ target: { signer } }) => similarTo(signer?.issuer).map((iss) => claims({ iss })),
    ),
  ]),
  mergeLive({ title: 'tools/call with a token that does not name this server as its audience is refused' }, [
    refusalOfForgery(
      'gate.wrong-audience',
      'a token for another server',
      claims({ aud: 'https://other.example/mcp' }),
    ),
    refusalOfForgery('gate.no-audience', 'a token without an audience', claims({ aud: undefined })),
    refusalOfForgery(
      'gate.similar-audience',
      'a token for a URL that only resembles the right one',
      ({ target: { signer } }) => similarTo(signer?.audience).map((aud) => claims({ aud })),
    ),
    refusalOfForgery(
      'gate.other-audiences',
      'a token for several other servers',
      claims({ aud: otherAudiences }),
    ),
  ]),
  {
    ...refusalOfForgery(
      'gate.several-audiences',
      'a token for this server and others',
      ({ target: { signer } }) => [claims({ aud: [signer?.audience ?? '', ...otherAudiences] })],
    ),
    ...advice(
      'RFC 7519 §4.1.3, which allows both; the tokens of the platform name one audience',
      'Refuse a token whose aud is a list of several: each of these servers could use it here.',
    ),
  },
  {
    ...refusalOfForgery('gate.claim-types', 'a token whose exp or nbf is not a number', () => [
      claims({ exp: String(secondsFromNow(120)) }),
      claims({ nbf: 'later' }),
    ]),
    source: 'C§5.1; RFC 7519 §2, NumericDate',
  },
  {
    ...refusalOfForgery('gate.unknown-critical', 'a token with a critical extension that no server knows', {
      header: { crit: [unknownExtension], [unknownExtension]: true },
    }),
    source: 'C§5.1; RFC 7515 §4.1.11',
    fix: 'Verify tokens with a library that refuses what crit names and it does not know.',
  },
  {
    ...refusalOfForgery('gate.other-type', 'a token of another type than JWT', () =>
      ['at+jwt', 'logout+jwt'].map((typ) => ({ header: { typ } })),
    ),
    ...advice(
      'RFC 8725 §3.11; the tokens of the platform are of the type JWT',
      'Refuse a token whose header has a typ other than JWT.',
    ),
  },
  survives('gate.unknown-key-id', 'a token whose kid is unknown', {
    header: { kid: 'no-such-key-4kx' },
  }),
  survives('gate.large-token', 'a token of 20 kB', { header: { padding: 'x'.repeat(15_000) } }),
];

/** A rule that sends a tools/call with an unusual token of the platform: it may be refused or accepted. */
function survives(id: string, title: string, forgery: TokenVariant): LiveRule {
  return {
    ...must(id, 'C§5.1, C§7'),
    title: `tools/call with ${title} is refused or accepted, without an error of the server`,
    fix: 'Treat every error of the verification as a refusal.',
    controls: tokenDecides,
    check: async (probe) => {
      const { value, label } = bearerValue(probe, await probe.token(forgery), title);
      const answer = await callWith(probe, value);
      const path = `tools/call, ${probe.profile.token.header}: ${label}`;
      return answerProblems(answer.status < 500, path, 'HTTP 4xx, or the answer to the call', answer);
    },
  };
}

/** Texts that begin or end like another, in either direction, and the same in another case. */
function similarTo(text = ''): readonly string[] {
  return [
    text.toUpperCase(),
    `${text}/`,
    `${text}/other`,
    `${text}.attacker.example`,
    text.replace(/.[^/]*$/, ''),
    `x${text}`,
  ];
}
