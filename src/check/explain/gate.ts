import { type Explanation, type Explanations, exchange } from './model.ts';

const call = 'POST /mcp  {"method": "tools/call", …}';
const ran = '200, and the tool has run';
const refused = '401 {"error": "Unauthorized"}';

function token(why: string, header: string): Explanation {
  return exchange(why, `${call}, Authorization: ${header}`, ran, refused);
}

function bypass(why: string, request: string): Explanation {
  return exchange(why, `POST /mcp  ${request}, no token`, ran, `${refused}, or 400`);
}

const anyone =
  'Only the signature shows that the platform has issued a token. Who accepts another one gives away what it sells.';
const claims =
  'A signature proves who wrote the claims, not that they allow this call: each claim has to be looked at as well.';
const batch =
  'The public middleware looks at body.method. An array has none, so it lets the batch pass, and the transport runs every call in it.';

/** Who passes authentication. */
export const gateExplanations: Explanations = {
  'gate.valid-token': exchange(
    'A gate that also keeps out the platform earns nothing. Mostly the audience differs: it is the registered URL, letter by letter.',
    `${call}, Authorization: Bearer <token of the platform>`,
    refused,
    '200 {"result": …}',
  ),
  'gate.scheme-case': exchange(
    'HTTP compares the scheme without case, and some clients write it in lower case.',
    `${call}, Authorization: bearer <token of the platform>`,
    refused,
    '200 {"result": …}',
  ),
  'gate.no-token': exchange(
    'The token is the proof of payment. Without this check every call is free, for everyone.',
    `${call}, no Authorization`,
    ran,
    refused,
  ),
  'gate.garbage': token('A gate that only looks whether there is a header is none.', 'Bearer garbage'),
  'gate.empty-token': token('An empty token must not pass for a token that was not asked for.', 'Bearer'),
  'gate.other-scheme': token(
    'What stands behind another scheme is not bearer token, and nobody has promised to check it.',
    'Basic <token of the platform>',
  ),
  'gate.wrong-key': token(anyone, 'Bearer <signed with a key of my own>'),
  'gate.embedded-key': token(
    'A token may carry a key in its header. Who verifies with that key verifies that the forger has signed it.',
    'Bearer <signed with a key that its header brings along>',
  ),
  'gate.alg-none': token(
    'JWT knows unsigned tokens (alg none); a library that is not told which algorithms to accept may take them.',
    'Bearer eyJhbGciOiJub25lIn0.<any claims>.',
  ),
  'gate.public-key-as-secret': token(
    'Where the algorithm is taken from the token, a forger chooses HS256 and signs with the public key, which everybody knows.',
    'Bearer <HS256, with the public key as the secret>',
  ),
  'gate.other-algorithm': token(
    'The platform uses one algorithm. Every further one that is accepted is one more that may break.',
    'Bearer <RS512 instead of RS256>',
  ),
  'gate.expired': token(
    'A token lives two minutes. If an old one stays good, one payment buys calls for ever.',
    'Bearer <exp two minutes ago>',
  ),
  'gate.no-expiry': token('A token without exp would be good for ever.', 'Bearer <no exp>'),
  'gate.not-yet-valid': token(claims, 'Bearer <nbf in ten minutes>'),
  'gate.wrong-issuer': token(claims, 'Bearer <iss https://attacker.example>'),
  'gate.no-issuer': token(claims, 'Bearer <no iss>'),
  'gate.wrong-audience': token(
    'A token that was paid for another server must not be good for this one: else that server can spend it here.',
    'Bearer <aud https://other.example/mcp>',
  ),
  'gate.no-audience': token('A token for nobody in particular would be good everywhere.', 'Bearer <no aud>'),
  'gate.similar-audience': token(
    'The audience is compared as a whole: a URL that begins alike can belong to somebody else.',
    'Bearer <aud https://tools.example.com/mcp/other>',
  ),
  'gate.tampered': token(anyone, 'Bearer <claims changed, signature kept>'),
  'gate.tampered-after-success': token(
    'A cache of verified tokens that goes by a part of the token lets in whatever shares that part.',
    'Bearer <claims changed, signature of a token that was accepted>',
  ),
  'gate.batch': bypass(batch, '[{"method": "tools/call", …}]'),
  'gate.batch-mixed': bypass(batch, '[{"method": "tools/list", …}, {"method": "tools/call", …}]'),
  'gate.batch-nested': bypass(batch, '[[{"method": "tools/call", …}]]'),
  'gate.content-type': bypass(
    'Where the gate lets a body pass that its parser skipped, and the transport then parses it by itself, an odd Content-Type is a way around.',
    '{"method": "tools/call", …}, Content-Type: application/json;',
  ),
  'gate.method-spelling': bypass(
    'The gate and the handler must read the same name: JSON can write it in many ways.',
    '{"method": "tools\\u002fcall", …}',
  ),
  'gate.duplicate-keys': bypass(
    'Parsers disagree on which of two equal keys counts. If the gate reads one and the handler the other, the call runs unpaid.',
    '{"method": "tools/list", "method": "tools/call", …}',
  ),
  'gate.notification': bypass(
    'A call without an id gets no answer, but it runs: somebody pays for what it does.',
    '{"method": "tools/call", "params": …} without an id',
  ),
  'gate.trusted-headers': bypass(
    'Headers that a proxy would set are set by anyone who reaches the server without it.',
    '{"method": "tools/call", …}, X-Payment-Verified: true',
  ),
  'gate.unknown-tool': bypass(
    'The refusal comes first: who has not paid learns nothing about which tools exist behind the gate.',
    '{"method": "tools/call", "params": {"name": "no_such_tool"}}',
  ),
  'gate.every-call': bypass(
    'Each call is paid for by itself. A session that remembers a payment gives every later call away.',
    '{"method": "tools/call", …} in a session with an earlier paid call',
  ),
};
