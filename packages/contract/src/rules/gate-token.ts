import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Problem } from '../model.ts';
import { accessOf, isDenied } from '../wire/access.ts';
import { admitsPaid, initializes, refusesUnpaid } from '../wire/controls.ts';
import { invented } from '../wire/curl-line.ts';
import { limited, NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { describe } from '../wire/rpc.ts';
import { answerProblems, unauthorizedProblems } from './expect.ts';
import {
  bearing,
  callWith,
  claims,
  forged,
  freshToken,
  openValue,
  refusalsOf,
  refuses,
  refusesOnlyOthers,
  secondsFromNow,
} from './gate-attempts.ts';
import { type LiveRule, must, should, unless } from './rule.ts';

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
      return unless(isAccepted, {
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
    ...refuses('gate.no-token', 'tools/call without a token', async () => []),
    controls: [initializes],
    check: async (probe) => {
      const { header } = probe.profile.token;
      const { http } = await probe.unpaidCall();
      if (accessOf(http) === 'limited') throw NotRun.because('unanswered', limited);
      return unauthorizedProblems(http, probe.profile, `tools/call, ${header}: absent`);
    },
  },
  refuses('gate.garbage', 'tools/call with a value that is not a token', async ({ profile: { token } }) => [
    ...[invented.token, 'a.b.c', '..', 'e30.e30.'].map((text) => openValue(`${token.scheme} ${text}`)),
    { value: `${token.scheme} ${'x'.repeat(4096)}`, as: `${token.scheme} and 4 kB of x` },
  ]),
  refuses('gate.empty-token', 'tools/call with an empty token', async ({ profile: { token } }) =>
    [token.scheme, `${token.scheme} `, ''].map(openValue),
  ),
  refuses(
    'gate.other-scheme',
    'tools/call with the token and another scheme',
    async (probe) => {
      const token = await freshToken(probe);
      const ownScheme = probe.profile.token.scheme.toLowerCase();
      const otherSchemes = ['Basic', 'Token', 'Bearer'].filter(
        (scheme) => scheme.toLowerCase() !== ownScheme,
      );
      return [
        ...otherSchemes.map((scheme) => ({ value: `${scheme} ${token}`, as: `${scheme} and a valid token` })),
        { value: token, as: 'a valid token without a scheme' },
      ];
    },
    refusesOnlyOthers,
  ),
  forged('gate.wrong-key', 'a token signed with another key', { by: 'untrusted' }),
  forged('gate.embedded-key', 'a token that contains its own key', { by: 'embedded' }),
  forged('gate.alg-none', 'an unsigned token (alg none)', { by: 'nobody' }),
  forged('gate.public-key-as-secret', 'a token signed with the public key as an HMAC secret', {
    by: 'public-key',
  }),
  forged(
    'gate.other-algorithm',
    'a token with an algorithm that the platform does not use',
    ({ profile: { token } }) =>
      ['RS384', 'RS512', 'PS256']
        .filter((algorithm) => !token.algorithms.includes(algorithm))
        .map((algorithm) => ({ by: 'other-algorithm', algorithm })),
  ),
  refuses(
    'gate.tampered',
    'tools/call with a token whose claims were changed',
    async (probe) => [
      bearing(
        probe,
        withOtherClaims(await freshToken(probe)),
        'a token whose claims do not match its signature',
      ),
    ],
    refusesOnlyOthers,
  ),
  {
    ...refuses(
      'gate.tampered-after-success',
      'a changed token whose original was accepted before',
      async () => [],
      refusesOnlyOthers,
    ),
    check: async (probe) => {
      const token = await freshToken(probe);
      const { name, arguments: args } = await probe.authenticationCall();
      await probe.call(name, args, { token });
      return refusalsOf(probe, [
        bearing(probe, withOtherClaims(token), 'claims that do not match the signature'),
        bearing(probe, `${token}x`, 'the token and one character more'),
        bearing(probe, token.slice(0, token.lastIndexOf('.') + 1), 'the token without its signature'),
      ]);
    },
  },
  {
    ...refuses('gate.expired-after-success', 'an expired token that was accepted before', async () => []),
    turn: 'waiting',
    measures: true,
    controls: refusesOnlyOthers,
    begin: usedToken,
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

/** The seconds after the expiry of a token within which the leeway of a server is looked for: a few before, for its clock. */
const youngest = -10;
const oldest = 65;
const retryMs = 250;
const unmeasured = NotRun.because(
  'inapplicable',
  'the server has no leeway for expired tokens that can be measured',
);

/** A token that was accepted shortly before its end, and makes others with the same exp. */
interface UsedToken {
  readonly used: string;
  /** Whether a token is accepted. */
  admits(token: string): Promise<boolean>;
  unused(): Promise<string>;
}

/** Uses a token just before it is refused. The leeway of the server is measured first. */
function usedToken(probe: Probe): Promise<UsedToken> {
  return probe.once('used token', async () => {
    const { lifetimeSeconds, scheme } = probe.profile.token;
    const admits = async (token: string) => !isDenied(await callWith(probe, `${scheme} ${token}`));
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
    for (const left of accepted > youngest && refusedFrom < oldest ? [1, 2, 4] : []) {
      const unused = aged(refusedFrom - left);
      const usedToken = await unused();
      if (await admits(usedToken)) return { used: usedToken, admits, unused }; // else, on a busy machine, its time is already over
    }
    throw unmeasured;
  });
}

/**
 * Asks again with a used token when its time is over. Each time, a token with the same exp that was not used is asked first: if
 * that is refused and the used one is not, the server remembers it.
 */
async function usedTokenProblems(probe: Probe): Promise<readonly Problem[]> {
  const { used, admits, unused } = await usedToken(probe);
  for (let turn = 1; turn <= 40; turn++) {
    if (!(await admits(await unused()))) {
      const answer = await callWith(probe, `${probe.profile.token.scheme} ${used}`);
      const path = 'tools/call with a token that was used before it expired';
      const expected = 'refused, like one with the same exp that was not used';
      return answerProblems(isDenied(answer), path, expected, answer);
    }
    await setTimeout(Math.min(retryMs, 1_005 - (Date.now() % 1_000))); // servers compare `exp` with whole seconds
  }
  throw unmeasured;
}
