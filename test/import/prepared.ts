import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import type { Imported } from '../../src/import/imported-tool.ts';
import { type Prepared, prepareTools } from '../../src/import/prepare.ts';

/** What a project gets of tools. @throws CommandError with what is refused */
export function preparedOf(imported: readonly Imported[], profile = context): Prepared {
  const result = prepareTools(imported, profile);
  return unwrap(result.ok ? { ok: true, value: result.prepared } : result);
}
