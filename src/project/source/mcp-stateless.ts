import { isObject, jsonIn } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import { eventValues, isEventStream } from '../../contract/probe/events.ts';
import { metaKey, modernMessage } from '../../contract/probe/modern.ts';

/** One page of the tools of a server without sessions. */
export interface StatelessPage {
  readonly tools: readonly JsonObject[];
  readonly nextCursor: string | undefined;
  /** Name of the server, if it gives one. */
  readonly title: string;
}

/**
 * Requests one page of tools by MCP 2026-07-28.
 *
 * @param send `fetch` with limits of time and size, and with the token
 * @throws Error with the server's answer
 */
export async function statelessPage(
  url: string,
  cursor: string | undefined,
  send: typeof fetch,
): Promise<StatelessPage> {
  const { body, headers } = modernMessage('tools/list', cursor === undefined ? {} : { cursor });
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await send(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...Object.fromEntries(given),
    },
    body: JSON.stringify(body),
    redirect: 'error',
  });
  const text = await response.text();
  const values = isEventStream(response.headers.get('content-type')) ? eventValues(text) : jsonIn(text);
  const answer = values.find((value): value is JsonObject => isObject(value) && value.id === body.id);
  if (!isObject(answer?.result) || !Array.isArray(answer.result.tools))
    throw Object.assign(new Error(reasonOf(answer?.error, response.status)), { code: response.status });
  const { tools, nextCursor, _meta } = answer.result;
  const info = isObject(_meta) ? _meta[metaKey('serverInfo')] : undefined;
  return {
    tools: tools.filter(isObject),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
    title: isObject(info) && typeof info.name === 'string' ? info.name : '',
  };
}

function reasonOf(error: Json | undefined, status: number): string {
  return isObject(error) && typeof error.message === 'string'
    ? error.message
    : `HTTP ${status} without a list of tools`;
}
