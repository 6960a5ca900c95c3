import { onlyReads } from '../../contract/effect.ts';
import { isObject } from '../../contract/json.ts';
import type { JsonObject } from '../../contract/model.ts';
import { textOf } from '../../contract/probe/rpc.ts';
import type { BuyerTool, Mode } from './model.ts';

/** A tool and how well it matches a question. */
export interface Candidate {
  readonly tool: string;
  readonly endpoint: string;
  /** 0 to 1: the share of the question's words that occur in the name or the description; the name counts double. */
  readonly score: number;
  readonly words: readonly string[];
  /** The reason why it may not be chosen in this mode. */
  readonly excluded?: string;
}

const common = new Set(
  'a an and are as at be by can do does for from get give has have how i in is it its me my of on or show tell that the their there this to use was were what when where which who why will with you your'.split(
    ' ',
  ),
);

/** The words of a text in lower case, without common words and plural s. */
function wordsIn(text: string): readonly string[] {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return [
    ...new Set(
      (words ?? []).filter((word) => !common.has(word)).map((word) => word.replace(/(?<=..[^s])s$/, '')),
    ),
  ];
}

/** All tools, best match first; ties in the order of the listings. */
export function rank(question: string, tools: readonly BuyerTool[], mode: Mode): readonly Candidate[] {
  const asked = wordsIn(question);
  return tools
    .map(({ name, endpoint, definition }): Candidate => {
      const inName = new Set(wordsIn(name));
      const inText = new Set(
        wordsIn(typeof definition.description === 'string' ? definition.description : ''),
      );
      const words = asked.filter((word) => inName.has(word) || inText.has(word));
      const points = words.reduce((sum, word) => sum + (inName.has(word) ? 2 : 1), 0);
      const score = asked.length === 0 ? 0 : Math.min(1, points / asked.length);
      const excluded = mode === 'manual' ? undefined : exclusion(definition, mode);
      const base = { tool: name, endpoint, score: excluded ? 0 : score, words };
      return excluded ? { ...base, excluded } : base;
    })
    .toSorted((a, b) => b.score - a.score);
}

/** The reason why only a person may choose a tool. */
function exclusion(definition: JsonObject, mode: Mode): string | undefined {
  const meta = isObject(definition._meta) ? definition._meta : {};
  if (meta.queryEligible === false) return '_meta.queryEligible is false';
  if (mode === 'query' && meta.surface === 'execute') return '_meta.surface is "execute"';
  return onlyReads(definition) ? undefined : 'it may change something: only the mode manual calls it';
}

/** Texts in a failure that make the public marketplace retry the call (app lib/ai/skills/mcp.ts). */
const passing =
  /ECONNRESET|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|500|502|503|504/i;

/** Whether the platform retries a call that failed this way. */
export function isRecoverable(result: JsonObject | null): boolean {
  return passing.test(`${textOf(result?.content) ?? ''} ${JSON.stringify(result?.structuredContent ?? '')}`);
}
