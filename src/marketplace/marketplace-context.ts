import { unwrap } from 'market-mcp-contract/command';
import { generic, type PlatformProfile, resolvePlatform } from 'market-mcp-contract/platforms';
import { type LocalServer, localServer } from '../dev/local-server.ts';
import { publishedState } from '../dev/published-state.ts';
import { projectAbove } from '../project/manifest/manifest.ts';
import type { Project } from '../project/opened-project.ts';
import { openProject } from '../project/read/open.ts';

/** What a local marketplace works with: its directory, the author's server, and the project if there is one. */
export interface MarketplaceContext {
  readonly directory: string;
  readonly project: Project | undefined;
  readonly profile: PlatformProfile;
  /** URL of the author's server. */
  readonly endpoint: string | undefined;
  /** How to run the project's server; undefined if a flag named an endpoint instead. */
  readonly server: LocalServer | undefined;
}

/** Flags that replace parts of the context: the URL of a server, and a platform profile or its file. */
type ContextFlags = { readonly [name in 'endpoint' | 'platform']?: string | undefined };

/**
 * Reads the context from the flags and the current directory.
 *
 * @param startsServer whether the command starts the server at the address that its environment names. Otherwise the
 *   address of a running server takes precedence.
 * @throws CommandError if the project cannot be read, or if there is no such platform.
 */
export async function readMarketplaceContext(
  { endpoint, platform }: ContextFlags,
  startsServer = false,
): Promise<MarketplaceContext> {
  const cwd = process.cwd();
  const directory = projectAbove(cwd);
  const chosenProfile = platform === undefined ? undefined : unwrap(await resolvePlatform(platform));
  if (directory === undefined) {
    const profile = chosenProfile ?? generic;
    return { directory: cwd, project: undefined, profile, endpoint, server: undefined };
  }
  const project = await openProject(directory);
  const profile = chosenProfile ?? project.profile;
  if (endpoint !== undefined) return { directory, project, profile, endpoint, server: undefined };
  const server = await localServer(directory, profile.token);
  const runningUrl = startsServer ? null : publishedState(directory).url;
  return { directory, project, profile, endpoint: runningUrl ?? server.url, server };
}
