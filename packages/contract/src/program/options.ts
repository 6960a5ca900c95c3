import { readBaseline } from '../check/baseline.ts';
import type { PreviousListing, TargetCheckOptions } from '../check/check-target.ts';
import { readExamples } from '../check/examples.ts';
import { listingIn } from '../check/listing-files.ts';
import { selector } from '../check/select.ts';
import { unwrap } from '../command/command-error.ts';
import { flagName, replayFlags } from '../command/flag-table.ts';
import { numberIn } from '../command/parse-numbers.ts';
import { asOperand } from '../command/shell.ts';
import { variableName } from './server.ts';
import { type UrlFlags, urlFlags } from './url-flags.ts';

/**
 * Reads the options of a check from its flags, and the files that they name.
 *
 * @param earlier the listing to compare with if no flag names a file
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`
 */
export async function targetCheckOptions(
  flags: UrlFlags,
  earlier?: PreviousListing,
): Promise<TargetCheckOptions> {
  const { level, era, requireAll = false, only, skip, against, baseline, examples } = flags;
  return {
    demands: { level, requireAll },
    era,
    selects: unwrap(selector({ only, skip })),
    timeoutMs: millisecondsIn('timeout', flags, 600_000),
    deadlineMs: millisecondsIn('deadline', flags, 86_400_000),
    explore: countIn('explore', flags, [1, 1000], 'Write --explore 30, or --skip explore.'),
    seed: countIn('seed', flags, [0, 2 ** 32 - 1], 'Write --seed 7.'),
    examples: examples === undefined ? undefined : unwrap(await readExamples(examples)),
    baseline: baseline === undefined ? undefined : unwrap(await readBaseline(baseline)),
    earlier: against === undefined ? earlier : await listingIn(against),
  };
}

function countIn(
  name: 'explore' | 'seed',
  flags: UrlFlags,
  range: readonly [number, number],
  hint: string,
): number | undefined {
  const flag = flagName(urlFlags[name]);
  return numberIn(flag, flags[name], range, `a whole number from ${range[0]} to ${range[1]}`, hint);
}

function millisecondsIn(name: 'timeout' | 'deadline', flags: UrlFlags, highest: number): number | undefined {
  const flag = flagName(urlFlags[name]);
  const noun = `a number of milliseconds from 1 to ${highest}`;
  return numberIn(flag, flags[name], [1, highest], noun, `Write ${flag} 5000.`);
}

/** The flags that the command of a repeated check contains. */
const rerunFlags = [
  'platform',
  'signingKey',
  'issuer',
  'audience',
  'call',
  'examples',
  'explore',
  'seed',
  'timeout',
  'era',
  'level',
  'requireAll',
] as const;

/**
 * Returns the command line that repeats some rules of a check with the same flags. Secrets are printed as variables of the shell:
 * "$TOKEN" instead of a token.
 *
 * @param command returns the command line of the check with these arguments
 */
export function rerunCommand(
  command: (...args: readonly string[]) => string,
  target: string | undefined,
  flags: UrlFlags,
  rules: readonly string[],
): string {
  const { signingKey, token, header } = flags;
  const isPemText = signingKey?.includes('-----BEGIN') === true;
  const shownFlags = isPemText ? { ...flags, signingKey: undefined } : flags;
  const args = ['--only', rules.join(','), ...replayFlags(urlFlags, shownFlags, rerunFlags)];
  if (target !== undefined) args.unshift(asOperand(target));
  const parts = [command(...args)];
  if (token !== undefined) parts.push(`--token ${variableReference(token) ?? '"$TOKEN"'}`);
  if (isPemText) parts.push('--signing-key "$SIGNING_KEY"');
  for (const line of header) {
    const name = /^[\w-]*/.exec(line)?.[0];
    parts.push(`--header ${variableReference(line) ?? `"${name}: $VALUE"`}`);
  }
  return parts.join(' ');
}

/** The text of a flag that names an environment variable, as a shell takes it. */
function variableReference(text: string): string | undefined {
  const name = variableName(text);
  if (name === undefined) return undefined;
  return `'$${name}'`;
}
