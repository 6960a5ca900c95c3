import { setTimeout as delay } from 'node:timers/promises';
import { CommandError, type Output, withProgress } from 'market-mcp-contract/command';
import type { LocalServer } from '../../dev/local-server.ts';
import { publishedState } from '../../dev/published-state.ts';
import { isServing, type ServerState, stateError } from '../../dev/state.ts';
import type { Access } from '../../marketplace/core/page-access.ts';
import { type MarketplaceContext, readMarketplaceContext } from '../../marketplace/marketplace-context.ts';
import { findRunningMarketplace, requestJson } from '../../marketplace/running-marketplace.ts';
import { readServerState } from '../../marketplace/server-state.ts';
import { packageManagerOf } from '../../system/detect.ts';
import { freePort, isFree } from '../../system/ports.ts';
import type { PlaceFlags } from '../command-flags.ts';

/**
 * Runs `work` with the marketplace that runs for the context. If none runs, opens one with the server of the
 * project.
 *
 * @param work gets the state of the project's server, which answers; null if there is no such server, or it is not needed
 * @throws CommandError as `servingState`
 */
export async function withMarketplace<T>(
  flags: PlaceFlags,
  output: Output,
  work: (market: Access, context: MarketplaceContext, state: ServerState | null) => Promise<T>,
  needsServer = true,
): Promise<T> {
  const context = await readMarketplaceContext(flags);
  const running = await findRunningMarketplace(context.directory);
  const stateAt = async (market: Access) => (needsServer ? servingState(market, context, output) : null);
  if (running !== undefined) return work(running, context, await stateAt(running));
  const options = {
    port: 0,
    stdout: 'ignore',
    once: true,
    say: (text: string) => output.comment([text]),
  } as const;
  const { runLocalMarketplace } = await import('../../marketplace/run-local.ts');
  return runLocalMarketplace(context, options, async (local) => work(local, context, await stateAt(local)));
}

const portAttempts = 3;

/**
 * Runs `work`, which may start the server of the project. If nobody named a port and another program has the default one, the
 * server gets a free port; if a program takes that before the server listens, another one. For a command whose address nobody
 * keeps.
 */
export async function runOnFreePort<T>(work: () => Promise<T>): Promise<T> {
  const server = await movableServer();
  if (server === undefined) return work();
  if (!(await isFree(server.host, Number(new URL(server.url).port))))
    process.env.PORT = String(await freePort());
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === portAttempts || !isPortTakenError(error)) throw error;
      process.env.PORT = String(await freePort());
    }
  }
}

/** The server of the project, if nobody named its port and it does not run. */
async function movableServer(): Promise<LocalServer | undefined> {
  const context = await readMarketplaceContext({});
  if (context.server === undefined || context.server.namesPort) return undefined;
  if (publishedState(context.directory).kind !== 'never-started') return undefined;
  const { kind } = await readServerState(context);
  if (kind === 'running') return undefined;
  return context.server;
}

function isPortTakenError(error: unknown): boolean {
  if (!(error instanceof CommandError)) return false;
  const { state } = error.data as { readonly state?: ServerState };
  return state?.kind === 'port-taken';
}

const startMs = 120_000;
const pollMs = 100;

/** The state of the server at `endpoint`; null if the marketplace runs no server, or another one. */
async function readEndpointState(
  market: Access,
  endpoint: MarketplaceContext['endpoint'],
): Promise<ServerState | null> {
  const { state } = await requestJson<{ readonly state: ServerState | null }>(market, '/state.json');
  const isOther = Boolean(process.env.MARKET_MCP_URL) && state?.url !== endpoint;
  if (isOther) return null;
  return state;
}

/**
 * The state of the project's server, once it is built; null if there is no project.
 *
 * @throws CommandError `NOT_STARTED` with the cause if the server does not run, or is not ready in time.
 */
export async function servingState(
  market: Access,
  { directory, server, endpoint }: MarketplaceContext,
  output: Output,
): Promise<ServerState | null> {
  if (server === undefined) return null;
  const end = Date.now() + startMs;
  return withProgress(output.progress('starting the server'), async () => {
    while (true) {
      const state = await readEndpointState(market, endpoint);
      if (state === null) return null;
      if (isServing(state)) return state;
      if (state.kind !== 'building') throw stateError(state);
      if (Date.now() > end) {
        const hint = `To see what it waits for, run: ${packageManagerOf(directory).run} dev`;
        const waited = `${startMs / 1_000} seconds after its start`;
        throw new CommandError('NOT_STARTED', `${endpoint} does not answer ${waited}`, hint);
      }
      await delay(pollMs);
    }
  });
}
