import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resolvePlatform } from '../../changes/platform.ts';
import { examine } from '../../check/examine.ts';
import { type HeldServer, holdProject } from '../../check/project.ts';
import { isObject } from '../../contract/json.ts';
import type { Json } from '../../contract/model.ts';
import { generic } from '../../contract/platforms/index.ts';
import type { PlatformProfile } from '../../contract/platforms/profile.ts';
import { type Development, develop } from '../../dev/develop.ts';
import { type LocalServer, localServer } from '../../dev/local-server.ts';
import type { Access } from '../../marketplace/core/access.ts';
import { stateDirectory } from '../../marketplace/core/store.ts';
import { type Local, openLocalMarketplace, runningMarketplace } from '../../marketplace/local.ts';
import { unwrap } from '../../model/command-error.ts';
import { ProjectError } from '../../project/errors.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/model.ts';
import { openProject } from '../../project/read/open.ts';
import { SystemError } from '../../system/errors.ts';
import type { Output } from '../output.ts';
import { draftOf } from './draft.ts';
import type { PlaceFlags } from './flags.ts';

/** Where a marketplace runs: its directory, the author's server, and the project if there is one. */
export interface Place {
  readonly directory: string;
  readonly project: Project | undefined;
  readonly profile: PlatformProfile;
  readonly endpoint: string | undefined;
  /** How to run the project's server; undefined if an endpoint was named instead. */
  readonly server: LocalServer | undefined;
}

/** @throws ProjectError if the project cannot be read; CommandError if a flag is invalid. */
export async function placeOf({ endpoint, platform }: PlaceFlags, cwd = process.cwd()): Promise<Place> {
  const directory = projectAbove(cwd);
  const named = platform === undefined ? undefined : unwrap(await resolvePlatform(platform));
  if (directory === undefined) {
    return { directory: cwd, project: undefined, profile: named ?? generic, endpoint, server: undefined };
  }
  const project = await openProject(directory);
  const profile = named ?? project.profile;
  const server = endpoint === undefined ? await localServer(directory, profile.token) : undefined;
  return { directory, project, profile, endpoint: endpoint ?? server?.url, server };
}

function projectAbove(cwd: string): string | undefined {
  try {
    return findProject(cwd);
  } catch (error) {
    if (error instanceof ProjectError && error.code === 'NOT_A_PROJECT') return undefined;
    throw error;
  }
}

export interface OpenOptions {
  readonly port?: number | undefined;
  readonly nodeArguments?: Development['nodeArguments'];
  readonly stdout?: Development['stdout'];
  readonly reset?: boolean;
  /** Starts the server even if it is running; it then fails because its port is in use. */
  readonly startsServer?: boolean;
  /** See `Development`. */
  readonly once?: boolean;
}

/**
 * Opens the marketplace of a place, runs the server of its project beside it, runs `work`, and ends both. The server is
 * not started if it already runs.
 *
 * @param work gets two promises: `ended` settles when the server has ended for good, `failed` when it could not start or
 *   ended by itself, even if a change will start it again.
 * @throws SystemError `NOT_STARTED` if another program answers at the address of the server.
 */
export async function withLocal<T>(
  place: Place,
  options: OpenOptions,
  output: Output,
  work: (local: Local, ended: Promise<void>, failed: Promise<void>) => Promise<T>,
): Promise<T> {
  const { directory, project, profile, endpoint, server } = place;
  const isRunning = server !== undefined && !options.startsServer && (await isServedBy(place));
  const local = await openLocalMarketplace({
    directory,
    keyDirectory: project?.directory ?? join(directory, stateDirectory),
    port: options.port,
    reset: options.reset,
    profile,
    endpoint,
    ...(project && {
      draft: draftOf(project),
      sources: new Map(project.tools.map(({ path, file, source }) => [source.name ?? file, path])),
    }),
    ...(endpoint !== undefined && { check: (onRule) => check(place, local, onRule) }),
  });
  const until = new AbortController();
  let fail = () => {};
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  try {
    const ended =
      project && server && !isRunning
        ? develop({
            directory,
            environment: () => environmentAt(endpoint, directory, profile),
            nodeArguments: options.nodeArguments ?? [],
            stdout: options.stdout ?? 'inherit',
            say: (text) => output.note(text),
            onWritten: ({ stream, text, exchange }) =>
              local.marketplace.takeLog({ stream, text: text.trimEnd() }, exchange ?? undefined),
            onFailure: () => fail(),
            until: until.signal,
            once: options.once ?? false,
          })
        : untilSignal(until.signal);
    ended.then(fail, fail);
    const result = await work(local, ended, failed);
    until.abort();
    await ended;
    return result;
  } finally {
    until.abort();
    await local.close();
  }
}

