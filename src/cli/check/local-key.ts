import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, isObject, parseJsonText } from 'market-mcp-contract/json';
import { createSigner, isLoopback, Probe } from 'market-mcp-contract/wire';
import { openLocalPlatform } from '../../dev/local-server.ts';
import { findProject, readManifest } from '../../project/manifest/manifest.ts';
import { presentProfile } from '../../project/manifest/project-profile.ts';
import { readIn } from '../../project/read/resolve-inside.ts';
import { marketCommand } from '../../system/command-line.ts';
import type { CheckFlags } from '../command-flags.ts';

type KeyFlags = Pick<CheckFlags, 'signingKey' | 'issuer'>;

/** The key of a project's local platform, for the check of a URL. */
export interface LocalKey {
  /** The flags that sign with it; none if it is not used. */
  readonly flags: KeyFlags;
  /** What to print. */
  readonly lines: readonly string[];
}

const keyFile = '.local/platform-key.pem';
const probeMs = 5_000;

/**
 * The local platform's key for a URL on this machine, if the server there belongs to the project of a directory and accepts it.
 *
 * @returns undefined if the flags name a key or a token, if the URL leads elsewhere, or if the directory has no such key
 */
export async function localKeyFor(
  url: string,
  flags: CheckFlags,
  from: string,
): Promise<LocalKey | undefined> {
  const isKeyless = flags.token === undefined && flags.signingKey === undefined;
  if (!isKeyless || !URL.canParse(url) || !isLoopback(new URL(url).hostname)) return undefined;
  const directory = attempt(() => findProject(from), undefined);
  if (directory === undefined || !existsSync(join(directory, keyFile))) return undefined;
  const profile = presentProfile(readManifest(directory));
  const { issuer, privateKey } = await openLocalPlatform(directory, profile.token, process.env);
  const file = join(directory, keyFile);
  const signer = await createSigner(profile.token, url, { issuer, privateKey });
  const probe = new Probe({ url, profile, signer, timeoutMs: probeMs });
  try {
    const isProject = await isServedAt(probe, directory);
    if (isProject && (await acceptsToken(probe)))
      return {
        flags: { signingKey: file, issuer },
        lines: [`Tokens are signed with ${keyFile}, the key of the local platform of this project.`],
      };
  } catch {
    // The check itself reports a server that does not answer.
  } finally {
    await probe.close();
  }
  const command = marketCommand('check', url, '--signing-key', file, '--issuer', issuer);
  return {
    flags: {},
    lines: [
      `Tokens are not signed with ${keyFile}: this server is not the project, or refuses it. To use it: ${command}`,
    ],
  };
}

/** Whether GET /health names the project and its version. */
async function isServedAt(probe: Probe, directory: string): Promise<boolean> {
  const [health] = (await probe.health()).values;
  const [manifest] = parseJsonText(readIn(directory, 'package.json').toString('utf8'));
  if (!isObject(health) || !isObject(manifest)) return false;
  return health.server === manifest.name && health.version === manifest.version;
}

/** Whether a call with a token gets a result. It names no tool of the server, so that it changes nothing. */
async function acceptsToken(probe: Probe): Promise<boolean> {
  const token = await probe.token();
  const session = await probe.session();
  const params = { name: 'no_such_tool', arguments: {} };
  return (await probe.rpcOnce('tools/call', params, { session, token })).result !== undefined;
}
