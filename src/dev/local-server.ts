import { CommandError } from 'market-mcp-contract/command';
import { present } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { dotEnv } from '../project/read/dot-env.ts';
import { type LocalPlatform, openLocalPlatform } from './local-platform.ts';

/** The server of a project in development. */
export interface LocalServer {
  /** Its endpoint URL for callers and tokens. */
  readonly url: string;
  /** Its HOST. */
  readonly host: string;
  /** Whether PORT is set. */
  readonly namesPort: boolean;
  /** Its environment: that of this process, with the local platform in place of the platform. */
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: LocalPlatform;
  /** The longest lifetime of a token that it accepts, in seconds (MAX_TOKEN_SECONDS). */
  readonly maxTokenSeconds: number;
}

/** As in `packages/runtime/src/config.ts`: the default of MAX_TOKEN_SECONDS is this many lifetimes of the platform's tokens. */
const lifetimeFactor = 10;

/**
 * How to run the server of a project on this machine. Environment variables override those of `.env`; AUTH=off is kept.
 *
 * @throws CommandError `ENV_UNREADABLE`, `BAD_PORT`, `IN_PRODUCTION`.
 */
export async function localServer(
  directory: string,
  token: PlatformProfile['token'],
  env: NodeJS.ProcessEnv = process.env,
): Promise<LocalServer> {
  const given = { ...dotEnv(directory), ...present(env) };
  const port = portOf(given.PORT);
  const platform = await openLocalPlatform(directory, token, given);
  return {
    url: `http://localhost:${port}/mcp`,
    host: given.HOST?.trim() || '0.0.0.0',
    namesPort: Boolean(given.PORT?.trim()),
    platform,
    maxTokenSeconds: Number(given.MAX_TOKEN_SECONDS?.trim()) || lifetimeFactor * token.lifetimeSeconds,
    environment: {
      ...env,
      PLATFORM_PUBLIC_KEY: platform.publicKey,
      PLATFORM_ISSUER: platform.issuer,
      PLATFORM_AUDIENCE: '',
      SHUTDOWN_GRACE_MS: '1000',
      DRAIN_MS: '0',
    },
  };
}

const defaultPort = '3000';

function portOf(text: string | undefined): number {
  const given = text?.trim() || defaultPort;
  const port = Number(given);
  if (/^\d+$/.test(given) && port >= 1 && port <= 65_535) return port;
  const message = `PORT: expected a whole number from 1 to 65535, got ${JSON.stringify(given)}`;
  throw new CommandError('BAD_PORT', message, 'Correct it in the environment or in .env.');
}
