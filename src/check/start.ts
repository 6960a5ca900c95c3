import { type KeyObject, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PlatformProfile } from '../contract/platforms/profile.ts';
import { createSigner, type Signer } from '../contract/probe/signer.ts';
import { printable } from '../contract/report/report.ts';
import type { Instance, Launch } from '../contract/target.ts';
import { containerOf, type Image } from '../system/containers.ts';
import {
  type Command,
  createLauncher,
  launcherOf,
  onFreePort,
  type WatchedInstance,
  type WatchedLaunch,
} from './launch.ts';
import type { SourceAnswer } from './logged.ts';
import { ownedBy, type WatchedServer } from './owned.ts';

/** `replay`: from recordings, without requests to other machines and without secrets. `live`: from the APIs. */
export type Sources = 'replay' | 'live';

/** Where the tools' source kit takes answers from. */
export interface SourceSettings {
  /** Recordings by default. */
  readonly sources?: Sources;
  /** A directory for answers of live sources, which all instances share. */
  readonly kept?: string | undefined;
  /** The tools that may ask live sources; the others get recorded answers. */
  readonly asking?: readonly string[];
  /** The key of the temporary platform; by default a new one. */
  readonly privateKey?: KeyObject;
  /** The image whose containers are the instances, instead of processes of the entry. */
  readonly image?: Image | undefined;
}

/** A server that was started for a check. */
export interface Started {
  readonly instance: Instance;
  /** Starts further instances like it. */
  readonly launch: Launch;
  readonly signer: Signer;
  /** The server, if a check may restart it. */
  readonly owned: WatchedServer;
  /** The answers of all instances so far, with their sources. */
  answers(): readonly SourceAnswer[];
}

/** Stack traces name source lines, and an explicit exit prints where it was called. */
const nodeArguments = ['--enable-source-maps', '--trace-exit'];

/** Thrown if a server does not start; the message contains its last lines. */
export class NotStarted extends Error {}

/**
 * Starts a built server on a free port of this machine, with a temporary platform key.
 *
 * @param entry the program that Node runs.
 * @param cwd its working directory.
 * @throws NotStarted
 */
export async function start(
  entry: string,
  platform: PlatformProfile,
  cwd: string,
  { sources = 'replay', kept, asking = [], privateKey, image }: SourceSettings = {},
): Promise<Started> {
  const all: WatchedInstance[] = [];
  const started = await onFreePort(async (port) => {
    const url = `http://127.0.0.1:${port}/mcp`;
    const signer = await createSigner(platform.token, url, { privateKey });
    const environment = {
      HOST: '127.0.0.1',
      NODE_ENV: 'test',
      AUTH: undefined,
      PLATFORM_PUBLIC_KEY: signer.publicKey,
      PLATFORM_JWKS_URL: undefined,
      PLATFORM_ISSUER: signer.issuer,
      PLATFORM_AUDIENCE: url,
      SESSION_SECRET: randomBytes(32).toString('hex'),
      DRAIN_MS: undefined,
      STATE_URL: undefined,
      ALLOWED_ORIGINS: undefined,
      // Rules send a public host name, as callers of a deployed server do.
      ALLOWED_HOSTS: '*',
      SOURCES: sources,
      SOURCES_LOG: '1',
      SOURCES_KEPT: kept,
      SOURCES_TOOLS: JSON.stringify(asking),
    };
    const launcher = image
      ? launcherOf((variables) => inContainer(image, cwd, variables), environment)
      : createLauncher(entry, environment, { cwd, nodeArguments });
    const launch: WatchedLaunch = async (further) => {
      const launched = await launcher.launch(further);
      all.push(launched);
      return launched;
    };
    return { ...(await launch({ PORT: port })), launch, signer };
  });
  const { launch, signer, ...instance } = started;
  if (instance.healthy) {
    const answers = () => all.flatMap((one) => one.answers());
    return { instance, launch, signer, owned: ownedBy(instance, launch, cwd), answers };
  }
  const lastLines = instance.output().trim().split('\n').slice(-15).map(printable).join('\n  ');
  throw new NotStarted(`The server does not start. The last lines it wrote:\n  ${lastLines || '(none)'}`);
}

/** An instance in a container, with the recordings of its project, which no image contains. */
function inContainer(image: Image, project: string, variables: NodeJS.ProcessEnv): Command {
  const { workingDirectory: inside } = image;
  const recordings = join(project, 'test/recordings');
  const mounts = existsSync(recordings) ? [[`${inside}/test/recordings`, recordings] as const] : [];
  const env = { ...variables, NODE_OPTIONS: nodeArguments.join(' ') };
  return {
    ...containerOf(image, Object.keys(env), new Map(mounts)),
    env: { ...process.env, ...env },
    localized: (text) => text.replaceAll(`${inside}/dist/`, `${project}/dist/`),
  };
}
