import { readConfig } from '../src/config.ts';
import { platform } from '../src/platform.ts';
import { loadEnvironment, projectDirectory, refuse } from '../src/process.ts';
import { localIssuer, openLocalPlatform } from './key.ts';

loadEnvironment();

/** The local platform of this project; the process ends with 1 where there may be none. */
export const localPlatform = await openLocalPlatform(projectDirectory, platform.token).catch((error: Error) =>
  refuse([error.message]),
);

/** Environment of the server that `npm run dev` runs: this process's, with the local platform in the platform's place. */
export const localEnvironment = {
  ...process.env,
  AUTH: '',
  PLATFORM_PUBLIC_KEY: localPlatform.publicKey,
  PLATFORM_ISSUER: localIssuer,
  PLATFORM_AUDIENCE: '',
  SHUTDOWN_GRACE_MS: '1000',
};

const configured = readConfig(localEnvironment, platform);
if (!configured.ok) refuse(configured.errors);

/** The endpoint URL of that server, as callers and tokens name it. */
export const localUrl = `http://localhost:${configured.config.port}/mcp`;
