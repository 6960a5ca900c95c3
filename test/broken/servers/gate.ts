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
import type { Json } from '../../../packages/contract/src/json/value.ts';
import { isTimely, type Steps } from '../good-server.ts';
import { hasModernHeader } from '../modern-era.ts';
import { trust } from '../trust.ts';
import { type Broken, instead, methodOf, type Variant, where, withHeaders, withRequest } from '../variant.ts';
import type { Answer, Request } from '../wire.ts';

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

/** Servers whose authentication admits one kind of invalid caller. */
export const brokenGates: Broken<Variant> = {
  'gate.valid-token modern.call': { authorized: () => async () => false },
  'gate.scheme-case': {
    authorized: (good) => async (header) => !header?.startsWith('bearer') && good(header),
  },
  'gate.no-token': [
    { authorized: (good) => async (header) => header === undefined || good(header) },
    // One finding for a refusal in another form.
    refusesBy((id) => ({
      status: 200,
      body: { jsonrpc: '2.0', id, error: { code: -32001, message: 'Unauthorized' } },
    })),
    refusesBy((id) => {
      const content = [{ type: 'text', text: 'Invalid or missing token' }];
      return { status: 200, body: { jsonrpc: '2.0', id, result: { isError: true, content } } };
    }),
    refusesBy(() => ({ status: 200, body: { error: 'Unauthorized' } })),
    refusesBy(() => ({ status: 400, headers: { 'www-authenticate': 'Bearer' }, body: {} })),
    refusesBy(() => ({ status: 402, body: { error: 'Payment Required' } })),
    refusesBy(() => ({ status: 403, body: { error: 'No' } })),
    // No refusal, but another error.
    refusesBy((id) => ({
      status: 200,
      body: { jsonrpc: '2.0', id, error: { code: -32602, message: 'Invalid params' } },
    })),
    refusesBy(() => ({ status: 404, body: { error: 'Not found' } })),
    refusesBy(() => ({ status: 500, body: { error: 'Internal error' } })),
  ],
  'gate.garbage': admits((header) => header === 'Bearer garbage'),
  'gate.empty-token': admits((header) => header === 'Bearer' || header === ''),
  'gate.other-scheme': { authorized: (good) => (header) => good(header?.replace(/^Basic/, 'Bearer')) },
  'gate.wrong-key gate.embedded-key gate.tampered gate.tampered-after-success modern.forged-token':
    admitsToken((token) => decodeProtectedHeader(token).alg === 'RS256' && isOurs(token)),
  'gate.embedded-key': admitsToken(async (token) => {
    const { jwk } = decodeProtectedHeader(token);
    if (!jwk) return false;
    return jwtVerify(token, await importJWK(jwk as JWK, 'RS256'), complete).then(() => true);
  }),
  'gate.alg-none': admitsToken((token) => decodeProtectedHeader(token).alg === 'none' && isOurs(token)),
  'gate.public-key-as-secret': admitsToken((token) =>
    jwtVerify(token, new TextEncoder().encode(trust.publicKey), {
      ...complete,
      algorithms: ['HS256'],
    }).then(() => true),
  ),
  'gate.other-algorithm': [
    admitsToken((token) => verifies(token, { ...complete, algorithms: ['RS512'] })),
    admitsToken((token) => verifies(token, { ...complete, algorithms: ['PS256'] })),
  ],
  'gate.expired-after-success': cachedForever(),
  'gate.expired-after-success gate.expired-lately': cachedForever((token) =>
    verifies(token, { ...complete, clockTolerance: 20 }),
  ),
  'gate.long-lived': admitsToken((token) => isTenYears(token) && isSigned(token)),
  'gate.issued-later': admitsToken((token) => !isTenYears(token) && isPlain(token) && isSigned(token)),
  'gate.similar-issuer': [
    admitsToken(
      (token) => String(decodeJwt(token).iss).startsWith(trust.issuer) && verifies(token, anyIssuer),
    ),
    admitsToken((token) => decodeJwt(token).iss === trust.issuer.toUpperCase() && verifies(token, anyIssuer)),
  ],
  'gate.similar-audience': [
    admitsToken(
      (token) => decodeJwt(token).aud === trust.audience.toUpperCase() && verifies(token, anyAudience),
    ),
    admitsToken(
      (token) => String(decodeJwt(token).aud).startsWith(trust.audience) && verifies(token, anyAudience),
    ),
  ],
  'gate.expired-lately': admitsToken((token) => verifies(token, { ...complete, clockTolerance: 60 })),
  'gate.other-audiences': admitsToken((token) => isList(token) && !namesUs(token) && isGenuine(token)),
  'gate.several-audiences': admitsToken((token) => isList(token) && namesUs(token) && isSigned(token)),
  'gate.claim-types': [
    admitsToken((token) => typeof decodeJwt(token).exp === 'string' && isGenuine(token)),
    admitsToken((token) => typeof decodeJwt(token).nbf === 'string' && isGenuine(token)),
  ],
  'gate.unknown-critical': admitsToken((token) => {
    const { crit = [] } = decodeProtectedHeader(token);
    return verifies(token, { ...complete, crit: Object.fromEntries(crit.map((name) => [name, true])) });
  }),
  'gate.other-type': admitsToken((token) => decodeProtectedHeader(token).typ === 'at+jwt' && isSigned(token)),
  'gate.unknown-key-id': crashes((token) => decodeProtectedHeader(token).kid !== undefined),
  'gate.large-token': {
    attach: (server) => Object.assign(server, { maxHeaderSize: 65_536 }),
    ...crashes((token) => token.length > 16_384),
  },
  'gate.token-elsewhere': [
    withRequest((request) => {
      const token = new URLSearchParams(request.search).get('access_token');
      return token ? withHeaders(request, { authorization: `Bearer ${token}` }) : request;
    }),
    withRequest((request) => {
      const [, token] = /token=(\S+)/.exec(request.headers.cookie ?? '') ?? [];
      return token ? withHeaders(request, { authorization: `Bearer ${token}` }) : request;
    }),
  ],
  'gate.expired gate.expired-lately': admitsToken((token) =>
    verifies(token, { ...complete, currentDate: minutesFromNow(-10) }),
  ),
  'gate.no-expiry': admitsToken((token) => verifies(token, anyExpiry)),
  'gate.not-yet-valid': admitsToken(
    (token) => isUnexpired(token) && verifies(token, { ...complete, clockTolerance: '15 min' }),
  ),
  'gate.wrong-issuer gate.similar-issuer': admitsToken((token) =>
    verifies(token, { ...anyIssuer, requiredClaims: ['exp', 'iss'] }),
  ),
  'gate.no-issuer': admitsToken((token) => decodeJwt(token).iss === undefined && verifies(token, anyIssuer)),
  'gate.wrong-audience gate.similar-audience modern.forged-token': admitsToken((token) =>
    verifies(token, { ...anyAudience, requiredClaims: ['exp', 'aud'] }),
  ),
  'gate.no-audience': admitsToken(
    (token) => decodeJwt(token).aud === undefined && verifies(token, anyAudience),
  ),
  'gate.tampered gate.tampered-after-success': admitsToken(
    (token) => decodeJwt(token).sub === 'somebody-else' && isOurs(token),
  ),
  'gate.tampered-after-success gate.expired-after-success': cachedBySignature(),
};

