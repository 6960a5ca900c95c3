import { randomBytes } from 'node:crypto';
import type { PlatformProfile } from '../contract/profile.ts';
import { printable } from '../contract/report.ts';
import { createSigner, type Signer } from '../contract/signer.ts';
import type { Instance, Launch } from '../contract/target.ts';
import { createLauncher, onFreePort } from './launch.ts';
import { ownedBy, type WatchedServer } from './owned.ts';

/** `replay`: from recordings, so that no request leaves this machine and no secret is needed. `live`: from the APIs. */
export type Sources = 'replay' | 'live';

/** A server that was started for a check. */
export interface Started {
  readonly instance: Instance;
  /** Starts further instances like it. */
  readonly launch: Launch;
  readonly signer: Signer;
  /** The server, where a check may start it again. */
  readonly owned: WatchedServer;
}

/** Stacks name the lines of the sources, and an explicit exit says where it was called. */
const nodeArguments = ['--enable-source-maps', '--trace-exit'];

/** Thrown where a server does not come up; the message holds the last lines it wrote. */
export class NotStarted extends Error {}

/**
 * Starts a built server on a free port of this machine, with a throwaway platform key.
 *
 * @param entry the program that Node runs.
 * @param cwd the directory it is run in.
 * @param sources where the tools' source kit takes answers from.
 * @throws NotStarted
 */
export async function start(
  entry: string,
  platform: PlatformProfile,
  cwd: string,
  sources: Sources = 'replay',
): Promise<Started> {
  const started = await onFreePort(async (port) => {
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
      // Rules ask under a public name, as callers of a deployed server do.
      ALLOWED_HOSTS: '*',
      SOURCES: sources,
    };
    const { launch } = createLauncher(entry, environment, { cwd, nodeArguments });
    return { ...(await launch({ PORT: port })), launch, signer };
  });
  const { launch, signer, ...instance } = started;
  if (instance.healthy) return { instance, launch, signer, owned: ownedBy(instance, launch, cwd) };
  const lastLines = instance.output().trim().split('\n').slice(-15).map(printable).join('\n  ');
  throw new NotStarted(`The server does not start. The last lines it wrote:\n  ${lastLines || '(none)'}`);
}
