import { type ExitCode, exitCodes, type Output, pagePortIn } from 'market-mcp-contract/command';
import { type Access, programLinkOf } from '../../marketplace/core/page-access.ts';
import { readMarketplaceContext } from '../../marketplace/marketplace-context.ts';
import { runLocalMarketplace } from '../../marketplace/run-local.ts';
import { findRunningMarketplace } from '../../marketplace/running-marketplace.ts';
import { runShell } from '../../system/processes.ts';
import type { MarketplaceFlags } from '../command-flags.ts';
import { servingState } from '../marketplace/connect.ts';
import { printAddress } from '../marketplace/marketplace-lines.ts';

/**
 * `market-mcp marketplace`: runs the local marketplace until a signal comes, or while a command runs.
 *
 * @returns the exit code of the command.
 */
export async function marketplace(output: Output, flags: MarketplaceFlags): Promise<ExitCode> {
  const port = pagePortIn(flags.pagePort);
  const context = await readMarketplaceContext(flags);
  const running = await findRunningMarketplace(context.directory);
  if (running !== undefined && !flags.reset) {
    printAddress(running, context, output);
    if (flags.exec !== undefined) return execute(flags.exec, running, context.directory);
    output.note('The marketplace is already running: nothing to do.');
    return exitCodes.ok;
  }
  const options = {
    port,
    reset: flags.reset === true,
    stdout: stdoutFor(flags, output),
    say: (text: string) => output.note(text),
  };
  return runLocalMarketplace(context, options, async (local, untilEnded) => {
    printAddress(local, context, output);
    if (flags.exec === undefined) {
      await untilEnded();
      return exitCodes.ok;
    }
    await servingState(local, context, output);
    return execute(flags.exec, local, process.cwd());
  });
}

/** Keeps the server's output apart from stdout if the command or `--json` writes there. */
function stdoutFor({ exec }: MarketplaceFlags, output: Output): 'inherit' | 'stderr' {
  if (exec !== undefined || output.json) return 'stderr';
  return 'inherit';
}

async function execute(command: string, access: Access, cwd: string): Promise<ExitCode> {
  process.env.MARKET_MCP_URL = programLinkOf(access);
  const { exitCode = exitCodes.checkFailed } = await runShell(command, cwd);
  return exitCode as ExitCode;
}
