import { setTimeout as delay } from 'node:timers/promises';
import { onlyReads } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, shorten } from 'market-mcp-contract/json';
import { resultText } from 'market-mcp-contract/wire';
import type { CallOrder, CallReport } from './caller.ts';
import type { BuyerTool, Mode } from './model.ts';
import { hasNoMismatch } from './verdict.ts';

/**
 * Limits of a run, which are printed with it. The contract gives none (C§8): the number of retries, the calls of one
 * turn and the pause are those of the public marketplace (app lib/ai/skills/mcp.ts), the rest is this emulator's choice.
 */
export const thresholds = {
  /** Calls of one tool, including the first, while its answers must be retried. */
  attempts: 4,
  /**
   * Calls of one tool that return nothing without an empty-result signal, before the run counts as fan-out to the same endpoint.
   */
  fanOut: 5,
  /** Calls of one turn. */
  calls: 100,
  /** Milliseconds between two calls. */
  pauseMs: 200,
  /** Tools that the ranking may choose. */
  tools: 3,
  /** The minimum score for a tool to be chosen: the share of the question's words that it contains. */
  score: 0.2,
} as const;

export interface UserQuestion {
  readonly question: string;
  readonly mode: Mode;
  /** Names of the tools that the user picked, in order; only in the mode `manual`. */
  readonly picked: readonly string[];
  /** Arguments by tool, instead of those of the submission test. */
  readonly arguments: { readonly [tool: string]: Json };
}

/** Why a run ended. Every ending except `answered` leads to a bounded answer: what the evidence allows (C§7). */
export type AskEnding =
  | 'answered'
  | 'explicit-empty'
  | 'fan-out'
  | 'upstream-abort'
  | 'capability-miss'
  | 'call-limit';

/** One call of a run, and the decision after it. */
export interface AskCall {
  readonly tool: string;
  readonly attempt: number;
  readonly report: CallReport;
  readonly decision: string;
}

export interface AskRun {
  readonly question: UserQuestion;
  readonly ranking: readonly Candidate[];
  readonly selected: readonly string[];
  readonly calls: readonly AskCall[];
  readonly ending: AskEnding;
  readonly ms: number;
}

export interface AskWorld {
  /** The buyers' view: the tools of all listings, as stored. */
  readonly tools: readonly BuyerTool[];
  call(order: CallOrder): Promise<CallReport>;
  /** The arguments that the submission test would send. */
  sample(definition: JsonObject): JsonObject;
  onCall?(call: AskCall): void;
  /** Milliseconds between two calls; `thresholds.pauseMs` by default. */
  readonly pauseMs?: number;
}

/**
 * The platform's iterative loop without a model, deterministic and bounded: it calls one tool after the other, retries
 * after a schema mismatch or a recoverable error, and stops on an explicit empty result, on fan-out to
 * the same endpoint and on an upstream abort (C§7).
 */
export async function ask(question: UserQuestion, world: AskWorld): Promise<AskRun> {
  const started = Date.now();
  const ranking = rank(question.question, world.tools, question.mode);
  const selected = select(question, ranking);
  const calls: AskCall[] = [];
  const finish = (ending: AskEnding): AskRun => ({
    question,
    ranking,
    selected: selected.map(({ name }) => name),
    calls,
    ending,
    ms: Date.now() - started,
  });
  let hasEvidence = false;
  for (const tool of selected) {
    for (let attempt = 1; ; attempt++) {
      if (calls.length >= thresholds.calls) return finish('call-limit');
      if (calls.length > 0) await delay(world.pauseMs ?? thresholds.pauseMs);
      const report = await world.call(orderFor(tool, question, world));
      const next = onceIfWriting(tool, decideRetry(report, attempt));
      const call = { tool: tool.name, attempt, report, decision: next.why };
      calls.push(call);
      world.onCall?.(call);
      hasEvidence ||= next.evidence === true;
      if (next.stop) return finish(next.stop);
      if (!next.again) break;
    }
  }
  return finish(hasEvidence ? 'answered' : 'capability-miss');

  function select({ mode, picked }: UserQuestion, ranked: readonly Candidate[]): readonly BuyerTool[] {
    const known = (name: string) => world.tools.filter((tool) => tool.name === name).slice(0, 1);
    if (mode === 'manual') return picked.flatMap(known);
    return ranked
      .filter(({ score }) => score >= thresholds.score)
      .slice(0, thresholds.tools)
      .flatMap(({ tool }) => known(tool));
  }
}

function orderFor(tool: BuyerTool, question: UserQuestion, world: AskWorld): CallOrder {
  const given = Object.hasOwn(question.arguments, tool.name) ? question.arguments[tool.name] : undefined;
  return {
    endpoint: tool.endpoint,
    tool: tool.name,
    arguments: given ?? world.sample(tool.definition),
    definition: tool.definition,
    purpose: 'ask',
  };
}

interface Decision {
  /** Retry this tool. */
  readonly again?: boolean;
  readonly stop?: AskEnding;
  readonly evidence?: boolean;
  readonly why: string;
}

/** A rehearsal does not repeat a call that may change something, although the platform does. */
function onceIfWriting({ definition }: BuyerTool, decision: Decision): Decision {
  if (!decision.again || onlyReads(definition)) return decision;
  return {
    why: `${decision.why}. The platform does that; here, a tool that may change something is called once`,
  };
}

/** The runtime's decision after a call (C§7, "Caller-side recovery"). */
export function decideRetry({ verdict, result, error, status }: CallReport, attempt: number): Decision {
  const retry = (why: string): Decision =>
    attempt < thresholds.attempts
      ? { again: true, why: `${why}: try again (${attempt} of ${thresholds.attempts} attempts)` }
      : { why: `${why}: given up after ${attempt} attempts, a capability miss` };
  const { outcome } = verdict;
  if (outcome === 'no-answer' || status >= 500) {
    return { stop: 'upstream-abort', why: `upstream abort (${shorten(error, 120)}): stop` };
  }
  if (outcome === 'refused') return { why: 'the token was refused: a capability miss' };
  if (outcome === 'error' || outcome === 'http-error') {
    return { why: `no result (${shorten(error, 120)}): a capability miss` };
  }
  if (!hasNoMismatch(verdict)) return retry('the result does not match its schema');
  if (outcome === 'fail') {
    const shown = shorten(result?.structuredContent ?? result?.content, 120);
    return isRecoverable(result)
      ? retry(`a recoverable error (${shown})`)
      : { why: `an error that a retry does not change (${shown}): a capability miss` };
  }
  if (outcome === 'empty')
    return { stop: 'explicit-empty', why: 'an explicit empty result is the answer: stop' };
  if (outcome === 'empty-unsigned') {
    return attempt < thresholds.fanOut
      ? {
          again: true,
          why: `nothing found, and no signal that this is the answer: call again (${attempt} of ${thresholds.fanOut})`,
        }
      : { stop: 'fan-out', why: `${attempt} calls of the same endpoint without evidence: stop` };
  }
  return { evidence: true, why: 'data that fits the schema: evidence' };
}

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
function isRecoverable(result: JsonObject | null): boolean {
  return passing.test(
    `${resultText(result?.content) ?? ''} ${JSON.stringify(result?.structuredContent ?? '')}`,
  );
}
