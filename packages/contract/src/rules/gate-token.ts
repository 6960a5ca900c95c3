import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Problem } from '../model.ts';
import { accessOf, isDenied } from '../wire/access.ts';
import { admitsPaid, canInitialize, refusesUnpaid } from '../wire/controls.ts';
import { invented } from '../wire/curl-line.ts';
import type { HttpAnswer } from '../wire/http.ts';
import { limitHidesPayment, NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { describe } from '../wire/rpc.ts';
import { answerProblems, unauthorizedProblems } from './answer-problems.ts';
import {
  bearerValue,
  callWith,
  claims,
  freshToken,
  openValue,
  refusalOfForgery,
  refusalOfValues,
  refusalsOf,
  secondsFromNow,
  tokenDecides,
} from './gate-attempts.ts';
import { type LiveRule, must, problemUnless, should } from './rule.ts';

const trustFix =
  'Use the issuer and the key of the platform; the audience must be the registered URL, byte for byte.';

/** Only a caller with a token that the platform has signed passes authentication. */
export const gateTokenRules: readonly LiveRule[] = [
  {
    ...must('gate.valid-token', 'C§1.3, C§5.1'),
    title: 'tools/call with a valid platform token is accepted',
    fix: 'Answer a call with a valid token by HTTP 200 with a JSON-RPC response.',
    check: async (probe) => {
      const { http, response } = await probe.paidCall();
      const isAccepted = http.status === 200 && response !== undefined && !(await probe.deniesPaid());
      return problemUnless(isAccepted, {
        path: `tools/call with a token of ${probe.target.signer?.issuer} for ${probe.target.signer?.audience}`,
        expected: 'HTTP 200 with a JSON-RPC response',
        actual: describe(http),
        ...(http.status === 401 && { fix: trustFix }),
      });
    },
  },
  {
    ...should('gate.scheme-case', 'RFC 9110 §11.1'),
    title: 'the scheme before the token is compared case-insensitively',
    fix: 'Accept "bearer" as well as "Bearer".',
    controls: [refusesUnpaid, admitsPaid],
    check: async (probe) => {
      const { header, scheme } = probe.profile.token;
      const { name, arguments: args } = await probe.authenticationCall();
      const token = await probe.token();
      const headers = { [header]: `${scheme.toLowerCase()} ${token}` };
      const { http } = await probe.call(name, args, { token, headers });
      return answerProblems(http.status === 200, `${header}: ${scheme.toLowerCase()} …`, 'HTTP 200', http);
    },
  },
  {
    ...refusalOfValues('gate.no-token', 'tools/call without a token', async () => []),
    controls: [canInitialize],
    check: async (probe) => {
      const { header } = probe.profile.token;
      const { http } = await probe.unpaidCall();
      if (accessOf(http) === 'limited') throw NotRun.because('unanswered', limitHidesPayment);
      return unauthorizedProblems(http, probe.profile, `tools/call, ${header}: absent`);
    },
  },
  refusalOfValues(
    'gate.garbage',
    'tools/call with a value that is not a token',
    async ({ profile: { token } }) => [
      ...[invented.token, 'a.b.c', '..', 'e30.e30.'].map((text) => openValue(`${token.scheme} ${text}`)),
      { value: `${token.scheme} ${'x'.repeat(4096)}`, label: `${token.scheme} and 4 kB of x` },
    ],
  ),
  refusalOfValues('gate.empty-token', 'tools/call with an empty token', async ({ profile: { token } }) =>
    [token.scheme, `${token.scheme} `, ''].map(openValue),
  ),
  refusalOfValues(
    'gate.other-scheme',
    'tools/call with the token and another scheme',
    async (probe) => {
      const token = await freshToken(probe);
      const ownScheme = probe.profile.token.scheme.toLowerCase();
      const otherSchemes = ['Basic', 'Token', 'Bearer'].filter(
        (scheme) => scheme.toLowerCase() !== ownScheme,
      );
      return [
        ...otherSchemes.map((scheme) => ({
          value: `${scheme} ${token}`,
          label: `${scheme} and a valid token`,
        })),
        { value: token, label: 'a valid token without a scheme' },
      ];
    },
    tokenDecides,
  ),
  refusalOfForgery('gate.wrong-key', 'a token signed with another key', { by: 'untrusted' }),
  refusalOfForgery('gate.embedded-key', 'a token that contains its own key', { by: 'embedded' }),
  refusalOfForgery('gate.alg-none', 'an unsigned token (alg none)', { by: 'nobody' }),
  refusalOfForgery('gate.public-key-as-secret', 'a token signed with the public key as an HMAC secret', {
    by: 'public-key',
  }),
  refusalOfForgery(
    'gate.other-algorithm',
    'a token with an algorithm that the platform does not use',
    ({ profile: { token } }) =>
      ['RS384', 'RS512', 'PS256']
        .filter((algorithm) => !token.algorithms.includes(algorithm))
        .map((algorithm) => ({ by: 'other-algorithm', algorithm })),
  ),
  refusalOfValues(
    'gate.tampered',
    'tools/call with a token whose claims were changed',
    async (probe) => [
      bearerValue(
        probe,
        withOtherClaims(await freshToken(probe)),
        'a token whose claims do not match its signature',
      ),
    ],
    tokenDecides,
  ),
  {
    ...refusalOfValues(
      'gate.tampered-after-success',
      'a changed token whose original was accepted before',
      async () => [],
      tokenDecides,
    ),
    check: async (probe) => {
      const token = await freshToken(probe);
      const { name, arguments: args } = await probe.authenticationCall();
      await probe.call(name, args, { token });
      return refusalsOf(probe, [
        bearerValue(probe, withOtherClaims(token), 'claims that do not match the signature'),
        bearerValue(probe, `${token}x`, 'the token and one character more'),
        bearerValue(probe, token.slice(0, token.lastIndexOf('.') + 1), 'the token without its signature'),
      ]);
    },
  },
  {
    ...refusalOfValues(
      'gate.expired-after-success',
      'an expired token that was accepted before',
      async () => [],
    ),
    turn: 'waiting',
    measures: true,
    controls: tokenDecides,
    begin: useExpiringToken,
    check: usedTokenProblems,
  },
];

/** The same header and signature around other claims. */
function withOtherClaims(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url');
  return [header, changed, signature].join('.');
}

/** The check looks for the leeway of a server between these seconds after the expiry of a token. Its clock may be late: the first is negative. */
const minLeewaySeconds = -10;
const maxLeewaySeconds = 65;
/** Pause between two questions whether a token has expired. */
const retryMs = 250;
/** Seconds before the end of its leeway at which a token is used, in this order: a busy machine needs more. */
const remainingSeconds = [1, 2, 4];
const unmeasured = NotRun.because(
  'inapplicable',
  'the server has no leeway for expired tokens that can be measured',
);

/** A token that the server accepted shortly before the end of its leeway. */
interface ExpiringToken {
  readonly usedToken: string;
  /** Signs a further token with the same `exp`. */
  signUnusedToken(): Promise<string>;
}

/** Measures the leeway of the server, then uses a token just before the leeway ends. Made once for a probe. */
function useExpiringToken(probe: Probe): Promise<ExpiringToken> {
  return probe.once('used token', async () => {
    const leeway = await measureLeeway(probe);
    for (const seconds of remainingSeconds) {
      const signUnusedToken = tokensExpiredFor(probe, leeway - seconds);
      const usedToken = await signUnusedToken();
      if (await acceptsToken(probe, usedToken)) return { usedToken, signUnusedToken };
    }
    throw unmeasured;
  });
}

/** Returns the seconds after its expiry from which a token is refused. @throws NotRun if there is no such limit */
async function measureLeeway(probe: Probe): Promise<number> {
  let [acceptedAge, refusedAge] = [minLeewaySeconds, maxLeewaySeconds];
  while (refusedAge - acceptedAge > 1) {
    const age = Math.floor((acceptedAge + refusedAge) / 2);
    const token = await tokensExpiredFor(probe, age)();
    if (await acceptsToken(probe, token)) acceptedAge = age;
    else refusedAge = age;
  }
  if (acceptedAge === minLeewaySeconds || refusedAge === maxLeewaySeconds) throw unmeasured;
  return refusedAge;
}

/** Returns a function that signs tokens which have been expired for these seconds now. All have the same `exp`. */
function tokensExpiredFor(probe: Probe, seconds: number): () => Promise<string> {
  const exp = secondsFromNow(-seconds);
  const iat = exp - probe.profile.token.lifetimeSeconds;
  return () => probe.token(claims({ iat, exp, jti: randomUUID() }));
}

function sendToken(probe: Probe, token: string): Promise<HttpAnswer> {
  return callWith(probe, `${probe.profile.token.scheme} ${token}`);
}

async function acceptsToken(probe: Probe, token: string): Promise<boolean> {
  return !isDenied(await sendToken(probe, token));
}

/**
 * Waits until the server refuses an unused token, then sends the used token with the same `exp` again. A server that accepts it
 * remembers used tokens.
 */
async function usedTokenProblems(probe: Probe): Promise<readonly Problem[]> {
  const { usedToken, signUnusedToken } = await useExpiringToken(probe);
  for (let turn = 1; turn <= 40; turn++) {
    if (!(await acceptsToken(probe, await signUnusedToken()))) {
      const answer = await sendToken(probe, usedToken);
      const path = 'tools/call with a token that was used before it expired';
      const expected = 'refused, like one with the same exp that was not used';
      return answerProblems(isDenied(answer), path, expected, answer);
    }
    await setTimeout(Math.min(retryMs, 1_005 - (Date.now() % 1_000))); // servers compare `exp` with whole seconds
  }
  throw unmeasured;
}
