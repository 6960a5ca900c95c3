import type { PlatformProfile } from '../../contract/profile.ts';
import type { ToolAnswers } from '../../questions/tool-answers.ts';
import { pass } from '../../spec/fault.ts';
import { metaOf } from '../../spec/meta.ts';
import type { Result, SpecEntry } from '../../spec/model.ts';

/** The tools that an author wants, as `prepare` takes them. */
export async function entriesOf(
  source: ToolAnswers,
  { toolMeta }: PlatformProfile,
): Promise<Result<readonly SpecEntry[]>> {
  if (source.kind === 'tool') {
    const { tool, meta } = source;
    return pass([meta.length === 0 ? tool : { ...tool, _meta: metaOf(meta, toolMeta) }]);
  }
  const { readInput } = await import('../../project/input.ts');
  const { readSpec } = await import('../../spec/read.ts');
  return readSpec(await readInput(source.path), source.path === '-' ? '--spec' : source.path);
}
