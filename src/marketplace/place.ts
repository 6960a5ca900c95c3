import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resolvePlatform } from '../changes/platform.ts';
import { type HeldServer, holdProject } from '../check/project.ts';
import { selfCheck } from '../check/self-check.ts';
import { isObject } from '../contract/json.ts';
import type { Json } from '../contract/model.ts';
import { generic } from '../contract/platforms/index.ts';
import type { PlatformProfile } from '../contract/platforms/profile.ts';
import { type Development, develop } from '../dev/develop.ts';
import { type LocalServer, localServer } from '../dev/local-server.ts';
import { unwrap } from '../model/command-error.ts';
import { ProjectError } from '../project/errors.ts';
import { findProject } from '../project/manifest/manifest.ts';
import type { Project } from '../project/model.ts';
import { openProject } from '../project/read/open.ts';
import { SystemError } from '../system/errors.ts';
import { draftOf } from './core/entry.ts';
import { stateDirectory } from './core/store.ts';
import { type Local, openLocalMarketplace } from './local.ts';

/** Where a marketplace runs: its directory, the author's server, and the project if there is one. */
export interface Place {
  readonly directory: string;
  readonly project: Project | undefined;
  readonly profile: PlatformProfile;
  readonly endpoint: string | undefined;
  /** How to run the project's server; undefined if an endpoint was named instead. */
  readonly server: LocalServer | undefined;
}

/** What flags name besides the current directory: the URL of a server, and a platform profile or its file. */
type Named = { readonly [name in 'endpoint' | 'platform']?: string | undefined };

/** @throws ProjectError if the project cannot be read; CommandError if there is no such platform. */
export async function placeOf({ endpoint, platform }: Named): Promise<Place> {
  const cwd = process.cwd();
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

export interface OpenOptions extends Partial<Pick<Development, 'nodeArguments' | 'stdout' | 'once'>> {
  readonly port?: number | undefined;
  readonly reset?: boolean;
  /** Starts the server even if it is running; it then fails because its port is in use. */
  readonly startsServer?: boolean;
  /** Gets what the author should know. */
  say(text: string): void;
}

/**
 * Opens the marketplace of a place, runs the server of its project beside it, runs `work`, and ends both. The server is
 * not started if it already runs.
 *
 * @param work gets `ended`, which settles when the server has ended for good, and `failed`, which is aborted when it could
 *   not start or ended by itself, even if a change will start it again.
 * @throws SystemError `NOT_STARTED` if another program answers at the address of the server.
 */
export async function withLocal<T>(
  place: Place,
  { port, reset, startsServer = false, ...running }: OpenOptions,
  work: (local: Local, ended: Promise<void>, failed: AbortSignal) => Promise<T>,
): Promise<T> {
  const { directory, project, profile, endpoint, server } = place;
  const isRunning = server !== undefined && !startsServer && (await isServedBy(place));
  const local = await openLocalMarketplace({
    directory,
    keyDirectory: project?.directory ?? join(directory, stateDirectory),
    port,
    reset,
    profile,
    endpoint,
    ...(project && {
      draft: draftOf(project),
      sources: new Map(project.tools.map(({ path, file, source }) => [source.name ?? file, path])),
    }),
    ...(endpoint !== undefined && { check: (onRule) => selfCheck(hold(place, local), onRule) }),
  });
  const until = new AbortController();
  const failed = new AbortController();
  const fail = () => failed.abort();
  try {
    const ended =
      project && server && !isRunning
        ? develop({
            directory,
            environment: () => environmentAt(endpoint, directory, profile),
            nodeArguments: [],
            ...running,
            onWritten: ({ stream, text, exchange }) =>
              local.marketplace.takeLog({ stream, text: text.trimEnd() }, exchange ?? undefined),
            onFailure: fail,
            until: until.signal,
          })
        : untilSignal(until.signal);
    ended.then(fail, fail);
    const result = await work(local, ended, failed.signal);
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
async function untilSignal(signal: AbortSignal): Promise<void> {
  const waits = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name, { signal }));
  await Promise.race(waits).catch(() => {});
  for (const wait of waits) wait.catch(() => {});
}

const startMs = 120_000;
const pollMs = 100;

/**
 * Resolves when the server of a place's project answers.
 *
 * @throws SystemError `NOT_STARTED` if it fails or does not answer in time, or another program answers.
 */
export async function untilServerAnswers(place: Place, failed: AbortSignal): Promise<void> {
  const end = Date.now() + startMs;
  while (!(await isServedBy(place))) {
    if (failed.aborted) {
      const hint = 'Correct the error that is printed above, and run the command again.';
      throw new SystemError('NOT_STARTED', 'the server of the project did not start', hint);
    }
    if (Date.now() > end) {
      const hint = 'Run npm run dev to see what it waits for.';
      const waited = `${startMs / 1_000} seconds after its start`;
      throw new SystemError('NOT_STARTED', `${place.endpoint} does not answer ${waited}`, hint);
    }
    await delay(pollMs);
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

async function hold({ project, profile, endpoint = '', server }: Place, local: Local): Promise<HeldServer> {
  if (project && server) return holdProject(project.directory, { platform: profile });
  const signer = await local.marketplace.caller.signer(endpoint);
  return { target: { url: endpoint, profile, signer, calls: { named: [] } }, release: async () => {} };
}
