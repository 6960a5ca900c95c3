import { nameList, type Output } from 'market-mcp-contract/command';
import type { ToolListDrift } from '../../project/manifest/listed.ts';
import { marketCommand } from '../../system/command-line.ts';

/** Prints that the marketplace has to read the tools again, if it has to (C§9.3). */
export function showDrift({ refreshNeeded, added, changed, removed }: ToolListDrift, output: Output): void {
  if (!refreshNeeded) return;
  const parts = Object.entries({ new: added, changed, gone: removed })
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${kind} ${nameList(names)}`);
  output.note(`tools/list differs from what the marketplace last read: ${parts.join('; ')}`);
  const record = marketCommand('list', '--mark-listed');
  output.line(`    After the deployment, press "Refresh Skills" there and run: ${record}`);
}
