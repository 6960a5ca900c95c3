import { isObject } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import { mismatches, tryCompile } from '../../contract/schema.ts';
import type { Judgement } from './model.ts';

/** So many guilty verdicts take a listing off the marketplace (public source: app api/v1/tools/dispute/route.ts). */
export const guiltyLimit = 5;

/**
 * Judges a dispute about `schema_mismatch` by the schema that was stored at the last listing or refresh, as the
 * marketplace does: without a schema a person must look, a schema that does not compile is the author's fault, and for the
 * rest the output decides (public source: app api/v1/tools/dispute/route.ts).
 *
 * @param tool the stored definition; undefined where the listing has no such tool.
 */
export function judge(tool: JsonObject | undefined, output: Json | undefined): Judgement {
  const schema = tool?.outputSchema;
  if (!isObject(schema)) return { verdict: 'manual_review', problems: [] };
  const compiled = tryCompile(schema);
  if (!compiled.ok) {
    const problem = { path: 'outputSchema', expected: 'a schema that compiles', actual: compiled.reason };
    return { verdict: 'guilty', problems: [problem] };
  }
  const problems = mismatches(schema, output, 'structuredContent');
  return { verdict: problems.length > 0 ? 'guilty' : 'innocent', problems };
}
