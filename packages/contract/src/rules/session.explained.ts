import { contrast, type Explanations, exchange } from './explanation.ts';

const invalid = '400 {"error": "Invalid session"}';
const list = '{"method": "tools/list", …}';

function refused(request: string, why: string): ReturnType<typeof exchange> {
  return exchange(why, request, '200, or 500', invalid);
}

const lost =
  'This answer tells a caller that its session is lost and that it must open a new one. Any other answer leaves it guessing.';
const guessed =
  'An id that the server never issued must be refused. Otherwise anyone who guesses or changes an id gets into the session of another user.';
const member =
  'A plain object always has members such as "__proto__" and "constructor". A server that looks sessions up in one then uses something that is not a session.';

/** Sessions. */
export const sessionExplanations: Explanations = {
  'session.open': exchange(
    'Callers send the id with every later request. Without it they cannot continue.',
    'POST /mcp  {"method": "initialize", …}',
    '200',
    '200, mcp-session-id: 7f0c1e2a-…',
  ),
  'session.id-characters': exchange(
    'The id is sent in a header, and only visible ASCII characters are safe there.',
    'POST /mcp  {"method": "initialize", …}',
    '200, mcp-session-id: "session 1"',
    '200, mcp-session-id: 7f0c1e2a-…',
  ),
  'session.unguessable': exchange(
    'Whoever knows the id of a session sends requests in it. Some servers count their sessions or use the time: anyone can derive the ids of others from their own. Four ids are compared: the characters in which they differ must have room for 44 random bits.',
    'POST /mcp  {"method": "initialize", …}, twice',
    '200, mcp-session-id: 1041   and   200, mcp-session-id: 1042',
    '200, mcp-session-id: 7f0c1e2a-…   and   200, mcp-session-id: a91b33d0-…',
  ),
  'session.header-case': exchange(
    'Names of headers have no case in HTTP. Proxies and clients in other languages spell this one differently.',
    'POST /mcp  {"method": "tools/list", …}, Mcp-Session-Id: <id>',
    '400 {"error": "Invalid session"}',
    '200 {"result": …}',
  ),
  'session.unique': exchange(
    'Two callers with one id share a session, and one of them can read the answers of the other. A server with one session for the whole process serves only its first caller.',
    'POST /mcp  {"method": "initialize", …}, twice',
    '200, mcp-session-id: 1   and   200, mcp-session-id: 1; or 500 to the second',
    '200, mcp-session-id: 7f0c…   and   200, mcp-session-id: a91b…',
  ),
  'session.lasting': exchange(
    'The platform opens one session and calls many tools in it.',
    `POST /mcp  ${list}, in the same session for the third time`,
    invalid,
    '200 {"result": …}',
  ),
  'session.two-at-once': contrast(
    'A shared server object of the SDK throws an exception on the second connection ("Already connected to a transport"), or sends answers to the wrong caller.',
    'const server = new Server(…);\napp.post("/mcp", () => server.connect(new Transport()));',
    'app.post("/mcp", () => createServer().connect(new Transport()));',
  ),
  'session.parallel': exchange(
    'Many users call a listed tool at the same time.',
    'twenty times at once: initialize, then prompts/list',
    'some 200, some 500',
    '200 each',
  ),
  'session.missing-post': refused(`POST /mcp  ${list}, no mcp-session-id`, lost),
  'session.unknown-post': refused(`POST /mcp  ${list}, mcp-session-id: 00000000-…`, lost),
  'session.missing-get': refused('GET /mcp, no mcp-session-id', lost),
  'session.unknown-get': refused('GET /mcp, mcp-session-id: 00000000-…', lost),
  'session.tampered': refused(`POST /mcp  ${list}, an id with one character changed`, guessed),
  'session.tampered-get': refused('GET /mcp, an id with one character changed', guessed),
  'session.long': refused(`POST /mcp  ${list}, an id of 4,096 characters`, guessed),
  'session.long-get': refused('GET /mcp, an id of 4,096 characters', guessed),
  'session.prototype': refused(`POST /mcp  ${list}, mcp-session-id: __proto__`, member),
  'session.prototype-get': refused('GET /mcp, mcp-session-id: constructor', member),
  'session.missing-call': refused(
    'POST /mcp  {"method": "tools/call", …}, a valid token, no mcp-session-id',
    'A token shows who pays, not to which session a call belongs. Callers rely on the same answer for every request without a session.',
  ),
  'session.get-known': exchange(
    'Clients open a stream after initialize. For some of them, an error there ends the session.',
    'GET /mcp, mcp-session-id of an open session',
    '500',
    '200 text/event-stream, or 405',
  ),
  'session.foreign-initialize': exchange(
    'If the server accepts an id chosen by a caller, that caller can make another user share the session.',
    'POST /mcp  {"method": "initialize", …}, mcp-session-id: 00000000-…',
    '200',
    invalid,
  ),
  'session.delete': exchange(
    'A caller that ends its session expects that nobody can use it afterwards.',
    'DELETE /mcp, then POST or GET /mcp in the same session',
    '204, then 200',
    `204, then ${invalid}   (or 405 to DELETE)`,
  ),
  'session.delete-unknown': exchange(
    'An id that is unknown on POST is unknown on DELETE, too.',
    'DELETE /mcp, mcp-session-id: 00000000-…',
    '204, or 500',
    invalid,
  ),
};
