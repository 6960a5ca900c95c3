import {
  isWalkable,
  type Json,
  type JsonObject,
  parseJsonText,
  withLargeIntegersAsText,
} from 'market-mcp-contract/json';
import { type RpcAnswer, rpcAnswer, valuesIn } from 'market-mcp-contract/wire';

/** A list with the JSON value of a text; an empty list if the text is not JSON or too deep to be walked. */
export function walkableJsonIn(text: string): readonly Json[] {
  return parseJsonText(text).filter((value) => isWalkable(value));
}

/** The same; integers that a JavaScript number cannot represent are texts. */
export function exactJsonIn(text: string): readonly Json[] {
  return walkableJsonIn(withLargeIntegersAsText(text).text);
}

/** The result of a call, in which integers that a JavaScript number cannot represent are texts. */
export function exactResult({ http, response }: RpcAnswer): JsonObject | undefined {
  const { text } = withLargeIntegersAsText(http.body);
  const values = walkableValuesIn(text, http.headers['content-type']);
  return rpcAnswer({ ...http, values }, Number(response?.id)).result;
}

/** The JSON values of an answer, its body or its server-sent events, that are not too deep to be walked. */
export function walkableValuesIn(text: string, contentType: string | null | undefined): readonly Json[] {
  return valuesIn(text, contentType).filter((value) => isWalkable(value));
}
