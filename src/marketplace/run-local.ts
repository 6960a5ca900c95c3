import { join } from 'node:path';
import { CommandError, untilSignal } from 'market-mcp-contract/command';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { openForCheck, type ServerToCheck } from '../check/check-project.ts';
import { selfCheck } from '../check/self-check.ts';
import { type Development, develop, type OutputChunk } from '../dev/develop.ts';
import { localServer } from '../dev/local-server.ts';
import { publishedState, publisherOf, watchPublished } from '../dev/published-state.ts';
import { building, type ServerState } from '../dev/state.ts';
import { sourceVersion } from '../dev/watch.ts';
import type { Project } from '../project/opened-project.ts';
import { openProject } from '../project/read/open.ts';
import { stateDirectory } from '../project/write/state-directory.ts';
import { draftOf } from './core/entry.ts';
import type { Marketplace } from './core/marketplace.ts';
import { type Local, openLocalMarketplace } from './local.ts';
import type { MarketplaceContext } from './marketplace-context.ts';
import { isServerRunning, readServerState } from './server-state.ts';

export interface RunOptions
  extends Partial<Pick<Development, 'nodeArguments' | 'stdout' | 'hidesLog' | 'once'>> {
  readonly port?: number | undefined;
  readonly reset?: boolean;
  /** Starts the server even if it is running; it then fails because its port is in use. */
  readonly startsServer?: boolean;
  /** Called with what the server writes, after the marketplace has it. */
  readonly onWritten?: (chunk: OutputChunk, marketplace: Marketplace) => void;
  /** Gets what the author should know. */
  say(text: string): void;
}

/**
 * Opens the marketplace of a context, runs the project's server beside it, runs `work`, and ends both. A server that
 * already runs is not started.
 *
 * @param work gets `untilEnded`, which waits until a signal arrives or the server has ended. Otherwise a signal ends the program.
 * @throws CommandError `NOT_STARTED` if another program answers at the address of the server.
 */
export async function runLocalMarketplace<T>(
  context: MarketplaceContext,
  options: RunOptions,
  work: (local: Local, untilEnded: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const server = new ProjectServer(context, await mustStartServer(context, options));
  const local = await openFor(context, options, server);
  const stop = new AbortController();
  try {
    const exitCode = server.run(local.marketplace, options, stop.signal);
    const failed = new Promise<never>((_, reject) => exitCode.catch(reject));
    const untilEnded = () =>
      untilSignal((signal) => {
        signal.addEventListener('abort', () => stop.abort());
        return exitCode;
      });
    const result = await Promise.race([work(local, untilEnded), failed]);
    stop.abort();
    await exitCode;
    return result;
  } finally {
    stop.abort();
    await local.close();
  }
}

async function mustStartServer(
  context: MarketplaceContext,
  { startsServer = false }: RunOptions,
): Promise<boolean> {
  if (context.server === undefined) return false;
  if (startsServer) return true;
  if (publishedState(context.directory).kind !== 'never-started') return false;
  return !(await isServerRunning(context));
}

/** The server of a project beside its marketplace: its state, and the source file of each tool. */
class ProjectServer {
  readonly toolSources = new Map<string, string>();
  readonly #context: MarketplaceContext;
  readonly #isStarted: boolean;
  /** Its state, as this process knows it; undefined if another process runs the server. */
  #state: ServerState | undefined;

  /** @param isStarted whether this process starts the server */
  constructor(context: MarketplaceContext, isStarted: boolean) {
    this.#context = context;
    this.#isStarted = isStarted;
    if (isStarted && context.endpoint !== undefined) this.#state = building(context.endpoint);
    this.#readToolSources(context.project);
  }

  async state(): Promise<ServerState> {
    return this.#state ?? readServerState(this.#context);
  }

  /** Runs or follows the server until `signal` aborts. */
  async run(marketplace: Marketplace, options: RunOptions, signal: AbortSignal): Promise<void> {
    if (this.#isStarted) return this.#develop(marketplace, options, signal);
    const { directory, server } = this.#context;
    if (server !== undefined) watchPublished(directory, () => this.#follow(marketplace), signal);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  }

  #develop(
    marketplace: Marketplace,
    { nodeArguments = [], stdout, hidesLog, once, say, onWritten }: RunOptions,
    until: AbortSignal,
  ): Promise<void> {
    const { directory, endpoint, profile } = this.#context;
    const publish = once ? undefined : publisherOf(directory);
    return develop({
      directory,
      server: () => requireSameServer(endpoint, directory, profile),
      nodeArguments,
      say,
      onWritten: (chunk) => {
        const { stream, text, exchange } = chunk;
        marketplace.takeLog({ stream, text: text.trimEnd() }, exchange ?? undefined);
        onWritten?.(chunk, marketplace);
      },
      onState: async (state) => {
        this.#state = state;
        await publish?.(state);
        await this.#follow(marketplace);
      },
      stdout,
      hidesLog,
      once,
      until,
    });
  }

  /** Reads the project again, because tools may have been added, renamed or removed, and tells the pages. */
  async #follow(marketplace: Marketplace): Promise<void> {
    const { project } = this.#context;
    // While the project cannot be read, the last list of its tools stays.
    const changed = project && (await openProject(project.directory).catch(() => undefined));
    if (changed) this.#readToolSources(changed);
    marketplace.emit('change', 'server');
  }

  #readToolSources(project: Project | undefined): void {
    this.toolSources.clear();
    for (const { path, file, source } of project?.tools ?? [])
      this.toolSources.set(source.name ?? file, path);
  }
}

/** Opens the marketplace with what it may ask about the project and its server. */
async function openFor(
  context: MarketplaceContext,
  { port, reset }: RunOptions,
  projectServer: ProjectServer,
): Promise<Local> {
  const { directory, project, profile, endpoint, server } = context;
  const local: Local = await openLocalMarketplace({
    directory,
    keyDirectory: project?.directory ?? join(directory, stateDirectory),
    port,
    reset,
    profile,
    endpoint,
    ...(server && { state: () => projectServer.state(), version: () => sourceVersion(directory) }),
    ...(project && {
      draft: draftOf(project, project.profile.listing.descriptionSections),
      sources: projectServer.toolSources,
    }),
    ...(endpoint !== undefined && { check: (onRule) => selfCheck(serverToCheck(context, local), onRule) }),
  });
  return local;
}

/** @throws CommandError `PORT_CHANGED` if the server would move: callers, tokens and the marketplace use its address. */
async function requireSameServer(
  endpoint: string | undefined,
  directory: string,
  { token }: PlatformProfile,
) {
  const server = await localServer(directory, token);
  if (server.url === endpoint) return server;
  const message = `PORT was changed, so the server would move from ${endpoint} to ${server.url}`;
  throw new CommandError('PORT_CHANGED', message, 'Restart the command to use the new port.');
}

async function serverToCheck(
  { project, profile, endpoint = '', server }: MarketplaceContext,
  local: Local,
): Promise<ServerToCheck> {
  if (project && server) return openForCheck(project.directory, { platform: profile });
  const signer = await local.marketplace.caller.signer(endpoint);
  return { target: { url: endpoint, profile, signer, callPolicy: { named: [] } }, release: async () => {} };
}
