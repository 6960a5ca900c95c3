import { posixLine, shortenRuns } from '../command/shell.ts';
import { present, visibleJson } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Target } from '../target.ts';
import { rpcRequest } from './rpc.ts';

/** A tools/call to send again. */
export interface RepeatedCall {
  readonly name: string;
  /** Undefined: without the member. */
  readonly arguments: JsonObject | undefined;
  readonly meta?: JsonObject | undefined;
}

/** Where `npm run dev` serves a project; its server in a check ends with the check. */
export const projectUrl = 'http://localhost:3000/mcp';

/**
 * The command lines that send a call again, for a POSIX shell: curl, with the session and the token in variables, and `market-mcp call`
 * where it can send the same.
 */
export function repeatLines({ url, profile, owned }: Target, call: RepeatedCall): readonly string[] {
  const { header, scheme } = profile.token;
  const params = present<Json>({ name: call.name, arguments: call.arguments, _meta: call.meta });
  const line = posixLine([
    'curl',
    '-sS',
    owned ? projectUrl : url,
    '-H',
    'content-type: application/json',
    '-H',
    'accept: application/json, text/event-stream',
  ]);
  const variables = `-H "mcp-session-id: $SESSION" -H "${header}: ${scheme} $TOKEN"`;
  const body = quoteArguments(rpcRequest(1, 'tools/call', params));
  const curlCommand = `${line} ${variables} -d ${body}`;
  if (call.arguments === undefined || call.meta !== undefined) return [curlCommand];
  const callCommand = `npx market-mcp call ${posixLine([call.name])} ${quoteArguments(call.arguments)}`;
  return [curlCommand, owned ? callCommand : `${callCommand} --endpoint ${posixLine([url])}`];
}

function quoteArguments(value: JsonObject): string {
  return shortenRuns(posixLine([visibleJson(JSON.stringify(value))]));
}
