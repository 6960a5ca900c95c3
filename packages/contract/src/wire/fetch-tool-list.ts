import { objectOr, textOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { bounds } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import type { HttpAnswer } from './http.ts';
import { NoAnswer, Unanswered } from './receive.ts';
import { describe, type RpcAnswer } from './rpc.ts';

/** The elements of all pages of a tool list. */
export interface ToolList {
  readonly tools: readonly Json[];
  /** Whether the last page was read; false if a limit was reached before it. */
  readonly isComplete: boolean;
  /** The page that repeats an earlier one, so that the list has no end. Its tools count once. */
  readonly loop?: { readonly page: number; readonly repeats: number; readonly cursor: Json };
}

/** A tool list, as far as it could be read. */
export interface FetchedToolList extends ToolList {
  /** The first page that contains no list. */
  readonly fault?: PageFault;
}

interface PageFault {
  /** The number of the page, from 1. */
  readonly page: number;
  readonly problem: Problem;
  /** The answer without a list; absent if there was no answer. */
  readonly answer?: HttpAnswer;
  /** The error of a missing answer, with the same problem. */
  readonly noAnswer?: NoAnswer;
}

/**
 * The elements of the tool list as the server sends it, page by page, up to the limits or to the first page without a list.
 *
 * @param ask sends tools/list with these params.
 */
export async function fetchToolList(ask: (params?: Json) => Promise<RpcAnswer>): Promise<FetchedToolList> {
  const tools: Json[] = [];
  const pagesByToolNames = new Map<string, number>();
  let cursor: Json | undefined;
  for (let page = 1; page <= bounds.pages && tools.length <= bounds.tools; page++) {
    const params = cursor === undefined ? undefined : { cursor };
    const answer = await ask(params).catch(asNoAnswer);
    const result = resultOf(answer);
    if (!Array.isArray(result?.tools)) return { tools, isComplete: false, fault: pageFault(page, answer) };
    const toolNames = JSON.stringify(result.tools.map((tool) => textOr(objectOr(tool).name)));
    const repeatedPage = pagesByToolNames.get(toolNames);
    if (repeatedPage !== undefined && cursor !== undefined && result.tools.length > 0)
      return { tools, isComplete: false, loop: { page, repeats: repeatedPage, cursor } };
    pagesByToolNames.set(toolNames, page);
    for (const tool of result.tools) tools.push(tool);
    cursor = result.nextCursor ?? undefined;
    if (cursor === undefined) return { tools, isComplete: true };
  }
  return { tools, isComplete: false };
}

function resultOf(answer: RpcAnswer | NoAnswer): JsonObject | undefined {
  if (answer instanceof NoAnswer) return undefined;
  return answer.result;
}

function asNoAnswer(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  throw error;
}

function pageFault(page: number, answer: RpcAnswer | NoAnswer): PageFault {
  const problem = {
    path: page === 1 ? 'tools/list' : `tools/list, page ${page}`,
    expected: 'a result with tools',
    actual: answer instanceof NoAnswer ? answer.message : describe(answer.http),
    ...(page > 1 && { fix: nextPageFix }),
  };
  if (answer instanceof NoAnswer) return { page, problem, noAnswer: new Unanswered([problem]) };
  return { page, problem, answer: answer.http };
}

const nextPageFix = 'Answer each nextCursor that you send with the next page, or send no nextCursor.';

/** The problem of a page without a list. @throws NoAnswer if there was no answer. */
export function toolListProblems({ fault }: FetchedToolList): readonly Problem[] {
  if (fault?.noAnswer) throw fault.noAnswer;
  if (fault) return [fault.problem];
  return [];
}
