import { contrast, type Explanations, exchange } from './explanation.ts';

/** Rules about everything that a server says. */
export const answerExplanations: Explanations = {
  'answers.utf8': exchange(
    'A reader that expects UTF-8 shows other characters, or refuses the whole answer. The report names the first wrong byte.',
    'POST /mcp  {"method": "tools/list", …}',
    '200, "Gr\\xF6\\xDFe": ISO 8859-1',
    '200, "Gr\\xC3\\xB6\\xC3\\x9Fe": UTF-8',
  ),
  'answers.type': exchange(
    'A client decides by the Content-Type how it reads the body. With another one it throws the answer away.',
    'POST /mcp  {"method": "tools/list", …}',
    '200, Content-Type: text/html  {"jsonrpc": "2.0", …}',
    '200, Content-Type: application/json  {"jsonrpc": "2.0", …}',
  ),
  'answers.numbers': contrast(
    'Most readers turn such a number into infinity or null, and none says so. The caller pays for a wrong value.',
    '{"structuredContent": {"supply": 1e400}}',
    '{"structuredContent": {"supply": "1e400"}}',
  ),
  'answers.surrogates': contrast(
    'Half of a pair is no character. Some readers refuse the answer, others show a replacement.',
    String.raw`{"text": "Done \ud83d"}`,
    String.raw`{"text": "Done \ud83d\ude00"}`,
  ),
  'answers.no-secrets': contrast(
    'A failure that repeats the request of the tool gives its API key to every caller.',
    '{"isError": true, "content": [{"type": "text", "text": "GET https://api.example.com/x?api_key=8f1d… failed"}]}',
    '{"isError": true, "content": [{"type": "text", "text": "The API did not answer."}]}',
  ),
};
