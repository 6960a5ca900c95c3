import { constants, createHmac, createPublicKey, verify } from 'node:crypto';
import type { Message, Parts } from '../reference.ts';
import { readToken, type Token } from '../token.ts';
import type { Data } from '../tools.ts';
import { broken } from './broken-server.ts';

/** Replaces one check of a token. */
const check =
  (name: keyof Parts['checks'], holds: (token: Token, parts: Parts) => boolean) => (parts: Parts) => {
    parts.checks = { ...parts.checks, [name]: (token: Token) => holds(token, parts) };
  };

/** Accepts one more algorithm. */
const alsoSignedAs = (alg: string, isSigned: (token: Token, parts: Parts) => boolean) => (parts: Parts) => {
  const { algorithm, signature } = parts.checks;
  const isIt = ({ header }: Token) => header.alg === alg;
  parts.checks = {
    ...parts.checks,
    algorithm: (token) => isIt(token) || algorithm(token),
    signature: (token, trust) => (isIt(token) ? isSigned(token, parts) : signature(token, trust)),
  };
};
const byKey =
  (hash: string, padding = constants.RSA_PKCS1_PADDING) =>
  ({ signed, signature }: Token, { trust }: Parts) =>
    verify(
      hash,
      signed,
      { key: createPublicKey(trust.publicKey), padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO },
      signature,
    );

/** Decides by the message alone whether it needs a token. */
const charges = (isCharged: (message: Message, parts: Parts) => boolean) => (parts: Parts) => {
  const { isCharged: rightly } = parts;
  parts.isCharged = (message) => rightly(message) && isCharged(message as Message, parts);
};

/** Answers a batch message by message, after a gate that has seen the batch as a whole. */
const batched = (parts: Parts) => {
  const { post, parse } = parts;
  parts.post = async (asked) => {
    const { body = '' } = asked;
    const messages = body.startsWith('[{') ? (parse(body) as readonly Message[]) : undefined;
    if (!messages || parts.known(asked) === undefined) return post(asked);
    const bodies: unknown[] = [];
    for (const message of messages) bodies.push((await parts.answer(message, asked, {})).body);
    return { status: 200, body: bodies };
  };
};

/** Rules that expect the refusal of an unpaid call. */
const refusals =
  `alg-none embedded-key empty-token every-call expired garbage issued-later long-lived no-audience no-expiry no-issuer no-token
not-yet-valid notification other-algorithm other-scheme public-key-as-secret similar-audience similar-issuer tampered
tampered-after-success trusted-headers unknown-tool wrong-audience wrong-issuer wrong-key`
    .split(/\s+/)
    .map((name) => `gate.${name}`);

/** Rules that expect that an unpaid call in another form runs no tool. */
const bypasses = [
  'batch',
  'batch-mixed',
  'batch-nested',
  'content-type',
  'duplicate-keys',
  'method-spelling',
].map((name) => `gate.${name}`);

