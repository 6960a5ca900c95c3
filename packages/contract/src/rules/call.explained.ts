import { contrast, type Explanation, type Explanations, exchange } from './explanation.ts';

const failure =
  '{"isError": true, "content": [{"type": "text", "text": "{\\"price\\":null,\\"error\\":…}"}], "structuredContent": {"price": null, "error": "SOURCE_DOWN", "message": "The exchange did not answer."}}';
const empty =
  '{"structuredContent": {"price": null, "searchExhausted": true, "noResultsReason": "This coin is not traded."}, …}';

function result(why: string, bad: string, good: string): Explanation {
  return exchange(why, 'tools/call get_price', bad, good);
}

function refusedArguments(why: string, args: string): Explanation {
  return exchange(
    why,
    `tools/call get_price ${args}`,
    '{"structuredContent": {"price": null}, …}   as if the call had succeeded',
    '{"isError": true, "structuredContent": {"price": null, "error": "INVALID_ARGUMENTS", "message": "symbol: expected type string"}, …}',
  );
}

/** Results, their outcomes, invalid calls, and the submission test. */
export const callExplanations: Explanations = {
  'result.content': result(
    'Older clients and the submission test read only the text.',
    '{"content": [], "structuredContent": {"price": 64000}}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], "structuredContent": {"price": 64000}}',
  ),
  'result.json-text': result(
    'The text is parsed as JSON and validated. A sentence around the data fails.',
    '{"content": [{"type": "text", "text": "The price is 64000."}], …}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], …}',
  ),
  'result.structured': result(
    'A tool with an outputSchema must return structuredContent. Without it, the client of the SDK throws an exception.',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}]}',
    '{"content": […], "structuredContent": {"price": 64000}}',
  ),
  'result.fits': result(
    'The platform treats a result that does not match the declared schema as a failure, and users can demand a refund.',
    '{"structuredContent": {"price": "64000"}, …}',
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'result.failure-flagged': contrast(
    'A caller reads isError to decide whether the call has failed. Without it, it shows the failure as data, and asks nobody again.',
    '{"structuredContent": {"price": null, "error": "SOURCE_DOWN", "message": "…"}, …}',
    '{"isError": true, "structuredContent": {"price": null, "error": "SOURCE_DOWN", "message": "…"}, …}',
  ),
  'result.no-error': contrast(
    'A caller reads isError to decide whether to ask again. With an error in a successful result, it shows the error as data.',
    '{"structuredContent": {"price": null, "error": "SOURCE_DOWN"}, …}',
    '{"isError": true, "structuredContent": {"price": null, "error": "SOURCE_DOWN", "message": …}, …}',
  ),
  'result.failure-fits': result(
    'Clients of the SDK validate failures, too. A failure without the required fields becomes an exception, and its message is lost.',
    '{"isError": true, "structuredContent": {"error": "SOURCE_DOWN", "message": "…"}, …}   but price is required',
    failure,
  ),
  'result.same-data': result(
    'Some callers read the text, others structuredContent. Both have paid for the same data.',
    '{"content": [{"type": "text", "text": "{\\"price\\":63999}"}], "structuredContent": {"price": 64000}}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], "structuredContent": {"price": 64000}}',
  ),
  'result.declared-fields': result(
    'An agent plans with the schema, so it does not see a field that the schema does not declare.',
    '{"structuredContent": {"price": 64000, "src": "x"}, …}   but only price is declared',
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'result.no-lost-values': result(
    'JSON has no NaN, undefined or Date. A string such as "NaN" is worse than null, because it looks like data.',
    '{"structuredContent": {"price": "NaN"}, …}',
    '{"structuredContent": {"price": null}, …}',
  ),
  'result.no-refusal': result(
    'To the platform, prose such as "not found" looks like an incomplete answer, so it asks again. A signal marks the answer as final.',
    '{"structuredContent": {"summary": "No data available."}, …}',
    empty,
  ),
  'result.size': result(
    'A result becomes part of the context of a language model. If it is too long, it is truncated or dropped.',
    '{"structuredContent": {"trades": [… 200,000 of them]}, …}',
    '{"structuredContent": {"trades": [… 100 of them], "nextPage": 2}, …}',
  ),
  'result.schema-copy': result(
    'If a result contains a schema that differs from the listed one, it is unclear which of them applies.',
    '{"_meta": {"outputSchema": {"type": "object"}}, …}',
    '{"_meta": {"outputSchema": <the declared one>}, …}   or none',
  ),
  'outcome.found': contrast(
    'With an example, the author promises how the tool behaves.',
    '{"arguments": {"symbol": "BTC"}, "expect": "found"}\n→ {"structuredContent": {"price": null, "searchExhausted": true}, …}',
    '{"arguments": {"symbol": "BTC"}, "expect": "found"}\n→ {"structuredContent": {"price": 64000}, …}',
  ),
  'outcome.empty': contrast(
    'The platform repeats a call that returns no data and no signal of an empty result.',
    '{"arguments": {"symbol": "XYZ"}, "expect": "empty"}\n→ {"structuredContent": {"price": null}, …}',
    `{"arguments": {"symbol": "XYZ"}, "expect": "empty"}\n→ ${empty}`,
  ),
  'outcome.fail': contrast(
    'A failure that is returned as data is treated as data, and the user pays for it.',
    '{"arguments": {"symbol": "DOWN"}, "expect": "fail"}\n→ {"structuredContent": {"price": 0}, …}',
    `{"arguments": {"symbol": "DOWN"}, "expect": "fail"}\n→ ${failure}`,
  ),
  'outcome.failure-payload': result(
    'The platform decides by the code whether to retry, and shows the message to the user.',
    '{"isError": true, "content": [{"type": "text", "text": "oops"}]}',
    failure,
  ),
  'outcome.empty-signal': exchange(
    'Without a signal, an empty answer looks like an error, and the platform asks again. To test this, the check calls each permitted tool once with made-up texts.',
    'tools/call with {"symbol": "zq7-unheard-of-4kx"}',
    '{"structuredContent": {"symbol": null, "price": null}, …}',
    '{"structuredContent": {"symbol": null, "price": null, "searchExhausted": true}, …}',
  ),
  'outcome.repeatable': exchange(
    'The platform tries a step up to three times. A call that takes effect twice, or that is refused the second time, harms the user.',
    'the same tools/call, twice',
    'data, then a failure "already requested"',
    'data, then the same kind of data',
  ),
  'outcome.in-time': exchange(
    'The platform gives up at its time limit, and the user has paid for nothing.',
    'tools/call get_price',
    'an answer after 90 s',
    'a failure with error: "DEADLINE_EXCEEDED", at least two seconds before that limit',
  ),
  'outcome.client': exchange(
    'The client of the SDK validates every result against the outputSchema, formats included. If it does not match, the client throws an exception.',
    'client.callTool({name: "get_price", …})',
    "McpError -32602: Structured content does not match the tool's output schema",
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'call.answered': exchange(
    'A caller has paid. Without a result it has nothing to show, and no code that says whether to ask again.',
    'tools/call get_price {"symbol": "BTC"}',
    'HTTP 500 Internal Server Error',
    '{"isError": true, "content": […], "structuredContent": {"error": "SOURCE_DOWN", "message": …}}',
  ),
  'call.unknown-tool': exchange(
    'An agent that misspells a name can correct itself if the answer says which name is unknown.',
    'tools/call no_such_tool',
    '{"error": {"code": -32603, "message": "Internal error"}}',
    '{"isError": true, "content": [{"type": "text", "text": "Unknown tool: no_such_tool"}]}',
  ),
  'call.unknown-tool-names': contrast(
    'A plain object always has a member "constructor". A server that looks tools up in one then calls something that is not a tool.',
    'const tool = tools[name];',
    'const tool = toolsByName.get(name); // a Map',
  ),
  'call.wrong-arguments': refusedArguments(
    'A handler that receives arguments which its schema forbids returns nonsense, and nobody learns why.',
    '{"symbol": 5}',
  ),
  'call.missing-arguments': refusedArguments(
    'An agent adds the missing argument if the answer names it. An empty answer does not help it.',
    '{}',
  ),
  'call.no-arguments-object': exchange(
    'Arguments are named members of an object. A list or a text is not covered by the schema, so nothing has validated it.',
    'tools/call get_price "BTC"',
    '{"structuredContent": …}',
    '{"error": {"code": -32602, "message": "arguments must be an object"}}',
  ),
  'call.no-stack': exchange(
    'An exception may contain file paths, keys and data of other users.',
    'tools/call get_price',
    '{"isError": true, "content": [{"type": "text", "text": "TypeError: … at run (/app/dist/tools/price.js:12:9)"}]}',
    failure,
  ),
  'submission.succeeds': exchange(
    'The test sends only the default or the first example of each required parameter. A tool that fails with those arguments is listed as failing.',
    'tools/call with the sample arguments',
    '{"isError": true, "structuredContent": {"error": "DEADLINE_EXCEEDED", …}}',
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'submission.calls': exchange(
    'One exception in the test rejects the submission.',
    'client.callTool({name: "get_price", arguments: {"symbol": "test"}})',
    'McpError: …',
    '{"content": [{"type": "text", "text": "{…}"}], …}',
  ),
  'submission.text': exchange(
    'The test parses and validates content[0].text, not structuredContent.',
    'client.callTool({name: "get_price", arguments: {"symbol": "BTC"}})',
    '{"content": [{"type": "text", "text": "BTC: 64000"}], …}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], …}',
  ),
  'submission.in-time': contrast(
    'The test calls all tools with one token that is valid for two minutes. Calls after that are refused.',
    '10 tools, 20 s each: the seventh call gets 401',
    '10 tools, 2 s each',
  ),
};
