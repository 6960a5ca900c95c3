import { createPrivateKey, type KeyObject } from 'node:crypto';
import { createTokenSigner } from '../check/token-signer.ts';
import { type CommandError, invalidInput, requireNone, unwrap } from '../command/command-error.ts';
import { flagName } from '../command/flag-table.ts';
import { combineResults, inputError, pass, reject } from '../command/input-error.ts';
import type { InputError, Result } from '../command/input-result.ts';
import { readInput } from '../command/read-input.ts';
import { maskUrl } from '../command/url-secrets.ts';
import { generic } from '../platforms/generic.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { resolvePlatform } from '../platforms/resolve.ts';
import type { TargetServer } from '../target.ts';
import { createSigner, type Signer } from '../wire/signer.ts';
import { type UrlFlags, urlFlags } from './url-flags.ts';

/** The flags that describe a server. */
type ServerFlags = Partial<UrlFlags> & Pick<UrlFlags, 'header'>;

/**
 * Returns the server at a URL as the target of a check. Flags say which platform, token and headers it has.
 *
 * @throws CommandError `INVALID_INPUT` for the address and each flag that is wrong; `NOT_READABLE`
 */
export async function targetAtUrl(url: string, flags: ServerFlags): Promise<TargetServer> {
  const profile = flags.platform === undefined ? generic : unwrap(await resolvePlatform(flags.platform));
  requireNone([...addressErrors(url), ...signingFlagErrors(flags)]);
  const signer = await signerFromFlags(url, profile, flags);
  const lines = flags.header.flatMap((line) =>
    readSecretFlag('--header', line).split(/\r?\n/).filter(Boolean),
  );
  const headers = unwrap(combineResults(lines.map((line) => parseHeaderFlag(line, profile))));
  return { url, profile, headers: Object.fromEntries(headers), ...(signer && { signer }) };
}

/** The errors for --issuer and --audience without --signing-key: only the check signs tokens with them. */
function signingFlagErrors(flags: ServerFlags): readonly InputError[] {
  if (flags.signingKey !== undefined) return [];
  return (['issuer', 'audience'] as const)
    .filter((name) => flags[name] !== undefined)
    .map((name) => {
      const flag = flagName(urlFlags[name]);
      return inputError(
        flag,
        undefined,
        'works only with --signing-key',
        'Remove it, or add --signing-key <file>.',
      );
    });
}

export function addressErrors(target: string): readonly InputError[] {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const hint = /:\/\//.test(target)
      ? 'Write an address such as https://tools.example.com/mcp.'
      : `Write the scheme as well: ${maskUrl(`http://${target}`)}`;
    return [inputError('[target]', target, 'is neither a directory nor an HTTP URL', hint)];
  }
  if (url.username === '' && url.password === '') return [];
  const hint = 'Remove them: callers of a listed server do not have them.';
  return [inputError('[target]', undefined, 'the URL contains a user or a password', hint)];
}

async function signerFromFlags(
  url: string,
  { token: tokenSettings }: PlatformProfile,
  { token, signingKey, issuer, audience = url }: ServerFlags,
): Promise<Signer | undefined> {
  if (token !== undefined) {
    if (signingKey !== undefined)
      throw flagError('--token', 'cannot be combined with --signing-key', 'Use only one of them.');
    const hint = 'Give a JWT: three parts separated by dots.';
    const jwt = readSecretFlag('--token', token);
    return rejectIfThrown('--token', hint, () => createTokenSigner(jwt, tokenSettings));
  }
  if (signingKey === undefined) return undefined;
  const privateKey = await readKey(readSecretFlag('--signing-key', signingKey));
  const hint = "Give a private key for one of the platform's algorithms.";
  return rejectIfThrown('--signing-key', hint, () =>
    createSigner(tokenSettings, audience, { issuer, privateKey }),
  );
}

/** Returns the text of a flag with a secret. `$NAME` names an environment variable, so that no list of processes shows the secret. */
function readSecretFlag(flag: string, value: string): string {
  const name = variableName(value);
  if (name === undefined) return value;
  const text = process.env[name]?.trim() ?? '';
  if (text !== '') return text;
  throw flagError(
    flag,
    `the environment variable ${name} is not set`,
    `Set ${name}, or write the value itself.`,
  );
}

/** The environment variable that a flag names instead of its text; undefined if it names none. */
export function variableName(text: string): string | undefined {
  return /^\$([A-Za-z_]\w*)$/.exec(text)?.[1];
}

async function readKey(keyText: string): Promise<KeyObject> {
  const pem = keyText.includes('-----BEGIN') ? keyText : await readInput(keyText);
  try {
    return createPrivateKey(pem);
  } catch {
    const hint = 'Give a private key in PEM format without a passphrase, or the path of its file.';
    throw flagError('--signing-key', 'is not a private key', hint);
  }
}

async function rejectIfThrown<T>(location: string, hint: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw flagError(location, error instanceof Error ? error.message : String(error), hint);
  }
}

/** The error does not contain the value of the flag: it may be a secret. */
function flagError(location: string, message: string, hint: string): CommandError {
  return invalidInput([inputError(location, undefined, message, hint)]);
}

function parseHeaderFlag(line: string, { token }: PlatformProfile): Result<readonly [string, string]> {
  const [, headerName, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\x20-\x7e]*)$/.exec(line) ?? [];
  if (headerName === undefined || value === undefined) {
    return reject('--header', undefined, 'one value is not a header line', 'Write --header "Name: value".');
  }
  const name = headerName.toLowerCase();
  if (name === token.header.toLowerCase())
    return reject(
      '--header',
      headerName,
      'would replace the token of the platform',
      'Give the token with --token.',
    );
  return pass([name, value]);
}
