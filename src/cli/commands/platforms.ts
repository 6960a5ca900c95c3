import { platforms } from '../../contract/platforms/index.ts';
import { type ExitCode, exitCodes } from '../errors.ts';
import type { Output } from '../output.ts';

/** `market-mcp platforms`: the profiles that ship. */
export async function listPlatforms(output: Output): Promise<ExitCode> {
  const width = Math.max(...platforms.map(({ name }) => name.length));
  for (const { name, title } of platforms)
    output.line(`${output.style('bold', name.padEnd(width))}  ${title}`);
  output.result({ platforms });
  return exitCodes.ok;
}