/** Servers whose authentication misses one kind of request. */
export const brokenRequests: Broken<Variant> = {
  'gate.batch modern.disguised-call': runsUnpaid((body) =>
    Array.isArray(body) && body.length === 1 ? body[0] : null,
  ),
  'gate.batch-mixed modern.disguised-call': runsUnpaid((body) =>
    Array.isArray(body) && body.length > 1 ? body[1] : null,
  ),
  'gate.batch-nested': runsUnpaid((body) => (Array.isArray(body) ? body[0]?.[0] : null)),
  'gate.content-type': [
    runsUnpaid((body, { headers }) => (headers['content-type'] === 'application/json;' ? body : null)),
    runsUnpaid((body, { headers }) => (headers['content-type'] === 'application/json\u00a0' ? body : null)),
  ],
  'gate.method-spelling': runsUnpaid((body) =>
    body?.method === 'Tools/Call' ? { ...body, method: 'tools/call' } : null,
  ),
  'gate.duplicate-keys': runsUnpaid((body, request) => (methodOf(request) === 'tools/list' ? body : null)),
  'gate.session-state modern.disguised-call': runsUnpaid((body, request) =>
    request.headers['mcp-session-id'] === undefined && !hasModernHeader(request) ? body : null,
  ),
  'gate.session-state': [runsOutsideSessions(), runsInEndedSessions()],
  'gate.request-form': [
    runsUnpaid((body, { search = '' }) => (search.includes('access_token=') ? body : null)),
    runsUnpaid((body, { headers }) => (headers.cookie?.includes('token=') ? body : null)),
    runsUnpaid((body, { headers }) => (headers.origin === undefined ? null : body)),
    runsUnpaid((body, { headers }) => (headers['transfer-encoding'] === 'chunked' ? body : null)),
    runsUnpaid((body, { version }) => (version === '1.0' ? body : null)),
    instead((request, steps) => {
      const tokens = request.names?.filter((name) => /^authorization$/i.test(name)) ?? [];
      return tokens.length > 1 ? runCall(parsed(request.body), steps) : undefined;
    }),
    runsUnpaid((body) => (typeof body?.id === 'string' ? body : null)),
    runsUnpaid((body, request) => (Number(request.body?.length) > 5_000 ? body : null)),
  ],
  'gate.request-form modern.disguised-call': runsUnpaid((body, request) =>
    body?.params?._meta && !hasModernHeader(request) ? body : null,
  ),
  'gate.notification': where(
    (request) => methodOf(request) === 'tools/call' && !request.body?.includes('"id":'),
    { status: 202 },
  ),
  'gate.trusted-headers': runsUnpaid((body, { headers }) =>
    headers['x-authenticated'] === 'true' ? body : null,
  ),
  'gate.unknown-tool': runsUnpaid((body) => (body?.params?.name === 'no_such_tool' ? body : null)),
  'gate.every-call': trustsSecondRequest(),
  'gate.every-tool': [
    runsUnpaid((body) => (body?.params?.name === 'list_coins' ? body : null)),
    instead(async (request, steps) => {
      const body = parsed(request.body);
      if (body?.method !== 'tools/call' || body.id === undefined || hasModernHeader(request))
        return undefined;
      const result = await steps.call((body.params ?? {}) as Parameters<Steps['call']>[0]);
      const isInvalid =
        JSON.stringify(result).includes('INVALID_ARGUMENTS') && body.params?.name === 'get_price';
      return isInvalid ? { status: 200, body: { jsonrpc: '2.0', id: body.id, result } } : undefined;
    }),
  ],
  'gate.other-address': [
    openAt((path) => path === '/mcp/'),
    openAt((path) => path === '/MCP'),
    openAt((_path, search) => search === '?x=1'),
  ],
};

