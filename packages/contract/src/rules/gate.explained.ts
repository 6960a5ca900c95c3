import { type Explanation, type Explanations, exchange } from './explanation.ts';

const call = 'POST /mcp  {"method": "tools/call", …}';
const ran = '200, and the tool runs';
const refused = '401 {"error": "Unauthorized"}';

function token(why: string, header: string): Explanation {
  return exchange(why, `${call}, Authorization: ${header}`, ran, refused);
}

function bypass(why: string, request: string): Explanation {
  return exchange(why, `POST /mcp  ${request}, no token`, ran, `${refused}, or 400`);
}

const anyone =
  'Only the signature proves that the platform issued the token. A server that accepts other tokens gives its calls away.';
const claims =
  'A signature proves who wrote the claims, not that they allow this call. Each claim must be verified, too.';
const batch =
  'The public middleware reads body.method. An array has no method, so the middleware accepts the batch, and the transport runs every call in it.';

/** Rules about authentication. */
export const gateExplanations: Explanations = {
  'gate.valid-token': exchange(
    'A server that refuses the platform earns nothing. The usual cause is the audience: it must be the registered URL, byte for byte.',
    `${call}, Authorization: Bearer <token of the platform>`,
    refused,
    '200 {"result": …}',
  ),
  'gate.scheme-case': exchange(
    'HTTP compares the scheme case-insensitively, and some clients write it in lower case.',
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
  'gate.garbage': token(
    'A server that only checks that the header exists accepts any text as a payment.',
    'Bearer garbage',
  ),
  'gate.empty-token': token('An empty token is no proof of payment.', 'Bearer'),
  'gate.other-scheme': token(
    'What follows another scheme, such as Basic, is not a bearer token. A server that ignores the scheme checks less than it promises.',
    'Basic <token of the platform>',
  ),
  'gate.wrong-key': token(anyone, "Bearer <signed with the forger's own key>"),
  'gate.embedded-key': token(
    'A token may contain a key in its header. Verification with that key only proves that the forger signed it.',
    'Bearer <signed with a key in its own header>',
  ),
  'gate.alg-none': token(
    'JWT allows unsigned tokens (alg none). A library that is not told which algorithms to accept may accept them.',
    'Bearer eyJhbGciOiJub25lIn0.<any claims>.',
  ),
  'gate.public-key-as-secret': token(
    'If the server reads the algorithm from the token, a forger chooses HS256 and signs with the public key, which is known to everyone.',
    'Bearer <HS256, with the public key as the secret>',
  ),
  'gate.other-algorithm': token(
    'The platform uses one algorithm. Each additional one that the server accepts is an additional risk.',
    'Bearer <RS512 or PS256 instead of RS256>',
  ),
  'gate.expired': token(
    'A token is valid for two minutes. If the server accepts expired tokens, one payment buys calls forever.',
    'Bearer <exp two minutes ago>',
  ),
  'gate.expired-after-success': token(
    'A cache of verified tokens must forget each token when it expires. Otherwise one payment buys calls for as long as the cache lasts.',
    'Bearer <expired, and accepted before it expired>',
  ),
  'gate.long-lived': token(
    'The tokens of the platform are valid for two minutes. One that is valid for years did not come from there, or was leaked.',
    'Bearer <exp in ten years>',
  ),
  'gate.issued-later': token(
    'A token from the future can be stored and used when the clock has reached it.',
    'Bearer <iat in an hour>',
  ),
  'gate.similar-issuer': token(
    'The whole issuer must match. Anyone can register a name that begins like it.',
    'Bearer <iss https://ctxprotocol.com.attacker.example>',
  ),
  'gate.no-expiry': token('A token without exp would be valid forever.', 'Bearer <no exp>'),
  'gate.not-yet-valid': token(claims, 'Bearer <nbf in ten minutes>'),
  'gate.wrong-issuer': token(claims, 'Bearer <iss https://attacker.example>'),
  'gate.no-issuer': token(claims, 'Bearer <no iss>'),
  'gate.wrong-audience': token(
    'A token for another server must not be valid here. Otherwise that server could use the tokens it receives to call this one.',
    'Bearer <aud https://other.example/mcp>',
  ),
  'gate.no-audience': token(
    'A token without an audience would be valid for every server.',
    'Bearer <no aud>',
  ),
  'gate.similar-audience': token(
    'The whole audience must match. A URL with the same beginning may belong to someone else.',
    'Bearer <aud https://tools.example.com/mcp/other>',
  ),
  'gate.other-audiences': token(
    'A token for other servers must not be valid here, however many they are. A server that only looks for a list accepts them all.',
    'Bearer <aud ["https://other.example/mcp", "https://third.example/mcp"]>',
  ),
  'gate.several-audiences': token(
    'The tokens of the platform name one server. Each server that a token names can use it at the others.',
    'Bearer <aud [this server, "https://other.example/mcp"]>',
  ),
  'gate.expired-lately': token(
    'Clocks differ by seconds. A longer tolerance lengthens the life of every stolen token.',
    'Bearer <exp ten seconds ago>',
  ),
  'gate.claim-types': token(
    'A comparison of a text with a number may be true, false or neither. A token whose times are no numbers was not issued by the platform.',
    'Bearer <exp "1800000000">',
  ),
  'gate.unknown-critical': token(
    'crit names what a server must understand before it accepts the token. A server that does not look accepts tokens whose conditions it does not know.',
    'Bearer <header: crit ["x-unknown"]>',
  ),
  'gate.other-type': token(
    'Tokens for other purposes may be signed with the same key. The type keeps them apart.',
    'Bearer <header: typ "logout+jwt">',
  ),
  'gate.unknown-key-id': exchange(
    'The key id comes from the caller, before anything is verified. An error of the server for an unknown one tells a caller more than a refusal, and hides the reason.',
    `${call}, Authorization: Bearer <header: kid "no-such-key">`,
    '500',
    `${refused}, or 200 if the signature is right`,
  ),
  'gate.large-token': exchange(
    'Anyone can send a large header. It must not become an error of the server.',
    `${call}, Authorization: Bearer <20 kB>`,
    '500',
    '431, or 401 {"error": "Unauthorized"}',
  ),
  'gate.every-tool': bypass(
    'Authentication that is attached to each tool is missing at the one that was added last.',
    '{"method": "tools/call", "params": {"name": "<each tool>", "arguments": <refused by its inputSchema>}}',
  ),
  'gate.other-address': bypass(
    'A router may serve /mcp/ like /mcp, while authentication compares the path with /mcp.',
    'at /mcp/, /MCP, //mcp, /mcp?x=1: {"method": "tools/call", …}',
  ),
  'gate.token-elsewhere': bypass(
    'Addresses are written to logs on their way, and a browser sends cookies for any page. A token there is soon known to others.',
    'at /mcp?access_token=<token of the platform>: {"method": "tools/call", …}',
  ),
  'gate.tampered': token(anyone, 'Bearer <claims changed, signature kept>'),
  'gate.tampered-after-success': token(
    'A cache of verified tokens must use the whole token as its key. With only a part, it accepts every token that shares this part.',
    'Bearer <claims changed, signature of a token that was accepted>',
  ),
  'gate.batch': bypass(batch, '[{"method": "tools/call", …}]'),
  'gate.batch-mixed': bypass(batch, '[{"method": "tools/list", …}, {"method": "tools/call", …}]'),
  'gate.batch-nested': bypass(batch, '[[{"method": "tools/call", …}]]'),
  'gate.content-type': bypass(
    'If the middleware skips a body with an unusual Content-Type but the transport parses it, the call bypasses authentication.',
    '{"method": "tools/call", …}, Content-Type: application/json;',
  ),
  'gate.method-spelling': bypass(
    'Authentication and the handler must read the same method name, because JSON can spell it in many ways.',
    '{"method": "tools\\u002fcall", …}',
  ),
  'gate.duplicate-keys': bypass(
    'Parsers disagree on which of two equal keys counts. If authentication reads one and the handler the other, the call runs unpaid.',
    '{"method": "tools/list", "method": "tools/call", …}',
  ),
  'gate.notification': bypass(
    'A call without an id gets no answer, but the tool runs, and the author bears the cost.',
    '{"method": "tools/call", "params": …} without an id',
  ),
  'gate.trusted-headers': bypass(
    'Anyone who reaches the server directly can send the headers that a proxy would set.',
    '{"method": "tools/call", …}, X-Payment-Verified: true',
  ),
  'gate.unknown-tool': bypass(
    'Authentication comes first: an unpaid call must not reveal which tools exist.',
    '{"method": "tools/call", "params": {"name": "no_such_tool"}}',
  ),
  'gate.every-call': bypass(
    'Each call is paid separately. If a session remembers a payment, every later call is free.',
    '{"method": "tools/call", …} in a session with an earlier paid call',
  ),
};