/** @throws ProjectError `PORT_CHANGED` if the server would move: callers, tokens and the marketplace use its address. */
async function environmentAt(endpoint: string | undefined, directory: string, { token }: PlatformProfile) {
  const { url, environment } = await localServer(directory, token);
  if (url === endpoint) return environment;
  const message = `PORT was changed, so the server would move from ${endpoint} to ${url}`;
  throw new ProjectError('PORT_CHANGED', message, 'Restart the command to use the new port.');
}

/** Resolves when a signal to end arrives. */
async function untilSignal(until: AbortSignal): Promise<void> {
  const { signal } = { signal: until };
  const waits = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name, { signal }));
  await Promise.race(waits).catch(() => {});
  for (const wait of waits) wait.catch(() => {});
}

/**
 * Runs `work` with a marketplace: the one that already runs for this place, or one that is opened for it
 * with the server of the project.
 */
export async function withMarketplace<T>(
  flags: PlaceFlags,
  output: Output,
  work: (market: Access, place: Place) => Promise<T>,
): Promise<T> {
  const place = await placeOf(flags);
  const running = await runningMarketplace(place.directory);
  if (running !== undefined) return work(running, place);
  return withLocal(place, { port: 0, stdout: 'ignore', once: true }, output, async (local, _, failed) => {
    await untilServerAnswers(place, failed, output);
    return work(local, place);
  });
}

const startMs = 120_000;
const pollMs = 100;

/** @throws SystemError `NOT_STARTED` if the server of a project fails or does not answer in time, or another program answers. */
export async function untilServerAnswers(place: Place, failed: Promise<void>, output: Output): Promise<void> {
  const { endpoint, server } = place;
  if (endpoint === undefined || !server) return;
  const progress = output.progress('starting the server');
  const end = Date.now() + startMs;
  let hasFailed = false;
  failed.then(() => {
    hasFailed = true;
  });
  try {
    while (!(await isServedBy(place))) {
      if (hasFailed) {
        const hint = 'Correct the error that is printed above, and run the command again.';
        throw new SystemError('NOT_STARTED', 'the server of the project did not start', hint);
      }
      if (Date.now() > end) {
        const hint = 'Run npm run dev to see what it waits for.';
        const waited = `${startMs / 1_000} seconds after its start`;
        throw new SystemError('NOT_STARTED', `${endpoint} does not answer ${waited}`, hint);
      }
      await delay(pollMs);
    }
  } finally {
    progress.stop();
  }
}

/**
 * Whether the server of a project is running at its address.
 *
 * @throws SystemError `NOT_STARTED` if another program answers there.
 */
async function isServedBy({ directory, endpoint = '' }: Place): Promise<boolean> {
  const health = await healthOf(endpoint);
  if (health === undefined) return false;
  const { name } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { name?: string };
  const other = isObject(health) ? health.server : undefined;
  if (other === name) return true;
  const which = typeof other === 'string' ? `the server ${JSON.stringify(other)}` : 'another program';
  const message = `${which} answers at ${endpoint}, where the server of this project would run`;
  throw new SystemError('NOT_STARTED', message, 'Stop it, or set PORT in .env to a free port.');
}

/** The answer to GET /health; null if it is not JSON, undefined if its status is not 200. */
async function healthOf(endpoint: string): Promise<Json | undefined> {
  if (!URL.canParse(endpoint)) return undefined;
  try {
    const answer = await fetch(new URL('/health', endpoint), { signal: AbortSignal.timeout(2_000) });
    return answer.ok ? ((await answer.json().catch(() => null)) as Json) : undefined;
  } catch {
    return undefined;
  }
}

async function check(
  { project, profile, endpoint = '', server }: Place,
  local: Local,
  onRule: (id: string, done: number, total: number) => void,
) {
  const { caller } = local.marketplace;
  const held: HeldServer =
    project && server
      ? await holdProject(project.directory, { platform: profile })
      : {
          target: { url: endpoint, profile, signer: await caller.signer(endpoint), calls: { named: [] } },
          release: async () => {},
        };
  try {
    const demands = { level: 'must', requireAll: false } as const;
    const { report } = await examine(held, {
      demands,
      selects: () => true,
      onRule: ({ id }, done, total) => onRule(id, done, total),
    });
    return report;
  } finally {
    await held.release();
  }
}
