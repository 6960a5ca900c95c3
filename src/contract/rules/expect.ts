import { isObject } from '../json.ts';
import type { Problem } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import type { HttpAnswer } from '../probe/http.ts';
import { describe, type RpcAnswer } from '../probe/rpc.ts';
import { unless } from './rule.ts';

/** The refusal of an unpaid call (C§7, first row). */
export function unauthorizedProblems(
  answer: HttpAnswer,
  { token }: PlatformProfile,
  path?: string,
): readonly Problem[] {
  const status = token.refusalStatus;
  const refused = status === null ? isClientError(answer) : answer.status === status;
  return unless(refused && errorOf(answer) === 'Unauthorized', {
    ...at(path),
    expected: `HTTP ${status ?? '4xx'} {"error":"Unauthorized"}`,
    actual: describe(answer),
  });
}

/** The refusal of a request outside any session (C§7, second and third row). */
export function invalidSessionProblems(answer: HttpAnswer, path?: string): readonly Problem[] {
  return unless(answer.status === 400 && errorOf(answer) === 'Invalid session', {
    ...at(path),
    expected: 'HTTP 400 {"error":"Invalid session"}',
    actual: describe(answer),
  });
}

/** A request that must be refused with any 4xx and without a result. */
export function rejectedProblems(answer: HttpAnswer, path?: string): readonly Problem[] {
  return unless(isClientError(answer) && !holdsResult(answer), {
    ...at(path),
    expected: 'HTTP 4xx and no result',
    actual: describe(answer),
  });
}

/** A JSON-RPC request that must be answered with a result. */
export function resultProblems({ http, result }: RpcAnswer, path?: string): readonly Problem[] {
  return unless(http.status === 200 && result !== undefined, {
    ...at(path),
    expected: 'HTTP 200 with a JSON-RPC result',
    actual: describe(http),
  });
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

function at(path: string | undefined): { path?: string } {
  return path === undefined ? {} : { path };
}
