import { estimatedTokens } from '../definition/tokens.ts';
import { grouped } from '../json/grouped.ts';
import { isObject } from '../json/json.ts';
import { resultText } from '../wire/rpc.ts';
import { resultRule } from './result.ts';
import { type LiveRule, problemsAt, should } from './rule.ts';

const maxTokens = 25_000;

/** The cost of a result for the model that reads it. */
export const fitResultRule: LiveRule = resultRule({
  ...should(
    'fit.result-tokens',
    'code.claude.com/docs/en/mcp: MAX_MCP_OUTPUT_TOKENS is 25,000 unless set; claude.com/docs/connectors/building: about 150,000 characters in Claude.ai',
  ),
  title: 'no result has more than 25,000 tokens',
  fix: 'Split the result into pages, let the caller choose fields, or summarize it. Hosts keep longer results from the model.',
  findProblems: ({ content, structuredContent }) => {
    const text =
      resultText(content) ?? (isObject(structuredContent) ? JSON.stringify(structuredContent) : '');
    const tokens = estimatedTokens(text);
    const expected = 'at most 25,000 tokens (estimated)';
    return problemsAt(tokens <= maxTokens, 'result.content[0].text', expected, `about ${grouped(tokens)}`);
  },
});
