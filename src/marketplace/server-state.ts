import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { isObject, type Json } from 'market-mcp-contract/json';
import { publishedState } from '../dev/published-state.ts';
import { running, type ServerState } from '../dev/state.ts';
import { parsedJson } from '../project/read/file-text.ts';
import type { MarketplaceContext } from './marketplace-context.ts';
import { answerMs } from './running-marketplace.ts';

/**
 * Returns the state of the project's server. `npm start` publishes no state, so a server that answers as this project counts
 * as running.
 */
export async function readServerState(context: MarketplaceContext): Promise<ServerState> {
  const published = publishedState(context.directory);
  if (published.kind !== 'never-started' || context.endpoint === undefined) return published;
  const isRunning = await isServerRunning(context).catch(() => false); // another program at the address
  if (isRunning) return running(context.endpoint);
  return { ...published, url: context.endpoint };
}

/**
 * Returns whether the server of a project is running at its address.
 *
 * @throws CommandError `NOT_STARTED` if another program answers there.
 */
export async function isServerRunning({ directory, endpoint = '' }: MarketplaceContext): Promise<boolean> {
  const health = await fetchHealth(endpoint);
  if (health === undefined) return false;
  const { name } = parsedJson(readFileSync(join(directory, 'package.json'))) as { name?: string };
  const serverName = isObject(health) ? health.server : undefined;
  if (serverName === name) return true;
  const program =
    typeof serverName === 'string' ? `the server ${JSON.stringify(serverName)}` : 'another program';
  const message = `${program} answers at ${endpoint}, where the server of this project would run`;
  throw new CommandError('NOT_STARTED', message, 'Stop it, or set PORT in .env to a free port.');
}

/** Returns the body of GET /health: null if it is not JSON, undefined if the status is not 2xx or nothing answers. */
async function fetchHealth(endpoint: string): Promise<Json | undefined> {
  if (!URL.canParse(endpoint)) return undefined;
  try {
    const response = await fetch(new URL('/health', endpoint), { signal: AbortSignal.timeout(answerMs) });
    if (response.ok) return (await response.json().catch(() => null)) as Json;
    return undefined;
  } catch {
    return undefined;
  }
}