/** Who may call: C§5, C§7, the facts about the token. */
export const brokenGates = [
  broken('C§5.4', 'the check is disabled', 'gate.no-token', (parts) => {
    parts.isPaid = () => true;
  }),
  broken('C§7', 'Unauthorized with status 403', refusals, (parts) => {
    parts.unauthorized = () => ({ status: 403, body: { error: 'Unauthorized' } });
  }),
  broken('C§7', 'Unauthorized as a JSON-RPC error', refusals, (parts) => {
    const error = { code: -32001, message: 'Unauthorized' };
    parts.unauthorized = () => ({ status: 401, body: { jsonrpc: '2.0', id: null, error } });
  }),
  broken(
    'C§5.2',
    'prompts/list needs a token',
    ['discovery.prompts-list', 'discovery.invalid-token'],
    (parts) => {
      const { isCharged } = parts;
      parts.isCharged = (message) => isCharged(message) || (message as Message)?.method === 'prompts/list';
    },
  ),
  broken('C§5.2', 'initialize needs a token', 'discovery.initialize', (parts) => {
    const { isCharged } = parts;
    parts.isCharged = (message) => isCharged(message) || (message as Message)?.method === 'initialize';
  }),
  broken(
    'C§5.1, C§5.4',
    'the gate reads body.method: a batch has none',
    ['gate.batch', 'gate.batch-mixed'],
    batched,
  ),
  broken(
    'C§5.1, C§5.4',
    'the gate reads the body that a parser of application/json left; the handler parses all',
    ['gate.content-type', 'http.content-type'],
    (parts) => {
      const { post, precheck } = parts;
      parts.precheck = (asked) =>
        asked.headers['content-type'] === undefined
          ? precheck(asked)
          : precheck({ ...asked, headers: { ...asked.headers, 'content-type': 'application/json' } });
      parts.post = (asked) => {
        const isParsed = /^application\/json(;|$)/.test(asked.headers['content-type'] ?? '');
        return post(isParsed ? asked : { ...asked, headers: { ...asked.headers, authorization: 'none' } });
      };
      const { isPaid } = parts;
      parts.isPaid = (authorization) => authorization === 'none' || isPaid(authorization);
    },
  ),
  broken(
    'C§5.4',
    'the gate looks for the first "method" in the text, the parser takes the last',
    ['gate.duplicate-keys', 'gate.method-spelling'],
    (parts) => {
      const { post, isPaid } = parts;
      parts.post = (asked) => {
        const [, first] = /"method":"([^"]*)"/.exec(asked.body ?? '') ?? [];
        return post(
          first === 'tools/call' ? asked : { ...asked, headers: { ...asked.headers, authorization: 'none' } },
        );
      };
      parts.isPaid = (authorization) => authorization === 'none' || isPaid(authorization);
    },
  ),
  broken(
    'C§5.4',
    'only calls of known tools need a token',
    'gate.unknown-tool',
    charges(({ params }, { tools }) =>
      tools.some(({ definition }) => definition.name === (params as Data | undefined)?.name),
    ),
  ),
  broken(
    'C§5.4',
    'a call without an id passes the gate',
    'gate.notification',
    charges(({ id }) => id !== undefined),
  ),
  // Whichever unpaid call comes after a paid one in the session of the check.
  broken(
    'C§5.4',
    'a session that has paid once is paid for',
    [...refusals, ...bypasses].join('|'),
    (parts) => {
      const { post, isPaid } = parts;
      const paid = new Set<string>();
      parts.post = (asked) => {
        const session = parts.sessionOf(asked) ?? '';
        if (asked.headers.authorization !== undefined && isPaid(asked.headers.authorization))
          paid.add(session);
        const isLater = asked.headers.authorization === undefined && paid.has(session);
        return post(isLater ? { ...asked, headers: { ...asked.headers, authorization: 'none' } } : asked);
      };
      parts.isPaid = (authorization) => authorization === 'none' || isPaid(authorization);
    },
  ),
  broken('C§5.1', 'a proxy may say that the call is paid', 'gate.trusted-headers', (parts) => {
    const { post, isPaid } = parts;
    parts.post = (asked) =>
      post(
        asked.headers['x-payment-verified'] === 'true'
          ? { ...asked, headers: { ...asked.headers, authorization: 'none' } }
          : asked,
      );
    parts.isPaid = (authorization) => authorization === 'none' || isPaid(authorization);
  }),
  broken(
    'C§5.1',
    'the token is decoded, its signature is not verified',
    ['gate.wrong-key', 'gate.embedded-key', 'gate.tampered', 'gate.tampered-after-success'],
    check('signature', () => true),
  ),
  broken('C§5.1', 'the key in the header of the token is used', 'gate.embedded-key', (parts) => {
    const { signature } = parts.checks;
    parts.checks = {
      ...parts.checks,
      signature: (token, trust) => {
        const { jwk } = token.header;
        if (jwk === undefined) return signature(token, trust);
        return verify(
          'RSA-SHA256',
          token.signed,
          createPublicKey({ key: jwk as never, format: 'jwk' }),
          token.signature,
        );
      },
    };
  }),
  broken(
    'facts, Token',
    'alg none is accepted',
    'gate.alg-none',
    alsoSignedAs('none', () => true),
  ),
  broken(
    'facts, Token',
    'HS256 with the text of the public key is accepted',
    'gate.public-key-as-secret',
    alsoSignedAs('HS256', ({ signed, signature }, { trust }) =>
      createHmac('sha256', trust.publicKey).update(signed).digest().equals(signature),
    ),
  ),
  broken(
    'facts, Token',
    'RS512 is accepted',
    'gate.other-algorithm',
    alsoSignedAs('RS512', byKey('RSA-SHA512')),
  ),
  broken(
    'facts, Token',
    'an expired token is accepted',
    'gate.expired',
    check('expiry', ({ claims }) => typeof claims.exp === 'number'),
  ),
  broken(
    'facts, Token',
    'a token without exp is accepted',
    'gate.no-expiry',
    check('expiry', ({ claims: { exp } }) => exp === undefined || Number(exp) > Date.now() / 1000),
  ),
  broken(
    'facts, Token',
    'nbf is not read',
    'gate.not-yet-valid',
    check('start', () => true),
  ),
  broken(
    'facts, Token',
    'any issuer is accepted',
    ['gate.wrong-issuer', 'gate.no-issuer', 'gate.similar-issuer'],
    check('issuer', () => true),
  ),
  broken(
    'facts, Token',
    'a token without an issuer is accepted',
    'gate.no-issuer',
    check('issuer', ({ claims: { iss } }, { trust }) => iss === undefined || iss === trust.issuer),
  ),
  broken(
    'facts, Token',
    'any audience is accepted',
    ['gate.wrong-audience', 'gate.no-audience', 'gate.similar-audience'],
    check('audience', () => true),
  ),
  broken(
    'facts, Token',
    'an audience that starts with the URL is accepted',
    'gate.similar-audience',
    check('audience', ({ claims }, { trust }) => String(claims.aud).startsWith(trust.audience)),
  ),
  broken(
    'facts, Token',
    'an audience of the same host is accepted',
    'gate.similar-audience',
    check('audience', ({ claims }, { trust }) =>
      String(claims.aud).startsWith(new URL(trust.audience).origin),
    ),
  ),
  broken(
    'facts, Token',
    'the second word of the header is the token, whatever the first one is',
    'gate.other-scheme',
    (parts) => {
      const { isPaid } = parts;
      parts.isPaid = (authorization = '') => isPaid(`Bearer ${authorization.split(' ')[1] ?? ''}`);
    },
  ),
  broken(
    'C§5.1',
    'accepted tokens are remembered by their claims',
    ['gate.tampered-after-success', 'gate.expired-after-success'],
    (parts) => {
      const { isPaid } = parts;
      const accepted = new Set<string>();
      const idOf = (authorization: string) => {
        const claims = readToken(authorization.split(' ')[1] ?? '')?.claims;
        return claims && JSON.stringify([claims.iss, claims.jti]);
      };
      parts.isPaid = (authorization = '') => {
        const id = idOf(authorization);
        const isRight = isPaid(authorization);
        if (isRight && id !== undefined && !id.includes('null')) accepted.add(id);
        return isRight || (id !== undefined && accepted.has(id));
      };
    },
  ),
  broken('RFC 9110', 'the scheme must be spelled Bearer', 'gate.scheme-case', (parts) => {
    const { isPaid } = parts;
    parts.isPaid = (authorization = '') => authorization.startsWith('Bearer ') && isPaid(authorization);
  }),
  broken(
    'facts, Token',
    'every token is refused: the key is fetched from an address that does not exist',
    'gate.valid-token',
    (parts) => {
      parts.isPaid = () => false;
    },
  ),
];

/** Faults in reading a token that no rule names. */
export const brokenTokenReaders = [
  broken(
    'facts, Token',
    'PS256 is accepted',
    ['gate.other-algorithm'],
    alsoSignedAs('PS256', byKey('RSA-SHA256', constants.RSA_PKCS1_PSS_PADDING)),
  ),
  broken(
    'facts, Token',
    'an issuer that starts like the right one is accepted',
    ['gate.similar-issuer'],
    check('issuer', ({ claims }, { trust }) => String(claims.iss).startsWith(trust.issuer)),
  ),
  broken(
    'facts, Token',
    'a token that was accepted once is accepted after its expiry',
    ['gate.expired-after-success'],
    (parts) => {
      const { isPaid } = parts;
      const accepted = new Set<string>();
      parts.isPaid = (authorization = '') => {
        if (!accepted.has(authorization) && isPaid(authorization)) accepted.add(authorization);
        return accepted.has(authorization);
      };
    },
  ),
];
