import { contrast, type Explanation, type Explanations, exchange } from './explanation.ts';

function accepted(header: string): Explanation {
  return exchange(
    'The contract allows any Accept header, or none. The bare transport of the SDK answers 406 unless Accept names both media types.',
    `POST /mcp  {"method": "tools/list", …}, ${header}`,
    '406 Not Acceptable',
    '200 {"result": {"tools": […]}}',
  );
}

function illFormed(what: string): Explanation {
  return exchange(
    'A caller learns from a 4xx that its request is invalid. A 200 hides that, a 500 blames the server, and a crash ends it.',
    `POST /mcp  ${what}`,
    '500, or 200',
    '400 {"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
  );
}

function large(length: string): Explanation {
  return exchange(
    'If a server stores bodies of any size, anyone can exhaust its memory without paying.',
    `POST /mcp  a body of 4 MB, ${length}`,
    '200',
    '413',
  );
}

function slow(what: string): Explanation {
  return exchange(
    'Anyone can open connections and send slowly. If each of them blocks a worker, eight are enough to stop the server for paying users.',
    `eight clients that do not finish their ${what}; GET /health meanwhile`,
    'no answer',
    '200',
  );
}

/** HTTP around the messages. */
export const httpExplanations: Explanations = {
  'http.accept-absent': accepted('no Accept'),
  'http.accept-any': accepted('Accept: */*'),
  'http.accept-json': accepted('Accept: application/json'),
  'http.accept-events': accepted('Accept: text/event-stream'),
  'http.charset': exchange(
    'Many HTTP clients add the charset automatically.',
    'POST /mcp, Content-Type: application/json; charset=utf-8',
    '415',
    '200 {"result": …}',
  ),
  'http.chunked': exchange(
    'A client that does not know the length of its body sends it in chunks. Every HTTP/1.1 server must read them.',
    'POST /mcp, Transfer-Encoding: chunked',
    '411 Length Required',
    '200 {"result": …}',
  ),
  'http.cors': exchange(
    'A page in a browser sends only headers that the server allows, and reads only those that it exposes. Without the session id it gets no further than initialize.',
    'POST /mcp  {"method": "initialize", …}, Origin: https://ctxprotocol.com',
    '200, Access-Control-Allow-Origin: https://ctxprotocol.com',
    '200, Access-Control-Allow-Origin: https://ctxprotocol.com, Access-Control-Expose-Headers: mcp-session-id',
  ),
  'http.any-host': exchange(
    'In production, the Host header contains the public name of the server. Frameworks that allow only localhost refuse every call.',
    'POST /mcp, Host: tools.example.com',
    '403 Invalid Host header',
    '200 {"result": …}',
  ),
  'http.content-type': exchange(
    'A browser sends text/plain to other origins without a preflight request. If the server reads it as JSON, any web page can call the server.',
    'POST /mcp, Content-Type: text/plain',
    '200 {"result": …}',
    '415',
  ),
  'http.malformed': illFormed('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"'),
  'http.empty': illFormed('nothing'),
  'http.not-object': illFormed('"tools/list"'),
  'http.null': illFormed('null'),
  'http.foreign-origin': exchange(
    'A web page must not be able to use a server on the machine or in the network of its visitor.',
    'POST /mcp, Origin: https://attacker.example',
    '200 {"result": …}',
    '403',
  ),
  'http.other-methods': exchange(
    'A path that answers every HTTP method may skip authentication for some of them.',
    'PUT /mcp  {"method": "tools/list", …}',
    '200 {"result": …}',
    '405',
  ),
  'http.stream-ends': exchange(
    'A stream that stays open after the response costs both sides one connection for each call, until one side has none left.',
    'POST /mcp  {"id": 1, "method": "tools/list"}',
    'data: {"id": 1, "result": …}   and the stream stays open for minutes',
    'data: {"id": 1, "result": …}   and the stream ends',
  ),
  'http.no-product-header': exchange(
    'Names and versions of software tell an attacker which known vulnerabilities to try.',
    'GET /health',
    '200, X-Powered-By: Express',
    '200',
  ),
  'http.no-stack': exchange(
    'A stack trace shows paths, versions and sometimes data of other callers.',
    'POST /mcp  {',
    '400 SyntaxError: … at JSON.parse (<anonymous>) at /app/node_modules/body-parser/lib/types/json.js:92:19',
    '400 {"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
  ),
  'http.large-body': large('Content-Length: 4194304'),
  'http.large-body-chunked': large('Transfer-Encoding: chunked'),
  'http.deep-body': contrast(
    'JSON nested 20,000 levels deep is small, but overflows the stack of recursive code.',
    'POST /mcp  [[[[[…]]]]]\n→ 500, or the end of the process',
    'POST /mcp  [[[[[…]]]]]\n→ 400',
  ),
  'http.slow-headers': slow('headers'),
  'http.slow-body': slow('bodies'),
};
