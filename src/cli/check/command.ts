import { existsSync } from 'node:fs';
import { type ExitCode, inputError, invalidInput, type Output } from 'market-mcp-contract/command';
import type { CheckFlags } from '../command-flags.ts';

/**
 * `market-mcp check [directory|url]`: runs the contract on a project's server or on any other. With `--availability`, it looks
 * once at a server in use and runs no tool.
 *
 * @returns as `checkServer` or `checkAvailability`
 */
export async function runCheck(
  target: string | undefined,
  output: Output,
  flags: CheckFlags,
): Promise<ExitCode> {
  const url = target !== undefined && isUrl(target) ? target : undefined;
  if (flags.availability) {
    if (url === undefined) throw invalidInput([withoutUrl]);
    const { checkAvailability } = await import('./check-availability.ts');
    return checkAvailability(url, output, flags);
  }
  const { checkProject, checkServer } = await import('./check-contract.ts');
  if (url === undefined) return checkProject(target, output, flags);
  return checkServer(url, output, flags);
}

const withoutUrl = inputError(
  '--availability',
  undefined,
  'works only with a URL',
  'Add the address of the server, such as https://tools.example.com/mcp.',
);

/** Whether a target is an address, or looks like one and is no path. */
function isUrl(target: string): boolean {
  return isAddress(target) || (!existsSync(target) && looksLikeHost(target));
}

/**
 * `https://…`, `https:/…`, `localhost:3000/mcp`. Never a path, even if there is a directory of that name: its build
 * script would run.
 */
function isAddress(target: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/|^[^/]*:\d+(\/|$)/i.test(target);
}

/** `tools.example.com/mcp`, which could also be a path. */
function looksLikeHost(target: string): boolean {
  return /^(localhost|[\w-]+(\.[\w-]+)+)(\/|$)/i.test(target);
}
