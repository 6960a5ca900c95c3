import { createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { resolvePlatform } from '../../changes/platform.ts';
import { type HeldServer, holdProject } from '../../check/project.ts';
import { build } from '../../check/self-check.ts';
import { createTokenSigner } from '../../check/token-signer.ts';
import { generic } from '../../contract/platforms/index.ts';
import type { PlatformProfile } from '../../contract/platforms/profile.ts';
import { createSigner, type Signer } from '../../contract/probe/signer.ts';
import { combineResults, inputError, pass, refuse, reject } from '../../model/input-error.ts';
import type { InputError, Result } from '../../model/model.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { readInput } from '../../project/read/input.ts';
import { nameOf } from '../../questions/model.ts';
import { detectPackageManager } from '../../system/detect.ts';
import type { Output } from '../output.ts';
import { withProgress } from '../progress.ts';
import { type CheckFlags, checkFlags } from './options.ts';

/** The subject of a check. */
export interface Subject {
  /** Set if it is a project. */
  readonly directory?: string;
  /** Prepares the server for one run. */
  hold(output: Output): Promise<HeldServer>;
}

/** The project or server that a target names; without a target, the project of the working directory. */
export async function subjectOf(target: string | undefined, flags: CheckFlags): Promise<Result<Subject>> {
  const platform = flags.platform === undefined ? pass(undefined) : await resolvePlatform(flags.platform);
  if (!platform.ok) return platform;
  if (target !== undefined && (isAddress(target) || (!existsSync(target) && looksLikeHost(target)))) {
    const errors = addressErrors(target);
    return errors.length > 0 ? refuse(...errors) : serverAt(target, platform.value ?? generic, flags);
  }
  const errors = [
    ...onlyFor('a URL', ['token', 'signingKey', 'issuer', 'audience', 'header'], flags),
    ...(flags.call.length > 0 ? callErrors(flags) : []),
  ];
  if (errors.length > 0) return refuse(...errors);
  const directory = findProject(resolve(target ?? '.'));
  return pass(project(directory, platform.value, flags));
}

/**
 * `https://…`, `https:/…`, `localhost:3000/mcp`. Never a path, even if there is a directory of that name: its build
 * script would run.
 */
function isAddress(target: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/|^[^/]*:\d+(\/|$)/i.test(target);
}

/** `tools.example.com/mcp`, which could also be a path. */
function looksLikeHost(target: string): boolean {
  return /^(localhost|[\w-]+(\.[\w-]+)+)(\/|$)/i.test(target);
}

function addressErrors(target: string): readonly InputError[] {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const hint = /:\/\//.test(target)
      ? 'Write an address such as https://tools.example.com/mcp.'
      : `Write the scheme as well: http://${target}`;
    return [inputError('[target]', target, 'is neither a directory nor an HTTP URL', hint)];
  }
  if (url.username === '' && url.password === '') return [];
  const hint = 'Remove them: callers of a listed server do not have them.';
  return [inputError('[target]', undefined, 'the URL contains a user or a password', hint)];
}

function callErrors({ live, watch }: CheckFlags): readonly InputError[] {
  const refused = (what: string, hint: string) => [inputError('--call', undefined, what, hint)];
  if (!live) {
    const hint = 'Add --live, which calls each example of the named tools once, for real; or remove --call.';
    return refused('works only with a URL or with --live', hint);
  }
  if (!watch) return [];
  return refused('cannot be combined with --watch', 'Remove one: each change would call the tools for real.');
}

function project(
  directory: string,
  platform: PlatformProfile | undefined,
  { build: isWanted, live, call }: Pick<CheckFlags, 'build' | 'live' | 'call'>,
): Subject {
  return {
    directory,
    async hold(output) {
      if (isWanted) await withProgress(output.progress('building'), () => buildProject(directory));
      const options = { platform, sources: live ? ('live' as const) : undefined, call };
      return withProgress(output.progress('starting'), () => holdProject(directory, options));
    },
  };
}

function buildProject(directory: string): Promise<void> {
  return build(directory, detectPackageManager(directory, process.env));
}

async function serverAt(url: string, profile: PlatformProfile, flags: CheckFlags): Promise<Result<Subject>> {
  const errors = [
    ...onlyFor('a directory', ['watch'], flags),
    ...(flags.build
      ? []
      : [
          inputError(
            '--no-build',
            undefined,
            'works only with the directory of a project',
            'Remove it, or name a directory to check.',
          ),
        ]),
    ...(flags.signingKey === undefined ? onlyFor('--signing-key', ['issuer', 'audience'], flags) : []),
  ];
  if (errors.length > 0) return refuse(...errors);
  const signer = await signerOf(url, profile, flags);
  const headers = combineResults(flags.header.map((line) => headerOf(line, profile)));
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
    return reject('--token', undefined, 'cannot be combined with --signing-key', 'Use only one of them.');
  }
  if (token !== undefined) {
    return attempt('--token', 'Give a JWT: three parts separated by dots.', () =>
      createTokenSigner(token, platform),
    );
  }
  if (signingKey === undefined) return pass(undefined);
  const privateKey = await readKey(signingKey);
  if (!privateKey.ok) return privateKey;
  return attempt('--signing-key', "Give a private key for one of the platform's algorithms.", () =>
    createSigner(platform, audience, { issuer, privateKey: privateKey.value }),
  );
}

async function readKey(given: string): Promise<Result<KeyObject>> {
  const pem = given.includes('-----BEGIN') ? given : await readInput(given);
  try {
    return pass(createPrivateKey(pem));
  } catch {
    const hint = 'Give a private key in PEM format without a passphrase, or the path of its file.';
    return reject('--signing-key', undefined, 'is not a private key', hint);
  }
}

/** The value is not part of the error: it may be a secret. */
async function attempt<T>(where: string, hint: string, act: () => Promise<T>): Promise<Result<T>> {
  try {
    return pass(await act());
  } catch (error) {
    return reject(where, undefined, error instanceof Error ? error.message : String(error), hint);
  }
}

function headerOf(line: string, { token }: PlatformProfile): Result<readonly [string, string]> {
  const [, given, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\x20-\x7e]*)$/.exec(line) ?? [];
  if (given === undefined || value === undefined) {
    return reject('--header', undefined, 'one value is not a header line', 'Write --header "Name: value".');
  }
  const name = given.toLowerCase();
  return name === token.header.toLowerCase()
    ? reject('--header', given, 'would replace the token of the platform', 'Give the token with --token.')
    : pass([name, value]);
}

function onlyFor(
  what: string,
  names: readonly (keyof CheckFlags)[],
  flags: CheckFlags,
): readonly InputError[] {
  return names
    .filter((name) => flags[name] !== undefined && [flags[name]].flat().length > 0)
    .map((name) => {
      const hint = `Remove it, or name ${what} to check.`;
      return inputError(nameOf(checkFlags[name]), undefined, `works only with ${what}`, hint);
    });
}
