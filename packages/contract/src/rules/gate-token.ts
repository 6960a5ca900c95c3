import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { shorten } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { admitsPaid, initializes, refusesUnpaid } from '../wire/controls.ts';
import type { HttpAnswer } from '../wire/http.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { describe, nextId, rpcRequest } from '../wire/rpc.ts';
import type { Forgery } from '../wire/signer.ts';
import { answerProblems, unauthorizedProblems } from './expect.ts';
import { type Control, inParallel, type LiveRule, must, should, unless } from './rule.ts';

/** Rules that refuse variants of a valid token mean something only if the valid token itself is accepted. */
const refusesOnlyOthers = [refusesUnpaid, admitsPaid];

/** A token that the platform does not issue, but that its own middleware accepts. */
const doubtful = {
  level: 'should',
  source: 'C§5.1; RFC 7519 §4.1; the tokens of the platform are valid for two minutes',
  fix: 'Refuse a token whose iat is in the future, or whose exp is far from its iat.',
} as const;

/** Only a caller with a valid token of the platform passes authentication, with the right claims and while it is valid. */
export const gateTokenRules: readonly LiveRule[] = [
  {
    ...must('gate.valid-token', 'C§1.3, C§5.1'),
    title: 'tools/call with a valid platform token is accepted',
    fix: 'Use the issuer and the key of the platform; the audience must be the registered URL, byte for byte.',
    check: async (probe) => {
      const { http, response } = await probe.paidCall();
      return unless(http.status === 200 && response !== undefined, {
        path: `tools/call with a token of ${probe.target.signer?.issuer} for ${probe.target.signer?.audience}`,
        expected: 'HTTP 200 with a JSON-RPC response',
        actual: describe(http),
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
      return unauthorizedProblems(http, probe.profile, `tools/call, ${header}: absent`);
    },
  },
  refuses('gate.garbage', 'tools/call with a value that is not a token', async ({ profile: { token } }) => [
    ...['garbage', 'a.b.c', '..', 'e30.e30.'].map((text) => shown(`${token.scheme} ${text}`)),
    { value: `${token.scheme} ${'x'.repeat(4096)}`, as: `${token.scheme} and 4 kB of x` },
  ]),
  refuses('gate.empty-token', 'tools/call with an empty token', async ({ profile: { token } }) =>
    [token.scheme, `${token.scheme} `, ''].map(shown),
  ),
  refuses(
    'gate.other-scheme',
    'tools/call with the token and another scheme',
    async (probe) => {
      const token = await freshToken(probe);
      const own = probe.profile.token.scheme.toLowerCase();
      const others = ['Basic', 'Token', 'Bearer'].filter((scheme) => scheme.toLowerCase() !== own);
      return [
        ...others.map((scheme) => ({ value: `${scheme} ${token}`, as: `${scheme} and a valid token` })),
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

/** A value for the header of the token, and its name in a report, which must not contain a valid token. */
interface Attempt {
  readonly value: string | undefined;
  readonly as: string;
}

/** A value that contains no secret. */
function shown(value: string): Attempt {
  return { value, as: shorten(value) };
}

function bearing(probe: Probe, token: string, as: string): Attempt {
  return { value: `${probe.profile.token.scheme} ${token}`, as };
}

/** A rule that sends the same tools/call with each value of the token's header; each must be refused. */
function refuses(
  id: string,
  what: string,
  attempts: (probe: Probe) => Promise<readonly Attempt[]>,
  controls: readonly Control[] = [refusesUnpaid],
): LiveRule {
  return {
    ...must(id, 'C§5.1, C§5.4, C§7'),
    title: `${what} is refused`,
    fix: 'Verify signature, algorithm, issuer, audience and expiry of the token before anything else.',
    controls,
    check: async (probe) => refusalsOf(probe, await attempts(probe)),
  };
}

/** A rule that sends the same tools/call with each of these forged tokens; each must be refused. */
function forged(
  id: string,
  what: string,
  forgeries: Forgery | ((probe: Probe) => readonly Forgery[]),
): LiveRule {
  const attempts = async (probe: Probe) => {
    const all = typeof forgeries === 'function' ? forgeries(probe) : [forgeries];
    const as = (forgery: Forgery) => (all.length === 1 ? what : shorten(forgery));
    return Promise.all(all.map(async (one) => bearing(probe, await probe.token(one), as(one))));
  };
  return refuses(id, `tools/call with ${what}`, attempts, refusesOnlyOthers);
}

/** Sends a tools/call with this value of the token's header. */
async function callWith(probe: Probe, value: string | undefined): Promise<HttpAnswer> {
  const { header } = probe.profile.token;
  const { name, arguments: args } = await probe.authenticationCall();
  return probe.post(rpcRequest(nextId(), 'tools/call', { name, arguments: args }), {
    session: await probe.session(),
    headers: { [header]: value },
  });
}

async function refusalsOf(probe: Probe, attempts: readonly Attempt[]): Promise<readonly Problem[]> {
  const { header } = probe.profile.token;
  return inParallel(attempts, async ({ value, as }) =>
    unauthorizedProblems(await callWith(probe, value), probe.profile, `tools/call, ${header}: ${as}`),
  );
}

/** A valid token that no other rule has sent. */
function freshToken(probe: Probe): Promise<string> {
  return probe.token({ claims: { jti: randomUUID() } });
}

/** The same header and signature around other claims. */
function withOtherClaims(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url');
  return [header, changed, signature].join('.');
}

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
