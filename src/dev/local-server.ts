import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { exportPKCS8, generateKeyPair } from 'jose';
import { CommandError } from 'market-mcp-contract/command';
import { present } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { createSigner } from 'market-mcp-contract/wire';
import { readDotEnv } from '../project/read/dot-env.ts';
import { isEntry, readRegular } from '../project/read/read-files.ts';
import { resolveInside } from '../project/read/resolve-inside.ts';

/** The server of a project in development. */
export interface LocalServer {
  /** Its endpoint URL for callers and tokens. */
  readonly url: string;
  /** Its HOST. */
  readonly host: string;
  /** Whether PORT is set. */
  readonly namesPort: boolean;
  /** Its environment: this process's environment, with the local platform instead of the real one. */
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
  const variables = { ...readDotEnv(directory), ...present(env) };
  const port = portOf(variables.PORT);
  const platform = await openLocalPlatform(directory, token, variables);
  return {
    url: `http://localhost:${port}/mcp`,
    host: variables.HOST?.trim() || '0.0.0.0',
    namesPort: Boolean(variables.PORT?.trim()),
    platform,
    maxTokenSeconds: Number(variables.MAX_TOKEN_SECONDS?.trim()) || lifetimeFactor * token.lifetimeSeconds,
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
  const portText = text?.trim() || defaultPort;
  const port = Number(portText);
  if (/^\d+$/.test(portText) && port >= 1 && port <= 65_535) return port;
  const message = `PORT: expected a whole number from 1 to 65535, got ${JSON.stringify(portText)}`;
  throw new CommandError('BAD_PORT', message, 'Correct it in the environment or in .env.');
}

/** The `iss` of tokens if the platform profile names none. */
const localIssuer = 'urn:local-platform';

/** Replaces the platform on this machine: it signs tokens with its own key. */
export interface LocalPlatform {
  /** PEM text (SPKI), for PLATFORM_PUBLIC_KEY. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
  /** The `iss` of its tokens: the platform's own, if the profile knows it. */
  readonly issuer: string;
  /** A token as the platform sends it with a paid call. */
  sign(audience: string, lifetimeSeconds: number): Promise<string>;
}

/**
 * Opens the local platform of a project. Its key is created when first needed and kept in `.local/`, which git ignores.
 *
 * @throws CommandError `IN_PRODUCTION` if NODE_ENV is production: a live server must trust only the platform's key;
 *   the errors of `resolveInside` and `readRegular`.
 */
export async function openLocalPlatform(
  directory: string,
  token: PlatformProfile['token'],
  env: NodeJS.ProcessEnv,
): Promise<LocalPlatform> {
  if (env.NODE_ENV?.trim().toLowerCase() === 'production') {
    const message = 'NODE_ENV is production, but the local platform is only for development';
    throw new CommandError('IN_PRODUCTION', message, 'Unset NODE_ENV in the environment and in .env.');
  }
  const algorithm = token.algorithms[0] ?? 'RS256';
  const privateKey = createPrivateKey(await readOrMakeKey(directory, algorithm));
  const issuer = token.issuer ?? localIssuer;
  return {
    publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
    privateKey,
    issuer,
    async sign(audience, lifetimeSeconds) {
      const signer = await createSigner(token, audience, { issuer, privateKey });
      return signer.token({ claims: { exp: Math.floor(Date.now() / 1_000) + lifetimeSeconds } });
    },
  };
}

async function readOrMakeKey(directory: string, algorithm: string): Promise<Buffer> {
  const file = resolveInside(directory, '.local/platform-key.pem');
  if (!isEntry(file)) {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(file, await exportPKCS8(privateKey), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // Another process has created it in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readRegular(file);
}
