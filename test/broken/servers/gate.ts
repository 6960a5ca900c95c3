import { createPublicKey } from 'node:crypto';
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { isTimely, type Steps, type Trust } from '../good-server.ts';
import { hasModernHeader } from '../modern-era.ts';
import { type BrokenServer, instead, methodOf, withHeaders, withRequest } from '../variant.ts';
import type { Request } from '../wire.ts';

/** Servers whose authentication admits one kind of invalid caller. */
export function brokenGates(trust: Trust): readonly BrokenServer[] {
  const complete = {
    algorithms: ['RS256'],
    issuer: trust.issuer,
    audience: trust.audience,
    requiredClaims: ['exp'],
  } satisfies JWTVerifyOptions;
  const verifies = async (token: string, options: JWTVerifyOptions): Promise<boolean> =>
    jwtVerify(token, createPublicKey(trust.publicKey), options).then(isTimely, () => false);
  const isSigned = (token: string): Promise<boolean> =>
    jwtVerify(token, createPublicKey(trust.publicKey), complete).then(() => true);
  /** Signed with the trusted key, whatever the claims are. */
  const isGenuine = (token: string): Promise<boolean> =>
    compactVerify(token, createPublicKey(trust.publicKey)).then(() => true);
  const isPlain = (token: string) => !isList(token) && decodeProtectedHeader(token).typ === 'JWT';
  const isList = (token: string) => Array.isArray(decodeJwt(token).aud);
  const namesUs = (token: string) => [decodeJwt(token).aud].flat().includes(trust.audience);
  const { audience: _audience, ...anyAudience } = complete;
  const { issuer: _issuer, ...anyIssuer } = complete;
  const { requiredClaims: _required, ...anyExpiry } = complete;

  return [
    { rule: 'gate.valid-token', along: ['modern.call'], breaks: { authorized: () => async () => false } },
    {
      rule: 'gate.scheme-case',
      breaks: { authorized: (good) => async (header) => !header?.startsWith('bearer') && good(header) },
    },
    {
      rule: 'gate.no-token',
      breaks: { authorized: (good) => async (header) => header === undefined || good(header) },
    },
    { rule: 'gate.garbage', breaks: admits((header) => header === 'Bearer garbage') },
    { rule: 'gate.empty-token', breaks: admits((header) => header === 'Bearer' || header === '') },
    {
      rule: 'gate.other-scheme',
      breaks: { authorized: (good) => (header) => good(header?.replace(/^Basic/, 'Bearer')) },
    },
    {
      rule: 'gate.wrong-key',
      along: ['gate.embedded-key', 'gate.tampered', 'gate.tampered-after-success', 'modern.forged-token'],
      breaks: admitsToken((token) => decodeProtectedHeader(token).alg === 'RS256' && isOurs(token, trust)),
    },
    {
      rule: 'gate.embedded-key',
      breaks: admitsToken(async (token) => {
        const { jwk } = decodeProtectedHeader(token);
        if (!jwk) return false;
        return jwtVerify(token, await importJWK(jwk as JWK, 'RS256'), complete).then(() => true);
      }),
    },
    {
      rule: 'gate.alg-none',
      breaks: admitsToken((token) => decodeProtectedHeader(token).alg === 'none' && isOurs(token, trust)),
    },
    {
      rule: 'gate.public-key-as-secret',
      breaks: admitsToken((token) =>
        jwtVerify(token, new TextEncoder().encode(trust.publicKey), {
          ...complete,
          algorithms: ['HS256'],
        }).then(() => true),
      ),
    },
    {
      rule: 'gate.other-algorithm',
      breaks: admitsToken((token) => verifies(token, { ...complete, algorithms: ['RS512'] })),
    },
    {
      rule: 'gate.other-algorithm',
      breaks: admitsToken((token) => verifies(token, { ...complete, algorithms: ['PS256'] })),
    },
    { rule: 'gate.expired-after-success', breaks: cachedForever() },
    {
      rule: 'gate.expired-after-success',
      along: ['gate.expired-lately'],
      breaks: cachedForever((token) => verifies(token, { ...complete, clockTolerance: 20 })),
    },
    {
      rule: 'gate.long-lived',
      breaks: admitsToken((token) => isTenYears(token) && isSigned(token)),
    },
    {
      rule: 'gate.issued-later',
      breaks: admitsToken((token) => !isTenYears(token) && isPlain(token) && isSigned(token)),
    },
    {
      rule: 'gate.similar-issuer',
      breaks: admitsToken(
        (token) => String(decodeJwt(token).iss).startsWith(trust.issuer) && verifies(token, anyIssuer),
      ),
    },
    {
      rule: 'gate.similar-issuer',
      breaks: admitsToken(
        (token) => decodeJwt(token).iss === trust.issuer.toUpperCase() && verifies(token, anyIssuer),
      ),
    },
    {
      rule: 'gate.similar-audience',
      breaks: admitsToken(
        (token) => decodeJwt(token).aud === trust.audience.toUpperCase() && verifies(token, anyAudience),
      ),
    },
    {
      rule: 'gate.expired-lately',
      breaks: admitsToken((token) => verifies(token, { ...complete, clockTolerance: 60 })),
    },
    {
      rule: 'gate.other-audiences',
      breaks: admitsToken((token) => isList(token) && !namesUs(token) && isGenuine(token)),
    },
    {
      rule: 'gate.several-audiences',
      breaks: admitsToken((token) => isList(token) && namesUs(token) && isSigned(token)),
    },
    {
      rule: 'gate.claim-types',
      breaks: admitsToken((token) => typeof decodeJwt(token).exp === 'string' && isGenuine(token)),
    },
    {
      rule: 'gate.claim-types',
      breaks: admitsToken((token) => typeof decodeJwt(token).nbf === 'string' && isGenuine(token)),
    },
    {
      rule: 'gate.unknown-critical',
      breaks: admitsToken((token) => {
        const { crit = [] } = decodeProtectedHeader(token);
        return verifies(token, { ...complete, crit: Object.fromEntries(crit.map((name) => [name, true])) });
      }),
    },
    {
      rule: 'gate.other-type',
      breaks: admitsToken((token) => decodeProtectedHeader(token).typ === 'at+jwt' && isSigned(token)),
    },
    {
      rule: 'gate.unknown-key-id',
      breaks: crashes((token) => decodeProtectedHeader(token).kid !== undefined),
    },
    {
      rule: 'gate.large-token',
      attach: (server) => Object.assign(server, { maxHeaderSize: 65_536 }),
      breaks: crashes((token) => token.length > 16_384),
    },
    {
      rule: 'gate.token-elsewhere',
      breaks: withRequest((request) => {
        const token = new URLSearchParams(request.search).get('access_token');
        return token ? withHeaders(request, { authorization: `Bearer ${token}` }) : request;
      }),
    },
    {
      rule: 'gate.token-elsewhere',
      breaks: withRequest((request) => {
        const [, token] = /token=(\S+)/.exec(request.headers.cookie ?? '') ?? [];
        return token ? withHeaders(request, { authorization: `Bearer ${token}` }) : request;
      }),
    },
    {
      rule: 'gate.expired',
      along: ['gate.expired-lately'],
      breaks: admitsToken((token) => verifies(token, { ...complete, currentDate: minutesFromNow(-10) })),
    },
    { rule: 'gate.no-expiry', breaks: admitsToken((token) => verifies(token, anyExpiry)) },
    {
      rule: 'gate.not-yet-valid',
      breaks: admitsToken(
        (token) => isUnexpired(token) && verifies(token, { ...complete, clockTolerance: '15 min' }),
      ),
    },
    {
      rule: 'gate.wrong-issuer',
      along: ['gate.similar-issuer'],
      breaks: admitsToken((token) => verifies(token, { ...anyIssuer, requiredClaims: ['exp', 'iss'] })),
    },
    {
      rule: 'gate.no-issuer',
      breaks: admitsToken((token) => decodeJwt(token).iss === undefined && verifies(token, anyIssuer)),
    },
    {
      rule: 'gate.wrong-audience',
      along: ['gate.similar-audience', 'modern.forged-token'],
      breaks: admitsToken((token) => verifies(token, { ...anyAudience, requiredClaims: ['exp', 'aud'] })),
    },
    {
      rule: 'gate.no-audience',
      breaks: admitsToken((token) => decodeJwt(token).aud === undefined && verifies(token, anyAudience)),
    },
    {
      rule: 'gate.similar-audience',
      breaks: admitsToken(
        (token) => String(decodeJwt(token).aud).startsWith(trust.audience) && verifies(token, anyAudience),
      ),
    },
    {
      rule: 'gate.tampered',
      along: ['gate.tampered-after-success'],
      breaks: admitsToken((token) => decodeJwt(token).sub === 'somebody-else' && isOurs(token, trust)),
    },
    {
      rule: 'gate.tampered-after-success',
      along: ['gate.expired-after-success'],
      breaks: cachedBySignature(),
    },
    ...brokenRequests,
  ];
}

