import { estimatedTokens } from '../definition/tokens.ts';
import { grouped } from '../json/grouped.ts';
import { cachedByObject } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import { problemsAt, problemUnless, type StaticRule, should } from './rule.ts';
import { isText } from './schema-problems.ts';

/** Limits in tokens for a definition and a list, as `estimatedTokens` counts. */
export const budgets = { tool: 2_000, list: 20_000 } as const;
const descriptionCharacters = 1_024;

/** The cost of a tool's definition for a model. */
export const fitSizeRules: readonly StaticRule[] = [
  {
    ...should(
      'fit.tokens-tool',
      'house estimate: no published limit; a definition of 500 tokens is already a long one',
    ),
    title: `no definition has more than ${grouped(budgets.tool)} tokens`,
    fix: 'Shorten descriptions and enums, remove fields that nobody needs, or split the tool.',
    inspect: (tool) =>
      problemUnless(tokensOf(tool) <= budgets.tool, {
        expected: `at most ${grouped(budgets.tool)} tokens (estimated)`,
        actual: `about ${grouped(tokensOf(tool))}`,
      }),
  },
  {
    ...should(
      'fit.tokens-list',
      'code.claude.com/docs/en/mcp: with ENABLE_TOOL_SEARCH=auto, what exceeds 10 % of the context is not loaded; house estimate: a context of 200,000 tokens',
    ),
    title: `the list of tools has at most ${grouped(budgets.list)} tokens`,
    fix: 'Shorten the largest definitions first, or split the server.',
    inspect: (tool, siblings) => {
      const ownTokens = tokensOf(tool);
      const isLargest = siblings.every((sibling) => tokensOf(sibling) <= ownTokens);
      const allTokens = siblings.reduce((sum, sibling) => sum + tokensOf(sibling), ownTokens);
      const expected = `at most ${grouped(budgets.list)} tokens (estimated)`;
      const actual = `about ${grouped(allTokens)}; the largest tool takes ${grouped(ownTokens)}`;
      return problemsAt(!isLargest || allTokens <= budgets.list, 'tools/list result.tools', expected, actual);
    },
  },
  {
    ...should(
      'fit.description-length',
      'OpenAI API, tools[].function.description: string_above_max_length (maximum 1024); code.claude.com/docs/en/mcp: truncated at 2 KB',
    ),
    title: `no description of a tool is longer than ${grouped(descriptionCharacters)} characters`,
    fix: 'Say what the tool returns and when to use it. Move the rest to the parameters or to your documentation.',
    inspect: ({ description }) =>
      problemUnless(!isText(description) || description.length <= descriptionCharacters, {
        path: 'description',
        expected: `at most ${grouped(descriptionCharacters)} characters`,
        actual: `${isText(description) ? grouped(description.length) : 0} characters`,
      }),
  },
];

const tokensOf = cachedByObject((tool: JsonObject) => estimatedTokens(JSON.stringify(tool)));
