import { isObject } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { HttpAnswer } from './http.ts';
import { resultText } from './rpc.ts';

/** What a tools/call without a token shows. `limited`: a limit of the rate prevented the call, so that it shows nothing. */
export type Access = 'protected' | 'open' | 'limited';

/** Reads from the answer to a call without a token whether the server protects its tools. */
export function accessOf(answer: HttpAnswer): Access {
  if (isDenied(answer)) return 'protected';
  return answer.status === 429 ? 'limited' : 'open';
}

/** Whether an answer denies a call because of its caller: by its status, by a challenge, or by its words. */
export function isDenied(answer: HttpAnswer): boolean {
  const { status, headers, body } = answer;
  const messages = rpcMessages(answer);
  if (messages.some(({ result }) => isObject(result) && result.isError !== true)) return false;
  if ([401, 402, 403].includes(status) || headers['www-authenticate'] !== undefined) return true;
  if (status === 429) return false;
  if (messages.length > 0) return messages.some((message) => isDenial(message, answer));
  return namesAuthorization(body, answer);
}

/** Whether a JSON-RPC response denies a call because of its caller. */
export function isDenial({ result, error }: JsonObject, answer: HttpAnswer): boolean {
  if (error !== undefined) return namesAuthorization(JSON.stringify(error), answer);
  if (!isObject(result) || result.isError !== true) return false;
  return namesAuthorization(resultText(result.content) ?? '', answer);
}

/** The JSON-RPC responses of an answer, however deep in a batch. */
export function rpcMessages({ values }: Pick<HttpAnswer, 'values'>): readonly JsonObject[] {
  return values.flat(8).filter((value) => isObject(value) && 'jsonrpc' in value) as readonly JsonObject[];
}

const authorization =
  /unauthori[sz]ed|unauthenticated|authori[sz]ation|authenticat|forbidden|\bbearer\b|\bjwt\b/i;
const token = /\btokens?\b/i;

/** Whether a text names the authorization or the token. If the request itself says "token", that may be a coin. */
function namesAuthorization(text: string, { request }: Pick<HttpAnswer, 'request'>): boolean {
  const beginning = text.slice(0, 1_000);
  if (authorization.test(beginning)) return true;
  const sentBody = typeof request?.body === 'string' ? request.body.replaceAll('progressToken', '') : '';
  return token.test(beginning) && !/token/i.test(sentBody);
}
