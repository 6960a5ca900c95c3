import type { Json, JsonObject, ToolDefinition } from '../contract/model.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { PreparedTool } from '../model/model.ts';
import { type Preparation, prepare } from '../tools/prepare.ts';
import type { Imported } from './model.ts';

/**
 * `prepare` for tools that may come with answers of their source: they take the place of the answers that are made up.
 *
 * @param others definitions of tools that the server has already
 */
export function prepareImported(
  imported: readonly Imported[],
  profile: PlatformProfile,
  others: readonly ToolDefinition[] = [],
): Preparation {
  const preparation = prepare(
    imported.map(({ entry }) => entry),
    profile,
    others,
  );
  if (!preparation.ok) return preparation;
  const { tools, changes, advice } = preparation.prepared;
  const all = [...imported.flatMap((one) => one.changes), ...changes];
  const answered = tools.map((tool, i) => withAnswers(tool, imported[i]?.answers ?? []));
  return { ok: true, prepared: { tools: answered, changes: all, advice } };
}

/** Each sample takes the answer that names its key, else the next one. */
function withAnswers(tool: PreparedTool, answers: readonly JsonObject[]): PreparedTool {
  if (answers.length === 0) return tool;
  const { keyParameter } = tool;
  const samples = tool.samples.map(({ key, answer }, i) => {
    const own = answers.find(
      (one) => key !== null && keyParameter !== null && memberOf(one, keyParameter) === key,
    );
    return { key, answer: own ?? answers[i % answers.length] ?? answer };
  });
  return { ...tool, samples };
}

function memberOf(answer: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(answer, name) ? answer[name] : undefined;
}
