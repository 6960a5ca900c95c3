import { randomUUID } from 'node:crypto';
import { shorten } from '../json.ts';
import type { Problem } from '../model.ts';
import { admitsPaid, initializes, refusesUnpaid } from '../probe/controls.ts';
import type { HttpAnswer } from '../probe/http.ts';
import type { Probe } from '../probe/probe.ts';
import { describe, nextId, rpcRequest } from '../probe/rpc.ts';
import type { Forgery } from '../probe/signer.ts';
import { answerProblems, unauthorizedProblems } from './expect.ts';
import { type Control, inParallel, type LiveRule, must, should, unless } from './rule.ts';

/** Rules that refuse variants of a valid token mean something only if the valid token itself is accepted. */
export const refusesOnlyOthers = [refusesUnpaid, admitsPaid];

/** Only a caller with a valid token of the platform passes authentication. */
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
export function refuses(
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
export function forged(
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
export async function callWith(probe: Probe, value: string | undefined): Promise<HttpAnswer> {
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
