import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, untilSignal, unwrap } from 'market-mcp-contract/command';
import { isObject, type Json } from 'market-mcp-contract/json';
import { generic, type PlatformProfile, resolvePlatform } from 'market-mcp-contract/platforms';
import { type HeldServer, holdProject } from '../check/project.ts';
import { selfCheck } from '../check/self-check.ts';
import { type Development, develop, type OutputChunk } from '../dev/develop.ts';
import { type LocalServer, localServer } from '../dev/local-server.ts';
import { publishedState, publisherOf, watchPublished } from '../dev/published.ts';
import { building, running, type ServerState } from '../dev/state.ts';
import { sourceVersion } from '../dev/watch.ts';
import { projectAbove } from '../project/manifest/manifest.ts';
import type { Project } from '../project/model.ts';
import { openProject } from '../project/read/open.ts';
import { parsedJson } from '../project/read/text.ts';
import { stateDirectory } from '../project/write/state-directory.ts';
import { draftOf } from './core/entry.ts';
import type { Marketplace } from './core/marketplace.ts';
import { answerMs, type Local, openLocalMarketplace } from './local.ts';

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

/**
 * @param isOwn whether the server of the project runs at the address that its environment names: it is to be started there. Else
 *   the address of the server that already runs wins.
 * @throws CommandError if the project cannot be read, or if there is no such platform.
 */
export async function placeOf({ endpoint, platform }: Named, isOwn = false): Promise<Place> {
  const cwd = process.cwd();
  const directory = projectAbove(cwd);
  const named = platform === undefined ? undefined : unwrap(await resolvePlatform(platform));
  if (directory === undefined) {
    return { directory: cwd, project: undefined, profile: named ?? generic, endpoint, server: undefined };
  }
  const project = await openProject(directory);
  const profile = named ?? project.profile;
  const server = endpoint === undefined ? await localServer(directory, profile.token) : undefined;
  const published = isOwn ? null : publishedState(directory).url;
  return { directory, project, profile, endpoint: endpoint ?? published ?? server?.url, server };
}

export interface OpenOptions
  extends Partial<Pick<Development, 'nodeArguments' | 'stdout' | 'hidesLog' | 'once'>> {
  readonly port?: number | undefined;
  readonly reset?: boolean;
  /** Starts the server even if it is running; it then fails because its port is in use. */
  readonly startsServer?: boolean;
  /** Called with what the server writes, after the marketplace has it. */
  readonly onWritten?: (written: OutputChunk, marketplace: Marketplace) => void;
  /** Gets what the author should know. */
  say(text: string): void;
}

/**
 * Opens the marketplace of a place, runs the server of its project beside it, runs `work`, and ends both. The server is
 * not started if it already runs.
 *
 * @param work gets `untilEnded`, which waits until a signal arrives, or the server has ended for good. Else a signal ends the program.
 * @throws CommandError `NOT_STARTED` if another program answers at the address of the server.
 */
