import { entriesOf } from '../../changes/entries.ts';
import { grouped } from '../../contract/grouped.ts';
import { generic } from '../../contract/platforms/index.ts';
import { fieldsOf, tokensOf, withFields } from '../../import/fields.ts';
import type { Imported } from '../../import/model.ts';
import { plainText } from '../../import/openapi/text.ts';
import type { ToolParts } from '../../questions/tool.ts';
import { toolAnswers } from '../../questions/tool-answers.ts';
import type { Asker } from './asker.ts';
import { askInOrder, Back } from './leaving.ts';

/** Tools with fewer tokens are not asked about at first. */
const askedFrom = 500;

/**
 * Asks which fields of the answers to keep, for one tool after the other; Enter alone keeps all. What is chosen and its size is
 * shown while it changes.
 */
export async function askAnswerFields(
  asker: Asker,
  { fields: before, ...given }: Partial<ToolParts>,
  isBack: boolean,
): Promise<readonly string[]> {
  // Errors in what the tools are made from are reported at the review.
  const entries = await entriesOf(toolAnswers(given), generic).catch(() => undefined);
  const tools = entries?.ok ? entries.value : [];
  const wanted = tools.filter(
    (tool) => tool.fields !== undefined && (before !== undefined || tokensOf(tool) >= askedFrom),
  );
  if (isBack && wanted.length === 0) throw new Back();
  const steps = wanted.map((tool) => async (earlier: readonly string[]) => {
    const prefix = tools.length === 1 ? '' : `${tool.entry.name}:`;
    const own = earlier.filter((text) => text.startsWith(prefix));
    const chosen = await askOne(
      asker,
      tool,
      own.flatMap((text) => text.slice(prefix.length).split(',')),
    );
    const others = earlier.filter((text) => !own.includes(text));
    const all = chosen.length === 0 ? others : [...others, prefix + chosen.join(',')];
    asker.unfinished = () => ({ fields: all });
    return all;
  });
  return askInOrder(() => steps, before ?? [], { isBack, from: isBack ? steps.length - 1 : 0 });
}

function askOne(asker: Asker, tool: Imported, before: readonly string[]): Promise<string[]> {
  const all = fieldsOf(tool);
  const options = all.map(({ path, schema: { type, description } }) => ({
    value: path,
    label: path,
    hint: [[type ?? []].flat().join(' or '), plainText(description, 50)].filter(Boolean).join(' · '),
  }));
  const statusOf = (chosen: readonly string[]) => {
    const reduced = withFields([tool], chosen.length > 0 ? [chosen.join(',')] : []);
    const size = grouped(tokensOf((reduced.ok && reduced.value[0]) || tool));
    return `${chosen.length > 0 ? `${chosen.length} of` : 'Enter keeps all'} ${all.length}, about ${size} tokens`;
  };
  return asker.search(`Which fields of ${tool.entry.name}?`, options, before, statusOf);
}
