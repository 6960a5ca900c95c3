import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import type { ImportedTool } from '../../src/import/imported-tool.ts';
import { type PreparedTools, prepareTools } from '../../src/import/prepare.ts';

/** What a project gets of tools. @throws CommandError with what is refused */
export function preparedOf(imported: readonly ImportedTool[], profile = context): PreparedTools {
  return unwrap(prepareTools(imported, profile));
}
