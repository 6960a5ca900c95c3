import { CommandError } from 'market-mcp-contract/command';
import type { Marketplace } from '../core/marketplace.ts';
import { type ToolWithName, toolsWithNames } from '../core/registration.ts';

interface Read {
  readonly tools: readonly ToolWithName[];
  readonly problem: string | null;
}

/** The tools of a server, or why they cannot be read. */
export async function readTools(marketplace: Marketplace, endpoint: string | null): Promise<Read> {
  if (endpoint === null) return { tools: [], problem: null };
  const read = marketplace.requireRunning(endpoint).then(() => marketplace.caller.tools(endpoint));
  return read.then(
    (tools) => ({ tools: toolsWithNames(tools), problem: null }),
    (error: Error) => ({ tools: [], problem: error.message }),
  );
}

/** The author's server; if there is none, that of the first listing. */
export async function ownEndpoint(marketplace: Marketplace): Promise<string> {
  const { listings } = await marketplace.store.read();
  const endpoint = marketplace.options.endpoint ?? listings[0]?.endpoint;
  if (endpoint !== undefined) return endpoint;
  const hint = 'Run the command in a project, or name a server with --endpoint <url>.';
  throw new CommandError('NO_SERVER', 'no server is known', hint);
}