/** Servers whose authentication misses one kind of request. */
const brokenRequests: readonly BrokenServer[] = [
  {
    rule: 'gate.batch',
    along: ['modern.disguised-call'],
    breaks: runsUnpaid((body) => (Array.isArray(body) && body.length === 1 ? body[0] : null)),
  },
  {
    rule: 'gate.batch-mixed',
    along: ['modern.disguised-call'],
    breaks: runsUnpaid((body) => (Array.isArray(body) && body.length > 1 ? body[1] : null)),
  },
  { rule: 'gate.batch-nested', breaks: runsUnpaid((body) => (Array.isArray(body) ? body[0]?.[0] : null)) },
  {
    rule: 'gate.content-type',
    breaks: runsUnpaid((body, { headers }) =>
      headers['content-type'] === 'application/json;' ? body : null,
    ),
  },
  {
    rule: 'gate.content-type',
    breaks: runsUnpaid((body, { headers }) =>
      headers['content-type'] === 'application/json\u00a0' ? body : null,
    ),
  },
  {
    rule: 'gate.method-spelling',
    breaks: runsUnpaid((body) => (body?.method === 'Tools/Call' ? { ...body, method: 'tools/call' } : null)),
  },
  {
    rule: 'gate.duplicate-keys',
    breaks: runsUnpaid((body, request) => (methodOf(request) === 'tools/list' ? body : null)),
  },
  {
    rule: 'gate.notification',
    breaks: instead((request) =>
      methodOf(request) === 'tools/call' && !request.body?.includes('"id":') ? { status: 202 } : undefined,
    ),
  },
  {
    rule: 'gate.trusted-headers',
    breaks: runsUnpaid((body, { headers }) => (headers['x-authenticated'] === 'true' ? body : null)),
  },
  {
    rule: 'gate.unknown-tool',
    breaks: runsUnpaid((body) => (body?.params?.name === 'no_such_tool' ? body : null)),
  },
  { rule: 'gate.every-call', breaks: trustsSecondRequest() },
  {
    rule: 'gate.every-tool',
    breaks: runsUnpaid((body) => (body?.params?.name === 'list_coins' ? body : null)),
  },
  {
    rule: 'gate.every-tool',
    breaks: instead(async (request, steps) => {
      const body = parsed(request.body);
      if (body?.method !== 'tools/call' || body.id === undefined || hasModernHeader(request))
        return undefined;
      const result = await steps.call((body.params ?? {}) as Parameters<Steps['call']>[0]);
      const isInvalid =
        JSON.stringify(result).includes('INVALID_ARGUMENTS') && body.params?.name === 'get_price';
      return isInvalid ? { status: 200, body: { jsonrpc: '2.0', id: body.id, result } } : undefined;
    }),
  },
  { rule: 'gate.other-address', breaks: openAt((path) => path === '/mcp/') },
  { rule: 'gate.other-address', breaks: openAt((path) => path === '/MCP') },
  { rule: 'gate.other-address', breaks: openAt((_path, search) => search === '?x=1') },
];

