import { type CheckReport, checkTarget } from 'market-mcp-contract/report';
import type { ServerToCheck } from './check-project.ts';

/**
 * Runs the whole contract on a server, and ends it.
 *
 * @param onRule called after each rule with its id
 * @throws CommandError `UNREACHABLE` if the server stops answering, and what `opening` throws
 */
export async function selfCheck(
  opening: Promise<ServerToCheck>,
  onRule: (id: string, completedCount: number, total: number) => void,
): Promise<CheckReport> {
  const { release, ...server } = await opening;
  try {
    const demands = { level: 'must', requireAll: false } as const;
    const { report } = await checkTarget(server, {
      demands,
      onRule: ({ id }, completedCount, total) => onRule(id, completedCount, total),
    });
    return report;
  } finally {
    await release();
  }
}
