import { isObject, shorten } from '../json/json.ts';
import type { Problem } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { isDenial, rpcMessages } from '../wire/access.ts';
import { curlLine } from '../wire/curl-line.ts';
import type { HttpAnswer, SentRequest } from '../wire/http.ts';
import { noSuchTool } from '../wire/probe.ts';
import { describe, isDeniedByStatus, type RpcAnswer } from '../wire/rpc.ts';
import { problemUnless } from './rule.ts';

/** The problem of an HTTP answer to a request, named by the path, unless the condition is true. */
export function answerProblems(
  holds: boolean,
  path: string | undefined,
  expected: string,
  answer: HttpAnswer,
): readonly Problem[] {
  const problem = { ...(path !== undefined && { path }), expected, actual: describe(answer) };
  return problemUnless(holds, problem).map(withRequestCommand(answer));
}

/** Adds to a problem of an answer the command that sends its request again. */
export function withRequestCommand(answer: HttpAnswer): (problem: Problem) => Problem {
  return (problem) => ({ ...problem, ...(answer.request && { request: curlLine(answer.request) }) });
}

/** Adds to a problem of an answer the command that sends its request again, and the fix if the answer names the reason. */
export function withRefusalFix(answer: HttpAnswer): (problem: Problem) => Problem {
  const fix = refusalFix(answer);
  const addCommand = withRequestCommand(answer);
  return (problem) => addCommand(fix === undefined ? problem : { ...problem, fix });
}

/** The refusal of an unpaid call (C§7, first row). */
export function unauthorizedProblems(
  answer: HttpAnswer,
  { token }: PlatformProfile,
  path?: string,
): readonly Problem[] {
  const status = token.refusalStatus;
  const isRefused = status === null ? isClientError(answer) : answer.status === status;
  const isUnauthorized = isRefused && responseError(answer) === 'Unauthorized';
  return answerProblems(isUnauthorized, path, `HTTP ${status ?? '4xx'} {"error":"Unauthorized"}`, answer);
}

/** The answer to a call without a valid token. */
export interface Attempt {
  readonly answer: HttpAnswer;
  /** The request, for the report. */
  readonly path: string;
}

/** A method that needs no token may answer, because the body also names one. A call may not, not even of a tool that does not exist. */
export function ranProblems({ answer, path }: Attempt): readonly Problem[] {
  const hasRun = rpcMessages(answer).some((message) => {
    if (isDenial(message, answer)) return false;
    const { result, error } = message;
    const namesTool = isObject(error) && shorten(error).includes(noSuchTool);
    return (isObject(result) && 'content' in result) || (namesTool && !isDeniedByStatus(answer));
  });
  return answerProblems(!hasRun, path, 'no result from a tool', answer);
}

/** The refusal of a request outside any session (C§7, second and third row). */
export function invalidSessionProblems(answer: HttpAnswer, path?: string): readonly Problem[] {
  const isInvalid = answer.status === 400 && responseError(answer) === 'Invalid session';
  return answerProblems(isInvalid, path, 'HTTP 400 {"error":"Invalid session"}', answer);
}

/** Whether a request was refused as it should be, but not in the words of C§7: a server has one place that writes them. */
export function isOtherRefusal({ expected, actual }: Problem): boolean {
  return /^HTTP 4\S\S \{"error":/.test(expected) && /\bHTTP 4\d\d/.test(actual);
}

/** A request that must be refused with any 4xx and without a result. */
export function rejectedProblems(answer: HttpAnswer, path?: string): readonly Problem[] {
  const isRejected = isClientError(answer) && !holdsResult(answer);
  return answerProblems(isRejected, path, 'HTTP 4xx and no result', answer);
}

/** A JSON-RPC request that must be answered with a result. */
export function resultProblems({ http, result }: RpcAnswer, path?: string): readonly Problem[] {
  const holds = http.status === 200 && result !== undefined;
  const problems = answerProblems(holds, path, 'HTTP 200 with a JSON-RPC result', http);
  return problems.map(withRefusalFix(http));
}

/**
 * A list request that must be answered, even if only with "method not found": whether the server has the
 * method is checked by `discovery.*`.
 */
export function carriedOutProblems(answer: RpcAnswer, path: string): readonly Problem[] {
  if (answer.error?.code === methodNotFound) return [];
  return resultProblems(answer, path);
}

/** JSON-RPC 2.0 §5.1 */
const methodNotFound = -32_601;

/** What to change, where the words of a refusal name its reason: one status has many. */
function refusalFix({ status, body, request }: HttpAnswer): string | undefined {
  if (status < 400) return undefined;
  const { body: sent, headers: sentHeaders = {} } = request ?? ({} as Partial<SentRequest>);
  const sentText = typeof sent === 'string' ? sent : '';
  if (requiresVersion.test(body.slice(0, 2_000)) && sentHeaders['mcp-protocol-version'] === undefined)
    return versionFix;
  const refusal = refusals.find(
    ([words, , request]) => words.test(body.slice(0, 2_000)) && (request?.test(sentText) ?? true),
  );
  return refusal?.[1] ?? (status === 401 ? withoutToken : undefined);
}

const requiresVersion = /protocol.?version/i;
const versionFix =
  'Answer requests without MCP-Protocol-Version: the server requires this header, but callers that negotiated 2025-03-26 or earlier do not send it.';

const withoutToken = 'Let this request pass without authentication: only tools/call needs a token.';

const initialize = /"method":"initialize"/;
/** A request of the versions with sessions: the others name their version in the body. */
const withSession = /^(?!.*io\.modelcontextprotocol\/protocolVersion)/s;

/** The fix for the words of a refusal, and of which requests, if not of all. */
const refusals: readonly (readonly [words: RegExp, fix: string, request?: RegExp])[] = [
  [
    /host (header|name)|invalid host|host .{0,40}not allowed|blocked host/i,
    'Admit this host: the server refuses it, as a protection against DNS rebinding. Behind a proxy, that needs the public name.',
  ],
  [/\borigin\b/i, 'Admit requests of this origin, or without one: the server refuses the Origin header.'],
  [
    /not acceptable|must accept|accept header/i,
    'Answer in JSON whatever Accept says. The bare transport of the SDK demands both media types.',
  ],
  [
    /already (initialized|connected)/i,
    'Create a transport and a server object for each initialize.',
    initialize,
  ],
  [/session/i, 'Look at the session after you have seen that the request is no initialize.', initialize],
  [/unauthori[sz]ed|forbidden|authenticat|(bearer|access) token|jwt|api.?key|credential/i, withoutToken],
  [/content.?type|media type/i, 'Accept application/json with any parameters as Content-Type.'],
  [/protocol.?version/i, 'Accept every version of the protocol that initialize negotiates.', withSession],
  [
    /rate limit|too many|quota/i,
    'Allow more requests a minute: a marketplace discovers and calls in bursts.',
  ],
];

/** Whether an answer refuses an invalid request. */
export function isClientError({ status }: HttpAnswer): boolean {
  return status >= 400 && status < 500;
}

/** Whether any JSON-RPC message in an answer carries a result, however deep in a batch. */
export function holdsResult({ values }: HttpAnswer): boolean {
  return values.flat(8).some((value) => isObject(value) && value.result !== undefined);
}

function responseError({ values }: HttpAnswer): unknown {
  const [value] = values;
  if (isObject(value)) return value.error;
  return undefined;
}