/** Runs calls without a token at some addresses. */
function openAt(isOpen: (path: string, search: string) => boolean): BrokenServer['breaks'] {
  return runsUnpaid((body, { path, search = '' }) => (isOpen(path, search) ? body : null));
}

/** Ends with an error of the server for some tokens. */
function crashes(breaks: (token: string) => boolean): BrokenServer['breaks'] {
  return {
    answer: (good) => async (request) => {
      const [, token] = /^Bearer (\S+\.\S+\.\S+)$/.exec(request.headers.authorization ?? '') ?? [];
      try {
        if (token !== undefined && breaks(token)) return { status: 500, body: { error: 'Internal error' } };
      } catch {
        // Not a token.
      }
      return good(request);
    },
  };
}

type Body = Record<string, unknown> & { params?: { name?: unknown }; [index: number]: Body };

function admits(admitted: (header: string | undefined) => boolean): BrokenServer['breaks'] {
  return { authorized: (good) => async (header) => admitted(header) || good(header) };
}

/** Admits a token if the good server or `admitted` does; an exception counts as a refusal. */
function admitsToken(admitted: (token: string) => boolean | Promise<boolean>): BrokenServer['breaks'] {
  return {
    authorized: (good) => async (header) => {
      if (await good(header)) return true;
      const [, token] = /^Bearer (\S+\.\S+\.\S*)$/.exec(header ?? '') ?? [];
      if (token === undefined) return false;
      return Promise.resolve(token)
        .then(admitted)
        .catch(() => false);
    },
  };
}

