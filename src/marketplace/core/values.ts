import { isWalkable, type Json, jsonIn } from 'market-mcp-contract/json';
import { valuesIn } from 'market-mcp-contract/wire';

/** The JSON value of a text, alone in a list; an empty list if the text is not JSON or too deep to be walked. */
export function walkableJsonIn(text: string): readonly Json[] {
  return jsonIn(text).filter((value) => isWalkable(value));
}

/** The JSON values of an answer, its body or its server-sent events, that are not too deep to be walked. */
export function walkableValuesIn(text: string, contentType: string | null | undefined): readonly Json[] {
  return valuesIn(text, contentType).filter((value) => isWalkable(value));
}
