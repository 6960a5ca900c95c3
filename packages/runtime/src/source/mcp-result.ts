// From the result of a tool of an MCP server to an answer.

import { parseExactly } from '../server/exact-numbers.ts';
import { isObject } from '../server/schema.ts';
import { foreignLine } from './failure-reason.ts';
import { SourceError } from './source-errors.ts';

/** The result of a request to an MCP server. */
export interface McpResult {
  readonly protocolVersion?: unknown;
  readonly resultType?: unknown;
  readonly structuredContent?: { readonly [name: string]: unknown };
  readonly content?: unknown;
  readonly isError?: unknown;
}

/**
 * `text`: the text of a tool that does not say what it returns becomes `{ result }`. `result`: the answer, such as a map, becomes
 * `{ result }`. `items`: a list becomes `{ items, count }`.
 */
export type Wrap = 'text' | 'items' | 'result' | undefined;

/** Whether a result is empty. A blank text is empty only for a tool that changes nothing. */
export function isEmptyResult(
  { structuredContent, content }: McpResult,
  wrap: Wrap,
  isReadOnly: boolean,
): boolean {
  const isBlank = wrap === 'text' && isReadOnly && contentText(content).trim() === '';
  return isBlank || structuredContent?.searchExhausted === true;
}

/**
 * The answer in a result: its structured content, or else its text, which may be JSON.
 *
 * @throws SourceError if the answer is a text, and the source also sent something else
 */
export function mcpAnswer(
  { structuredContent, content }: McpResult,
  wrap: Wrap,
  parse = parseExactly,
): unknown {
  const text = contentText(content);
  if (wrap === 'text') {
    const otherPart = contentParts(content).find((part) => partText(part) === undefined);
    if (otherPart === undefined) return { result: text };
    const kind = otherPart.type === 'image' || otherPart.type === 'audio' ? otherPart.type : 'a file';
    const message = `The source answered with content that is not text (${kind}), which this tool cannot pass on.`;
    throw new SourceError('SOURCE_NOT_TEXT', message);
  }
  const answer = structuredContent ?? parseContainer(text, parse);
  if (wrap === 'items' && Array.isArray(answer)) return { items: answer, count: answer.length };
  if (wrap === 'result') return { result: answer };
  return answer;
}

/** A result with another answer and without its text, which would repeat the answer. */
export function withReplacedAnswer(result: McpResult, answer: unknown, wrap: Wrap): object {
  const isWrapped = (wrap === 'result' || wrap === 'items') && isObject(answer) && wrap in answer;
  const structuredContent = isWrapped ? answer[wrap] : answer;
  if (wrap === 'text') return result;
  return { ...result, structuredContent, content: [] };
}

/** A part of the content of a result. */
interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly resource?: { readonly text?: unknown };
  readonly uri?: unknown;
}

function contentParts(content: unknown): readonly Part[] {
  if (Array.isArray(content)) return content.filter((part) => typeof part === 'object' && part !== null);
  return [];
}

/** The text of a part: of a resource, its text; of a link to one, its URI. Undefined if it is no text. */
function partText({ type, text, resource, uri }: Part): string | undefined {
  const texts: { readonly [type: string]: unknown } = { text, resource: resource?.text, resource_link: uri };
  const mappedText = typeof type === 'string' && Object.hasOwn(texts, type) ? texts[type] : undefined;
  if (typeof mappedText === 'string') return mappedText;
  return undefined;
}

function contentText(content: unknown): string {
  return contentParts(content)
    .flatMap((part) => partText(part) ?? [])
    .join('\n');
}

/** The error for a failed result, with the text of the tool as one safe line. */
export function mcpFailure({ structuredContent, content }: McpResult): SourceError {
  const { message } = structuredContent ?? {};
  const line = foreignLine(typeof message === 'string' ? message : contentText(content));
  return new SourceError('SOURCE_FAILED', line === '' ? 'The source failed.' : `The source failed: ${line}`);
}

/** A text as a JSON object or list; undefined if it is none. */
export function parseContainer<T extends object>(text: string, parse = parseExactly): T | undefined {
  try {
    const value = parse(text);
    if (typeof value === 'object' && value !== null) return value as T;
    return undefined;
  } catch {
    return undefined;
  }
}
