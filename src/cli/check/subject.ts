import { createPrivateKey, type KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { type Held, holdProject } from '../../check/project.ts';
import { build } from '../../check/self-check.ts';
import { createTokenSigner } from '../../check/token-signer.ts';
import { generic } from '../../contract/platforms/index.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { createSigner, type Signer } from '../../contract/signer.ts';
import { readInput } from '../../project/input.ts';
import { findProject } from '../../project/manifest.ts';
import { fault, pass, refuse, together } from '../../spec/fault.ts';
import type { Fault, Result } from '../../spec/model.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { resolvePlatform } from '../create/platform.ts';
import type { Output } from '../output.ts';
import type { CheckFlags } from './flags.ts';

/** What is checked. */
export interface Subject {
  /** The project, where it is one. */
  readonly directory?: string;
  /** Makes the server ready for one run. */
  hold(output: Output): Promise<Held>;
}

/** The project or the server that a target names; no target is the project one stands in. */
export async function subjectOf(target: string | undefined, flags: CheckFlags): Promise<Result<Subject>> {
  const platform = flags.platform === undefined ? pass(undefined) : await resolvePlatform(flags.platform);
  if (!platform.ok) return platform;
  if (target !== undefined && /^https?:\/\//i.test(target)) {
    return URL.canParse(target)
      ? serverAt(target, platform.value ?? generic, flags)
      : refuse(
          fault('[target]', target, 'is no URL', 'Write the whole address: https://tools.example.com/mcp.'),
        );
  }
  const faults = onlyFor('a URL', ['token', 'signingKey', 'issuer', 'audience', 'header'], flags);
  if (faults.length > 0) return refuse(...faults);
  return pass(project(findProject(resolve(target ?? '.')), platform.value));
}

function project(directory: string, platform: PlatformProfile | undefined): Subject {
  return {
    directory,
    async hold(output) {
      const progress = output.progress('building');
      try {
        await build(directory, detectPackageManager(directory, process.env));
        progress.update('starting');
        return await holdProject(directory, platform);
      } finally {
        progress.stop();
      }
    },
  };
}

async function serverAt(url: string, profile: PlatformProfile, flags: CheckFlags): Promise<Result<Subject>> {
  const faults = onlyFor('a directory', ['watch'], flags);
  if (faults.length > 0) return refuse(...faults);
  const signer = await signerOf(url, profile, flags);
  const headers = together(flags.header.map(headerOf));
  if (!signer.ok) return signer;
  if (!headers.ok) return headers;
  const target = {
    url,
    profile,
    headers: Object.fromEntries(headers.value),
    ...(signer.value && { signer: signer.value }),
  };
  return pass({ hold: async () => ({ target, release: async () => {} }) });
}

async function signerOf(
  url: string,
  { token: platform }: PlatformProfile,
  { token, signingKey, issuer, audience = url }: CheckFlags,
): Promise<Result<Signer | undefined>> {
  if (token !== undefined && signingKey !== undefined) {
    return refuse(fault('--token', undefined, 'goes not together with --signing-key', 'Give one of them.'));
  }
  if (token !== undefined) {
    return attempt('--token', 'Give a JWT: three parts with dots between.', () =>
      createTokenSigner(token, platform),
    );
  }
  if (signingKey === undefined) return pass(undefined);
  const privateKey = await readKey(signingKey);
  if (!privateKey.ok) return privateKey;
  return attempt('--signing-key', 'Give a key for an algorithm of the platform.', () =>
    createSigner(platform, audience, { issuer, privateKey: privateKey.value }),
  );
}

async function readKey(given: string): Promise<Result<KeyObject>> {
  const pem = given.includes('-----BEGIN') ? given : await readInput(given);
  return attempt('--signing-key', 'Give a private key as PEM, or the path of one.', async () =>
    createPrivateKey(pem),
  );
}

/** The value itself stays out of the fault: it may be a secret. */
async function attempt<T>(where: string, hint: string, act: () => Promise<T>): Promise<Result<T>> {
  try {
    return pass(await act());
  } catch (error) {
    return refuse(fault(where, undefined, error instanceof Error ? error.message : String(error), hint));
  }
}

function headerOf(line: string): Result<readonly [string, string]> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\x20-\x7e]*)$/.exec(line) ?? [];
  return name === undefined || value === undefined
    ? refuse(fault('--header', undefined, 'one is no header line', 'Write --header "Name: value".'))
    : pass([name.toLowerCase(), value]);
}

function onlyFor(what: string, names: readonly (keyof CheckFlags)[], flags: CheckFlags): readonly Fault[] {
  return names
    .filter((name) => flags[name] !== undefined && [flags[name]].flat().length > 0)
    .map((name) => {
      const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      return fault(flag, undefined, `is for ${what} only`, 'Leave it out.');
    });
}
