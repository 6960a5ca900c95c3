import { type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { printable } from 'market-mcp-contract/command';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import {
  createSigner,
  type Instance,
  type Launch,
  type OwnedServer,
  type ProcessEnding,
  type Signer,
} from 'market-mcp-contract/wire';
import { type Deployed, nodeArguments } from './deployed.ts';
import {
  createLauncher,
  launcherOf,
  startOnFreePort,
  type WatchedInstance,
  type WatchedLaunch,
} from './launch.ts';
import { findCrash } from './log-causes.ts';
import { type Incident, printedErrors, type SourceAnswer, type SourceFailure } from './log-events.ts';

/** `replay`: from recordings, without requests to other machines and without secrets. `live`: from the APIs. */
export type Sources = 'replay' | 'live';

/** Where the tools' source kit takes answers from. */
export interface SourceSettings {
  /** Recordings by default. */
  readonly sources?: Sources;
  /** A directory for answers of live sources, which all instances share. */
  readonly answersDirectory?: string | undefined;
  /** The tools that may ask live sources; the others get recorded answers. */
  readonly liveTools?: readonly string[];
  /** The key of the temporary platform; by default a new one. */
  readonly privateKey?: KeyObject;
  /** Its instances are checked instead of processes of the entry. */
  readonly deployed?: Deployed | undefined;
}

/** A server that was started for a check. */
export interface Started {
  readonly instance: Instance;
  /** Starts further instances like it; undefined if they are no processes. */
  readonly launch: Launch | undefined;
  readonly signer: Signer;
  /** The server, if a check may restart it. */
  readonly owned: WatchedServer;
  /** The answers of all instances so far, with their sources. */
  answers(): readonly SourceAnswer[];
}

/** Thrown if a server does not start. */
export class NotStarted extends Error {
  /** The last lines that it wrote. */
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(`The server does not start. The last lines that it wrote:\n${lines.join('\n')}`);
    this.lines = lines;
  }
}

/** Enough for an error with its stack. */
const maxErrorLines = 40;

/**
 * Starts a built server on a free port of this machine, with a temporary platform key.
 *
 * @param entry the program that Node runs.
 * @param cwd its working directory.
 * @throws NotStarted
 */
export async function startServer(
  entry: string,
  platform: PlatformProfile,
  cwd: string,
  { sources = 'replay', answersDirectory, liveTools = [], privateKey, deployed }: SourceSettings = {},
): Promise<Started> {
  const instances: WatchedInstance[] = [];
  const startedServer = await startOnFreePort(async (port) => {
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
      TOKEN_STATE_URL: undefined,
      TOKEN_ONCE: undefined, // rules send a token several times
      ALLOWED_ORIGINS: undefined,
      // Rules send a public host name, as callers of a deployed server do.
      ALLOWED_HOSTS: '*',
      SOURCES: sources,
      SOURCES_LOG: '1',
      SOURCES_KEPT: answersDirectory,
      SOURCES_TOOLS: JSON.stringify(liveTools),
    };
    const launchOne = deployed
      ? launcherOf((variables) => deployed.commandOf(cwd, variables), environment)
      : createLauncher(entry, environment, { cwd, nodeArguments });
    const launch: WatchedLaunch = async (extraVariables) => {
      const launched = await launchOne(extraVariables);
      instances.push(launched);
      return launched;
    };
    return { ...(await launch({ PORT: port })), launch, signer };
  });
  const { launch, signer, ...instance } = startedServer;
  if (instance.healthy) {
    const answers = () => instances.flatMap((instance) => instance.answers());
    const isProcess = deployed?.isProcess !== false;
    const owned = ownedBy(instance, launch, cwd);
    return { instance, launch: isProcess ? launch : undefined, signer, owned, answers };
  }
  const lines = instance.output().trim().split('\n').slice(-maxErrorLines).map(printable);
  throw new NotStarted(lines[0] === '' ? ['(it wrote nothing)'] : lines);
}

/** The checked server of a project, with its log. */
interface WatchedServer extends OwnedServer {
  instance(): WatchedInstance;
  /** The errors in its code that all its processes have logged. */
  incidents(): readonly Incident[];
  /** The requests to APIs that failed in calls of all its processes. */
  failures(): readonly SourceFailure[];
}

/** Milliseconds within which an ending process closes its output. */
const closingMs = 1_000;
const lastLines = 3;

/**
 * A server that keeps its address when it is restarted: tokens are issued for that address.
 *
 * @param directory the project; places in it are shown relative to it.
 */
export function ownedBy(first: WatchedInstance, launch: WatchedLaunch, directory: string): WatchedServer {
  const launches = [first];
  const current = () => launches.at(-1) ?? first;
  return {
    instance: current,
    incidents: () =>
      launches.flatMap((instance) => [...instance.incidents(), ...printedErrors(instance.errors())]),
    failures: () => launches.flatMap((instance) => instance.failures()),
    async restart() {
      await current().stop();
      const next = await launch({ PORT: new URL(first.url).port });
      launches.push(next);
      return next;
    },
    async ending(): Promise<ProcessEnding> {
      const instance = current();
      const exit = await Promise.race([instance.exit, setTimeout(closingMs, undefined, { ref: false })]);
      if (!exit) return {};
      const errors = instance.errors();
      const cause = findCrash(errors, directory);
      if (cause) return { exit, cause };
      return { exit, lastLines: errors.trim().split('\n').slice(-lastLines).join(' | ').slice(-300) };
    },
  };
}
