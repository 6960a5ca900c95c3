import { setTimeout as delay } from 'node:timers/promises';
import { CommandError, type Output, withProgress } from 'market-mcp-contract/command';
import { publishedState } from '../../dev/published.ts';
import { isServing, type ServerState, stateError } from '../../dev/state.ts';
import type { Access } from '../../marketplace/core/access.ts';
import { requestJson, runningMarketplace } from '../../marketplace/local.ts';
import { type Place, placeOf, stateOf, withLocal } from '../../marketplace/place.ts';
import { packageManagerOf } from '../../system/detect.ts';
import { freePort, isFree } from '../../system/ports.ts';
import type { PlaceFlags } from '../flags.ts';

/**
 * Runs `work` with a marketplace: the one that already runs for this place, or one that is opened for it
 * with the server of the project.
 *
 * @param work gets the state of the project's server, which answers; null if the place has none, or it is not needed
 * @throws CommandError as `servingState`
 */
export async function withMarketplace<T>(
  flags: PlaceFlags,
  output: Output,
  work: (market: Access, place: Place, state: ServerState | null) => Promise<T>,
  needsServer = true,
): Promise<T> {
  const place = await placeOf(flags);
  const running = await runningMarketplace(place.directory);
  const stateAt = async (market: Access) => (needsServer ? servingState(market, place, output) : null);
  if (running !== undefined) return work(running, place, await stateAt(running));
  const options = {
    port: 0,
    stdout: 'ignore',
    once: true,
    say: (text: string) => output.comment([text]),
  } as const;
  return withLocal(place, options, async (local) => work(local, place, await stateAt(local)));
}

/**
 * Takes another port than the default one if a program other than the server of this project uses that, and nobody named a
 * port. For a command whose address nobody keeps.
 */
export async function avoidTakenPort(): Promise<void> {
  const place = await placeOf({});
  if (place.server === undefined || place.server.namesPort) return;
  if (publishedState(place.directory).kind !== 'never-started') return;
  if ((await stateOf(place)).kind === 'running') return;
  const port = Number(new URL(place.server.url).port);
  if (!(await isFree(place.server.host, port))) process.env.PORT = String(await freePort());
}

const startMs = 120_000;
const pollMs = 100;

/**
 * The state of the server of a place's project, once it is built; null if the place has none.
 *
 * @throws CommandError `NOT_STARTED` with the cause if the server does not run, or is not ready in time.
 */
export async function servingState(
  market: Access,
  { directory, server, endpoint }: Place,
  output: Output,
): Promise<ServerState | null> {
  if (server === undefined) return null;
  const end = Date.now() + startMs;
  return withProgress(output.progress('starting the server'), async () => {
    while (true) {
      const { state } = await requestJson<{ readonly state: ServerState | null }>(market, '/state.json');
      const isOther = Boolean(process.env.MARKET_MCP_URL) && state?.url !== endpoint;
      if (state === null || isOther) return null;
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
