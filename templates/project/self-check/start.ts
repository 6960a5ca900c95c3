import { randomBytes } from 'node:crypto';
import {
  createSigner,
  type Instance,
  type Launch,
  type PlatformProfile,
  printable,
  type Signer,
} from '../contract/index.ts';
import { createLauncher, freePort } from './launch.ts';

/** A server that was started for a check. */
export interface Started {
  readonly instance: Instance;
  /** Starts further instances like it. */
  readonly launch: Launch;
  readonly signer: Signer;
}

/** Thrown where a server does not come up; the message holds its last words. */
export class NotStarted extends Error {}

/** Another program may take the port between its choice and its use. */
const startAttempts = 3;

/**
 * Starts a built server on a free port of this machine, with a throwaway platform key.
 *
 * @param entry the program that Node runs.
 * @param cwd the directory it is run in.
 * @throws NotStarted
 */
export async function start(entry: string, platform: PlatformProfile, cwd: string): Promise<Started> {
  let lastWords = '';
  for (let attempt = 1; attempt <= startAttempts; attempt++) {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}/mcp`;
    const signer = await createSigner(platform.token, url);
    const environment = {
      HOST: '127.0.0.1',
      NODE_ENV: 'test',
      AUTH: undefined,
      PLATFORM_PUBLIC_KEY: signer.publicKey,
      PLATFORM_JWKS_URL: undefined,
      PLATFORM_ISSUER: signer.issuer,
      PLATFORM_AUDIENCE: url,
      SESSION_SECRET: randomBytes(32).toString('hex'),
      ALLOWED_ORIGINS: undefined,
    };
    const { launch } = createLauncher(entry, environment, { cwd });
    const instance = await launch({ PORT: port });
    if (instance.healthy) return { instance, launch, signer };
    lastWords = instance.output().trim().split('\n').slice(-15).map(printable).join('\n  ');
    if (!/in use|EADDRINUSE/.test(lastWords)) break;
  }
  throw new NotStarted(`The server does not start. Its last words:\n  ${lastWords || '(none)'}`);
}