/** Runs calls without a token at some addresses. */
function openAt(isOpen: (path: string, search: string) => boolean): Variant {
  return runsUnpaid((body, { path, search = '' }) => (isOpen(path, search) ? body : null));
}

/** Answers a call without a valid token in another way than the contract asks for. */
function refusesBy(refusal: (id: Json) => Answer): Variant {
  return instead(async (request, steps) => {
    const { body = '', headers } = request;
    if (!body.includes('tools/call') || (await steps.authorized(headers.authorization))) return undefined;
    const { id } = (parsed(body) ?? {}) as { readonly id?: Json };
    return id === undefined ? { status: 400, body: { error: 'Invalid request' } } : refusal(id);
  });
}

/** Ends with an error of the server for some tokens. */
function crashes(breaks: (token: string) => boolean): Variant {
  return where(
    ({ headers: { authorization = '' } }) => {
      const [, token] = /^Bearer (\S+\.\S+\.\S+)$/.exec(authorization) ?? [];
      try {
        return token !== undefined && breaks(token);
      } catch {
        return false; // not a token
      }
    },
    { status: 500, body: { error: 'Internal error' } },
  );
}

type Body = Record<string, unknown> & {
  params?: { name?: unknown; _meta?: unknown };
  [index: number]: Body;
};

function admits(admitted: (header: string | undefined) => boolean): Variant {
  return { authorized: (good) => async (header) => admitted(header) || good(header) };
}

/** Admits a token if the good server or `admitted` does; an exception counts as a refusal. */
function admitsToken(admitted: (token: string) => boolean | Promise<boolean>): Variant {
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
function runsUnpaid(pick: (body: Body | null, request: Request) => unknown): Variant {
  return instead(async (request, steps) => {
    if (request.headers.authorization !== undefined) return undefined;
    return runCall(pick(parsed(request.body), request), steps);
  });
}

/** The answer to a call; undefined for anything else. */
export async function runCall(message: unknown, steps: Steps): Promise<Answer | undefined> {
  const call = message as Parameters<Steps['respond']>[0] | null | undefined;
  if (call?.method !== 'tools/call') return undefined;
  return { status: 200, body: { jsonrpc: '2.0', id: call.id ?? null, ...(await steps.respond(call)) } };
}

/** Runs calls without a token in sessions that it has not opened. */
function runsOutsideSessions(): Variant {
  const opened = new Set<string | undefined>([undefined]);
  return {
    open: (good) => () => {
      const session = good();
      opened.add(session);
      return session;
    },
    ...runsUnpaid((body, { headers }) => (opened.has(headers['mcp-session-id']?.toString()) ? null : body)),
  };
}

/** Runs calls without a token in sessions that it has ended. */
function runsInEndedSessions(): Variant {
  const ended = new Set<string | undefined>();
  return {
    close: (good) => (session) => {
      ended.add(session);
      good(session);
    },
    ...runsUnpaid((body, { headers }) => (ended.has(headers['mcp-session-id']?.toString()) ? body : null)),
  };
}

/** Caches an accepted token by its signature only. */
function cachedBySignature(): Variant {
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
function cachedForever(verifies: (token: string) => Promise<boolean> = async () => false): Variant {
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
function trustsSecondRequest(): Variant {
  const counts = new Map<string, number>();
  return instead(async (request, steps) => {
    const session = request.headers['mcp-session-id']?.toString() ?? '';
    const body = parsed(request.body);
    if (!steps.isKnown(session) || body?.method === 'notifications/initialized') return undefined;
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
function isOurs(token: string): boolean {
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
