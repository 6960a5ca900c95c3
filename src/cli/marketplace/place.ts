import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resolvePlatform } from '../../changes/platform.ts';
import { examine } from '../../check/examine.ts';
import { type Held, holdProject } from '../../check/project.ts';
import { generic } from '../../contract/platforms/index.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { type Development, develop } from '../../dev/develop.ts';
import { type LocalServer, localServer } from '../../dev/local-server.ts';
import { stateDirectory } from '../../marketplace/core/store.ts';
import { type Local, openLocalMarketplace, runningMarketplace } from '../../marketplace/local.ts';
import { unwrapped } from '../../model/command-error.ts';
import { ProjectError } from '../../project/errors.ts';
import { findProject } from '../../project/manifest.ts';
import type { Project } from '../../project/model.ts';
import { openProject } from '../../project/open.ts';
import { SystemError } from '../../system/errors.ts';
import type { Output } from '../output.ts';
import { draftOf } from './draft.ts';
import type { PlaceFlags } from './flag-types.ts';

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
  const named = platform === undefined ? undefined : unwrapped(await resolvePlatform(platform));
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
}

/**
 * Opens the marketplace of a place, runs the server of its project beside it, runs `work`, and ends both. The server is
 * not started if one already answers.
 *
 * @param work gets a promise that settles when the server has ended, by a signal or by itself.
 */
export async function withLocal<T>(
  place: Place,
  options: OpenOptions,
  output: Output,
  work: (local: Local, ended: Promise<void>) => Promise<T>,
): Promise<T> {
  const { directory, project, profile, endpoint, server } = place;
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
  try {
    const isRunning = endpoint !== undefined && (await answers(endpoint));
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
            until: until.signal,
          })
        : untilSignal(until.signal);
    ended.catch(() => {});
    const result = await work(local, ended);
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
 * Runs `work` with the address of a marketplace: the one that already runs for this place, or one that is opened for it
 * with the server of the project.
 */
export async function withMarketplace<T>(
  flags: PlaceFlags,
  output: Output,
  work: (url: string, place: Place) => Promise<T>,
): Promise<T> {
  const place = await placeOf(flags);
  const running = await runningMarketplace(place.directory);
  if (running !== undefined) return work(running, place);
  return withLocal(place, { port: 0, stdout: 'ignore' }, output, async (local, ended) => {
    await untilServerAnswers(place, ended, output);
    return work(local.url, place);
  });
}

const startMs = 120_000;
const pollMs = 100;

/** @throws SystemError `NOT_STARTED` if the server of a project ends or does not answer in time. */
export async function untilServerAnswers(place: Place, ended: Promise<void>, output: Output): Promise<void> {
  const { endpoint, server } = place;
  if (endpoint === undefined || !server) return;
  const progress = output.progress('starting the server');
  const end = Date.now() + startMs;
  let hasEnded = false;
  const over = () => {
    hasEnded = true;
  };
  ended.then(over, over);
  try {
    while (!(await answers(endpoint))) {
      if (hasEnded || Date.now() > end) {
        throw new SystemError(
          'NOT_STARTED',
          `the server does not answer at ${endpoint}`,
          'Start it with: npm run dev',
        );
      }
      await delay(pollMs);
    }
  } finally {
    progress.stop();
  }
}

/** Whether GET /health of a server is answered with 200. */
async function answers(endpoint: string): Promise<boolean> {
  if (!URL.canParse(endpoint)) return false;
  return fetch(new URL('/health', endpoint), { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function check(
  { project, profile, endpoint = '', server }: Place,
  local: Local,
  onRule: (id: string, done: number, total: number) => void,
) {
  const { caller } = local.marketplace;
  const held: Held =
    project && server
      ? await holdProject(project.directory, profile)
      : {
          target: { url: endpoint, profile, signer: await caller.signer(endpoint) },
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
