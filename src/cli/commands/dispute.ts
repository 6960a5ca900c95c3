import { type ExitCode, exitCodes, type Output, reject, unwrap } from 'market-mcp-contract/command';
import type { Dispute } from '../../marketplace/core/marketplace-model.ts';
import type { Access } from '../../marketplace/core/page-access.ts';
import { requestJson } from '../../marketplace/running-marketplace.ts';
import type { PlaceFlags } from '../command-flags.ts';
import { withMarketplace } from '../marketplace/connect.ts';
import { callProblemLine } from '../marketplace/marketplace-lines.ts';

const words = {
  guilty: 'guilty: the output does not match the stored outputSchema',
  innocent: 'innocent: the output matches the stored outputSchema',
  manual_review: 'manual review: no outputSchema of this tool is stored',
} as const;

/**
 * `market-mcp marketplace dispute <call>`: files a schema_mismatch dispute about a logged call.
 *
 * @returns 1 unless the verdict is innocent.
 */
export async function dispute(call: string, output: Output, flags: PlaceFlags): Promise<ExitCode> {
  if (!/^\d+$/.test(call)) {
    const hint = 'market-mcp call prints the number of each call.';
    unwrap(reject('<call>', call, 'is not the number of a call', hint));
  }
  const file = async (market: Access) => {
    const filed = await requestJson<Dispute>(market, '/disputes.json', { call: Number(call) });
    output.line(words[filed.verdict]);
    for (const problem of filed.problems) output.line(`    ${callProblemLine(problem)}`);
    output.result(filed);
    if (filed.verdict === 'innocent') return exitCodes.ok;
    return exitCodes.checkFailed;
  };
  return withMarketplace(flags, output, file, false);
}