export async function withLocal<T>(
  place: Place,
  { port, reset, startsServer = false, onWritten, ...running }: OpenOptions,
  work: (local: Local, untilEnded: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const { directory, project, profile, endpoint, server } = place;
  const isElsewhere = !startsServer && publishedState(directory).kind !== 'never-started';
  const runsServer = server !== undefined && !isElsewhere && (startsServer || !(await isServedBy(place)));
  let own: ServerState | undefined = runsServer && endpoint !== undefined ? building(endpoint) : undefined;
  const sources = new Map(project ? sourcesOf(project) : []);
  const publish = running.once ? undefined : publisherOf(directory);
  const local = await openLocalMarketplace({
    directory,
    keyDirectory: project?.directory ?? join(directory, stateDirectory),
    port,
    reset,
    profile,
    endpoint,
    ...(server && { state: async () => own ?? stateOf(place) }),
    ...(project && {
      draft: draftOf(project, project.profile.listing.descriptionSections),
      sources,
    }),
    ...(server && { version: () => sourceVersion(directory) }),
    ...(endpoint !== undefined && { check: (onRule) => selfCheck(hold(place, local), onRule) }),
  });
  const until = new AbortController();
  const follow = async () => {
    // Tools may have been added, renamed or removed; of a project that cannot be read, the known ones stay.
    const now = project && (await openProject(project.directory).catch(() => undefined));
    if (now) {
      sources.clear();
      for (const [name, path] of sourcesOf(now)) sources.set(name, path);
    }
    local.marketplace.emit('change', 'server');
  };
  try {
    if (server !== undefined && !runsServer) watchPublished(directory, follow, until.signal);
    const ended = runsServer
      ? develop({
          directory,
          server: () => serverAt(endpoint, directory, profile),
          nodeArguments: [],
          ...running,
          onWritten: (written) => {
            const { stream, text, exchange } = written;
            local.marketplace.takeLog({ stream, text: text.trimEnd() }, exchange ?? undefined);
            onWritten?.(written, local.marketplace);
          },
          onState: async (state) => {
            own = state;
            await publish?.(state);
            await follow();
          },
          until: until.signal,
        })
      : new Promise<void>((resolve) => until.signal.addEventListener('abort', () => resolve()));
    const failed = new Promise<never>((_, reject) => ended.catch(reject));
    const untilEnded = () =>
      untilSignal((signal) => {
        signal.addEventListener('abort', () => until.abort());
        return ended;
      });
    const result = await Promise.race([work(local, untilEnded), failed]);
    until.abort();
    await ended;
    return result;
  } finally {
    until.abort();
    await local.close();
  }
}

/** The path of each tool's source by the name of the tool. */
function sourcesOf({ tools }: Project): readonly (readonly [string, string])[] {
  return tools.map(({ path, file, source }) => [source.name ?? file, path]);
}

/** @throws CommandError `PORT_CHANGED` if the server would move: callers, tokens and the marketplace use its address. */
async function serverAt(endpoint: string | undefined, directory: string, { token }: PlatformProfile) {
  const server = await localServer(directory, token);
  const { url } = server;
  if (url === endpoint) return server;
  const message = `PORT was changed, so the server would move from ${endpoint} to ${url}`;
  throw new CommandError('PORT_CHANGED', message, 'Restart the command to use the new port.');
}

/**
 * The state of the server of a place's project. A server that nobody has published, such as that of `npm start`, counts if it
 * answers as this project.
 */
export async function stateOf(place: Place): Promise<ServerState> {
  const published = publishedState(place.directory);
  if (published.kind !== 'never-started' || place.endpoint === undefined) return published;
  const isServed = await isServedBy(place).catch(() => false);
  return isServed ? running(place.endpoint) : { ...published, url: place.endpoint };
}

/**
 * Whether the server of a project is running at its address.
 *
 * @throws CommandError `NOT_STARTED` if another program answers there.
 */
async function isServedBy({ directory, endpoint = '' }: Place): Promise<boolean> {
  const health = await healthOf(endpoint);
  if (health === undefined) return false;
  const { name } = parsedJson(readFileSync(join(directory, 'package.json'))) as { name?: string };
  const other = isObject(health) ? health.server : undefined;
  if (other === name) return true;
  const which = typeof other === 'string' ? `the server ${JSON.stringify(other)}` : 'another program';
  const message = `${which} answers at ${endpoint}, where the server of this project would run`;
  throw new CommandError('NOT_STARTED', message, 'Stop it, or set PORT in .env to a free port.');
}

/** The answer to GET /health; null if it is not JSON, undefined if its status is not 200. */
async function healthOf(endpoint: string): Promise<Json | undefined> {
  if (!URL.canParse(endpoint)) return undefined;
  try {
    const answer = await fetch(new URL('/health', endpoint), { signal: AbortSignal.timeout(answerMs) });
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
