import { grouped } from '../grouped.ts';
import type { JsonObject } from '../model.ts';
import { type StaticRule, unless } from '../rule.ts';
import { estimatedTokens } from '../tokens.ts';
import { isText } from './read.ts';

/** Limits in tokens for a definition and a list, as `estimatedTokens` counts. */
const budgets = { tool: 2_000, list: 20_000 } as const;
const descriptionCharacters = 1_024;

/** The cost of a tool's definition for a model. */
export const fitSizeRules: readonly StaticRule[] = [
  {
    id: 'fit.tokens-tool',
    level: 'should',
    title: `no definition has more than ${grouped(budgets.tool)} tokens`,
    source: 'a budget of this check: four times the mean of large public servers, which is about 500',
    fix: 'Shorten descriptions and enums, remove fields that nobody needs, or split the tool.',
    inspect: (tool) =>
      unless(tokensOf(tool) <= budgets.tool, {
        expected: `at most ${grouped(budgets.tool)} tokens (estimated)`,
        actual: `about ${grouped(tokensOf(tool))}`,
      }),
  },
  {
    id: 'fit.tokens-list',
    level: 'should',
    title: `the list of tools has at most ${grouped(budgets.list)} tokens`,
    source:
      'Claude Code docs, MCP: beyond 10 % of the context (20,000 of 200,000 tokens) tools are not loaded',
    fix: 'Shorten the largest definitions first, or split the server.',
    inspect: (tool, siblings) => {
      const own = tokensOf(tool);
      const isLargest = siblings.every((other) => tokensOf(other) <= own);
      const all = siblings.reduce((sum, other) => sum + tokensOf(other), own);
      return unless(!isLargest || all <= budgets.list, {
        path: 'tools/list result.tools',
        expected: `at most ${grouped(budgets.list)} tokens (estimated)`,
        actual: `about ${grouped(all)}; the largest tool takes ${grouped(own)}`,
      });
    },
  },
  {
    id: 'fit.description-length',
    level: 'should',
    title: `no description of a tool is longer than ${grouped(descriptionCharacters)} characters`,
    source: 'OpenAI API: a longer description of a function is refused; Claude Code docs, MCP: cut at 2 KB',
    fix: 'Say what the tool returns and when to use it. Move the rest to the parameters or to your documentation.',
    inspect: ({ description }) =>
      unless(!isText(description) || description.length <= descriptionCharacters, {
        path: 'description',
        expected: `at most ${grouped(descriptionCharacters)} characters`,
        actual: `${isText(description) ? grouped(description.length) : 0} characters`,
      }),
  },
];

const known = new WeakMap<JsonObject, number>();

function tokensOf(tool: JsonObject): number {
  const counted = known.get(tool) ?? estimatedTokens(JSON.stringify(tool));
  known.set(tool, counted);
  return counted;
}
