import { CommandError, type ExitCode, type Output } from 'market-mcp-contract/command';
import { platforms } from 'market-mcp-contract/platforms';

/**
 * `market-mcp platforms [name]`: lists the built-in profiles, or prints one in full as a start for another.
 *
 * @throws CommandError if no profile has the name.
 */
export async function showPlatforms(name: string | undefined, output: Output): Promise<ExitCode> {
  if (name === undefined) {
    const width = Math.max(...platforms.map(({ name }) => name.length));
    for (const { name, title } of platforms)
      output.line(`${output.style('bold', name.padEnd(width))}  ${title}`);
    return output.result({ platforms });
  }
  const profile = platforms.find((platform) => platform.name === name);
  if (profile === undefined) {
    const names = platforms.map((platform) => platform.name).join(' or ');
    const message = `there is no platform profile called ${JSON.stringify(name)}`;
    throw new CommandError('INVALID_INPUT', message, `Write ${names}.`);
  }
  output.line(JSON.stringify(profile, null, 2));
  return output.result(profile);
}
