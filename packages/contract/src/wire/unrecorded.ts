import { isObject } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';

/** What an author does about a call whose request to an API has no recording. */
export const unrecordedFix =
  'Record the answer of the API: market-mcp record, with --call <tool> if the tool may change something, or by hand (the unit tests print the file and its form).';

/** Whether the source kit of a project, which replays recordings, had none for a request of this call. */
export function isUnrecorded(result: JsonObject | undefined): boolean {
  const data = result?.structuredContent;
  return isObject(data) && data.error === 'SOURCE_NOT_RECORDED';
}