/** Answers the call that `pick` finds in a body, without a token. */
function runsUnpaid(pick: (body: Body | null, request: Request) => unknown): BrokenServer['breaks'] {
  return instead(async (request, steps) => {
    if (request.headers.authorization !== undefined) return undefined;
    const call = pick(parsed(request.body), request) as Parameters<Steps['respond']>[0] | null | undefined;
    if (call?.method !== 'tools/call') return undefined;
    return { status: 200, body: { jsonrpc: '2.0', id: call.id ?? null, ...(await steps.respond(call)) } };
  });
}

/** Caches an accepted token by its signature only. */
function cachedBySignature(): BrokenServer['breaks'] {
  const accepted = new Set<string | undefined>();
  return {
    authorized: (good) => async (header) => {
      const signature = header?.split('.')[2];
      if (signature && accepted.has(signature)) return true;
      const valid = await good(header);
      if (valid) accepted.add(signature);
      return valid;
    },
  };
}

/** Caches the whole of an accepted token, without a look at its expiry; `verifies` accepts tokens, too. */
function cachedForever(
  verifies: (token: string) => Promise<boolean> = async () => false,
): BrokenServer['breaks'] {
  const accepted = new Set<string | undefined>();
  return {
    authorized: (good) => async (header) => {
      if (accepted.has(header)) return true;
      const [, token] = /^Bearer (\S+)$/.exec(header ?? '') ?? [];
      const valid = (await good(header)) || (token !== undefined && (await verifies(token)));
      if (valid) accepted.add(header);
      return valid;
    },
  };
}

function isTenYears(token: string): boolean {
  return (decodeJwt(token).exp ?? 0) * 1000 > Date.now() + 86_400_000;
}

/** Admits the second request of a session, because the first was paid. */
function trustsSecondRequest(): BrokenServer['breaks'] {
  const counts = new Map<string, number>();
  return instead(async (request, steps) => {
    const session = request.headers['mcp-session-id']?.toString() ?? '';
    const body = parsed(request.body);
    if (body?.method === 'notifications/initialized') return undefined;
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    if (count !== 2 || body?.method !== 'tools/call') return undefined;
    const response = await steps.respond(body as Parameters<Steps['respond']>[0]);
    return { status: 200, body: { jsonrpc: '2.0', id: Number(body.id), ...response } };
  });
}

function parsed(body: string | undefined): Body | null {
  try {
    return JSON.parse(body ?? '');
  } catch {
    return null;
  }
}

/** Whether the claims are those of a valid token, without a check of the signature. */
function isOurs(token: string, trust: Trust): boolean {
  const payload = decodeJwt(token);
  const { iss, aud, exp, nbf = 0 } = payload;
  const { typ = 'JWT', crit } = decodeProtectedHeader(token);
  if (typeof exp !== 'number' || typeof nbf !== 'number' || crit !== undefined) return false;
  const isInTime =
    nbf * 1000 <= Date.now() && isUnexpired(token) && isTimely({ payload, protectedHeader: { typ } });
  return iss === trust.issuer && aud === trust.audience && isInTime;
}

function isUnexpired(token: string): boolean {
  return (decodeJwt(token).exp ?? 0) * 1000 > Date.now();
}

function minutesFromNow(minutes: number): Date {
  return new Date(Date.now() + minutes * 60_000);
}
