import { isObject } from '../json/json.ts';
import type { Problem } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import type { HttpAnswer } from '../wire/http.ts';
import { describe, type RpcAnswer } from '../wire/rpc.ts';
import { unless } from './rule.ts';

/** The problem of an HTTP answer to a request, named by the path, unless the condition is true. */
export function answerProblems(
  holds: boolean,
  path: string | undefined,
  expected: string,
  answer: HttpAnswer,
): readonly Problem[] {
  return unless(holds, { ...(path !== undefined && { path }), expected, actual: describe(answer) });
}

/** The refusal of an unpaid call (C§7, first row). */
export function unauthorizedProblems(
  answer: HttpAnswer,
  { token }: PlatformProfile,
  path?: string,
): readonly Problem[] {
  const status = token.refusalStatus;
  const refused = status === null ? isClientError(answer) : answer.status === status;
  const isUnauthorized = refused && errorOf(answer) === 'Unauthorized';
  return answerProblems(isUnauthorized, path, `HTTP ${status ?? '4xx'} {"error":"Unauthorized"}`, answer);
}

/** The refusal of a request outside any session (C§7, second and third row). */
export function invalidSessionProblems(answer: HttpAnswer, path?: string): readonly Problem[] {
  const isInvalid = answer.status === 400 && errorOf(answer) === 'Invalid session';
  return answerProblems(isInvalid, path, 'HTTP 400 {"error":"Invalid session"}', answer);
}

/** A request that must be refused with any 4xx and without a result. */
export function rejectedProblems(answer: HttpAnswer, path?: string): readonly Problem[] {
  const isRejected = isClientError(answer) && !holdsResult(answer);
  return answerProblems(isRejected, path, 'HTTP 4xx and no result', answer);
}

/** A JSON-RPC request that must be answered with a result. */
export function resultProblems({ http, result }: RpcAnswer, path?: string): readonly Problem[] {
  const holds = http.status === 200 && result !== undefined;
  return answerProblems(holds, path, 'HTTP 200 with a JSON-RPC result', http);
}

/**
 * A list request that must be answered, even if only with "method not found": whether the server has the
 * method is checked by `discovery.*`.
 */
export function carriedOutProblems(answer: RpcAnswer, path: string): readonly Problem[] {
  return answer.error?.code === methodNotFound ? [] : resultProblems(answer, path);
}

/** JSON-RPC 2.0 §5.1 */
const methodNotFound = -32_601;

/** Whether an answer refuses an invalid request. */
export function isClientError({ status }: HttpAnswer): boolean {
  return status >= 400 && status < 500;
}

/** Whether any JSON-RPC message in an answer carries a result, however deep in a batch. */
export function holdsResult({ values }: HttpAnswer): boolean {
  return values.flat(8).some((value) => isObject(value) && value.result !== undefined);
}

function errorOf({ values }: HttpAnswer): unknown {
  const [value] = values;
  return isObject(value) ? value.error : undefined;
}
