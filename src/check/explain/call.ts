import { contrast, type Explanation, type Explanations, exchange } from './model.ts';

const failure =
  '{"isError": true, "content": [{"type": "text", "text": "{\\"price\\":null,\\"error\\":…}"}], "structuredContent": {"price": null, "error": "SOURCE_DOWN", "message": "The exchange does not answer."}}';
const empty =
  '{"structuredContent": {"price": null, "searchExhausted": true, "noResultsReason": "Nobody trades this coin."}, …}';

function result(why: string, bad: string, good: string): Explanation {
  return exchange(why, 'tools/call get_price', bad, good);
}

function refusedArguments(why: string, args: string): Explanation {
  return exchange(
    why,
    `tools/call get_price ${args}`,
    '{"structuredContent": {"price": null}, …}   as if nothing were wrong',
    '{"isError": true, "structuredContent": {"price": null, "error": "INVALID_ARGUMENTS", "message": "symbol: expected type string"}, …}',
  );
}

/** Results, their outcomes, calls that cannot be served, and the submission test. */
export const callExplanations: Explanations = {
  'result.content': result(
    'Older clients, and the submission test, read the text and nothing else.',
    '{"content": [], "structuredContent": {"price": 64000}}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], "structuredContent": {"price": 64000}}',
  ),
  'result.json-text': result(
    'The text is parsed as JSON and validated. A sentence around the data fails.',
    '{"content": [{"type": "text", "text": "The price is 64000."}], …}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], …}',
  ),
  'result.structured': result(
    'A tool that declares an outputSchema must return structuredContent: the client of the SDK throws without it.',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}]}',
    '{"content": […], "structuredContent": {"price": 64000}}',
  ),
  'result.fits': result(
    'What does not fit the declared schema is a failure to the runtime, and users can have their money back.',
    '{"structuredContent": {"price": "64000"}, …}',
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'result.failure-fits': result(
    'Clients of the SDK validate failures as well: one that lacks required fields throws, and its message is lost.',
    '{"isError": true, "structuredContent": {"error": "SOURCE_DOWN", "message": "…"}, …}   where price is required',
    failure,
  ),
  'result.same-data': result(
    'Some callers read the text, others the structure. Both have paid for the same answer.',
    '{"content": [{"type": "text", "text": "{\\"price\\":63999}"}], "structuredContent": {"price": 64000}}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], "structuredContent": {"price": 64000}}',
  ),
  'result.declared-fields': result(
    'A field that the schema does not name is invisible to whoever plans with the schema.',
    '{"structuredContent": {"price": 64000, "src": "x"}, …}   where only price is declared',
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'result.no-lost-values': result(
    'JSON knows no NaN, undefined or Date. What is left of them in a string is worse than a null: it looks like data.',
    '{"structuredContent": {"price": "NaN"}, …}',
    '{"structuredContent": {"price": null}, …}',
  ),
  'result.no-refusal': result(
    'Prose that says "not found" looks like an answer that failed: the platform asks again. A signal says that this is the answer.',
    '{"structuredContent": {"summary": "No data available."}, …}',
    empty,
  ),
  'result.size': result(
    'A result goes into the context of a language model; what does not fit is cut off or dropped.',
    '{"structuredContent": {"trades": [… 200,000 of them]}, …}',
    '{"structuredContent": {"trades": [… 100 of them], "nextPage": 2}, …}',
  ),
  'result.schema-copy': result(
    'A copy of the schema that says something else than the listing leaves open by which one the result is judged.',
    '{"_meta": {"outputSchema": {"type": "object"}}, …}',
    '{"_meta": {"outputSchema": <the declared one>}, …}   or none',
  ),
  'outcome.found': contrast(
    'An example is a promise of the author about this very tool.',
    '{"arguments": {"symbol": "BTC"}, "expect": "found"}\n→ {"structuredContent": {"price": null, "searchExhausted": true}, …}',
    '{"arguments": {"symbol": "BTC"}, "expect": "found"}\n→ {"structuredContent": {"price": 64000}, …}',
  ),
  'outcome.empty': contrast(
    'Zero results without an explicit signal make the platform repeat the call.',
    '{"arguments": {"symbol": "XYZ"}, "expect": "empty"}\n→ {"structuredContent": {"price": null}, …}',
    `{"arguments": {"symbol": "XYZ"}, "expect": "empty"}\n→ ${empty}`,
  ),
  'outcome.fail': contrast(
    'A failure that is told as data is taken for data, and paid for.',
    '{"arguments": {"symbol": "DOWN"}, "expect": "fail"}\n→ {"structuredContent": {"price": 0}, …}',
    `{"arguments": {"symbol": "DOWN"}, "expect": "fail"}\n→ ${failure}`,
  ),
  'outcome.failure-payload': result(
    'The runtime decides by the code whether to retry, and shows the message to the user.',
    '{"isError": true, "content": [{"type": "text", "text": "oops"}]}',
    failure,
  ),
  'outcome.empty-signal': exchange(
    'Without a signal an empty answer looks like a mistake: the platform asks again and again. The check calls each tool it may call once with texts that nobody has heard of.',
    'tools/call with {"symbol": "zq7-unheard-of-4kx"}',
    '{"structuredContent": {"symbol": null, "price": null}, …}',
    '{"structuredContent": {"symbol": null, "price": null, "searchExhausted": true}, …}',
  ),
  'outcome.repeatable': exchange(
    'The platform tries a step up to three times. A call that counts twice, or is refused the second time, does harm.',
    'the same tools/call, twice',
    'data, then a failure "already requested"',
    'data, then the same kind of data',
  ),
  'outcome.in-time': exchange(
    'The platform gives up after its limit, and the user has paid for nothing.',
    'tools/call get_price',
    'an answer after 90 s',
    'a failure with error: "DEADLINE_EXCEEDED" two seconds before that limit, at the latest',
  ),
  'outcome.client': exchange(
    'The client of the SDK validates every result against the outputSchema, formats included, and throws where it does not fit.',
    'client.callTool({name: "get_price", …})',
    "McpError -32602: Structured content does not match the tool's output schema",
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'call.unknown-tool': exchange(
    'An agent that misspelt a name can correct itself when it is told which name is unknown.',
    'tools/call no_such_tool',
    '{"error": {"code": -32603, "message": "Internal error"}}',
    '{"isError": true, "content": [{"type": "text", "text": "Unknown tool: no_such_tool"}]}',
  ),
  'call.unknown-tool-names': contrast(
    'In a plain object "constructor" is always found: the server then calls what is not a tool.',
    'const tool = tools[name];',
    'const tool = toolsByName.get(name); // a Map',
  ),
  'call.wrong-arguments': refusedArguments(
    'A handler that gets what its schema forbids returns nonsense, and nobody learns why.',
    '{"symbol": 5}',
  ),
  'call.missing-arguments': refusedArguments(
    'An agent adds what is missing when it is told; an empty answer tells it nothing.',
    '{}',
  ),
  'call.no-arguments-object': exchange(
    'Arguments are named. A server that takes a list or a text works on something no schema has checked.',
    'tools/call get_price "BTC"',
    '{"structuredContent": …}',
    '{"error": {"code": -32602, "message": "arguments must be an object"}}',
  ),
  'call.no-stack': exchange(
    'What a handler throws may hold paths, keys and the data of others.',
    'tools/call get_price',
    '{"isError": true, "content": [{"type": "text", "text": "TypeError: … at run (/app/dist/tools/price.js:12:9)"}]}',
    failure,
  ),
  'submission.succeeds': exchange(
    'The test sends the default or the first example of each required parameter, and nothing else: a tool that fails on those is listed as one that fails.',
    'tools/call with the sample arguments',
    '{"isError": true, "structuredContent": {"error": "DEADLINE_EXCEEDED", …}}',
    '{"structuredContent": {"price": 64000}, …}',
  ),
  'submission.calls': exchange(
    'One exception in the test, and the submission is rejected.',
    'client.callTool({name: "get_price", arguments: {"symbol": "test"}})',
    'McpError: …',
    '{"content": [{"type": "text", "text": "{…}"}], …}',
  ),
  'submission.text': exchange(
    'The test parses content[0].text and validates that, not structuredContent.',
    'client.callTool({name: "get_price", arguments: {"symbol": "BTC"}})',
    '{"content": [{"type": "text", "text": "BTC: 64000"}], …}',
    '{"content": [{"type": "text", "text": "{\\"price\\":64000}"}], …}',
  ),
  'submission.in-time': contrast(
    'One token of two minutes serves the whole sequence: the tools that are called after its end are refused.',
    '10 tools, 20 s each: the seventh call gets 401',
    '10 tools, 2 s each',
  ),
};
