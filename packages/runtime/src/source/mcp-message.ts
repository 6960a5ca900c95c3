// The result in the response of an MCP server, or the error for it.

import { findLongNumbers, parseLiterally, writeLiterally } from '../server/exact-numbers.ts';
import { isObject } from '../server/schema.ts';
import { attachExplanation } from './failure-log.ts';
import { type McpResult, parseContainer } from './mcp-result.ts';
import { SourceError, unavailableError } from './source-errors.ts';
import { rejectedError, statusError } from './status-errors.ts';

/** A JSON-RPC message of an MCP server. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: McpResult;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

const invalidParams = -32602;

/** Errors of a server that speaks another version: method not found, header mismatch, unsupported protocol version. */
const otherVersion: readonly unknown[] = [-32601, -32020, -32022];

/** The response to a request, with the message in its event stream. */
export interface McpAnswer {
  readonly response: Response;
  /** Its body. */
  readonly text: string;
  /** The response in its event stream; undefined if there is none. */
  readonly streamed: Message | undefined;
}

/** The result of a request as JSON. @throws SourceError, without keys */
export async function resultIn(
  { response, text, streamed }: McpAnswer,
  id: number,
  isReadOnly: boolean,
  redact: (text: string) => string,
): Promise<string> {
  const { status, headers } = response;
  const message = response.ok ? (streamed ?? messageIn(text, headers, id)) : parseContainer<Message>(text);
  if (otherVersion.includes(message?.error?.code))
    throw new SourceError('SOURCE_MISCONFIGURED', 'The source speaks another version of MCP.');
  if (!response.ok) {
    const error = statusError({ status, headers, text: redact(text) }, isReadOnly);
    throw attachExplanation(error, { status, detail: `HTTP ${status}` });
  }
  if (message?.error?.code === invalidParams) throw rejectedError(redact(writeLiterally(message.error)));
  if (message?.result === undefined) throw unavailableError(isReadOnly);
  if (!isObject(message.result)) throw unknownForm();
  const { resultType = 'complete' } = message.result;
  if (resultType !== 'complete')
    throw new SourceError('SOURCE_FAILED', 'The source asks for further input, which this tool cannot give.');
  return writeLiterally(message.result);
}

/** Parses JSON so that `writeLiterally` writes its numbers unchanged. */
export function literally(text: string): unknown {
  const isChanged = findLongNumbers(text) !== undefined || /\de\+?\d{3}/i.test(text);
  if (isChanged) return parseLiterally(text);
  return JSON.parse(text);
}

/** The response to a request in JSON. */
function messageIn(text: string, headers: Headers, id: number): Message {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream');
  const message = isStream ? undefined : parseContainer<Message>(text, literally);
  if (message?.id !== id) throw unknownForm();
  return message;
}

/** The error for a response that is not valid MCP. */
export const unknownForm = () =>
  new SourceError('SOURCE_MALFORMED', 'The source answered in a form that this tool does not know.');
