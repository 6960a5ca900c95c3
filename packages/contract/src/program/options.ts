import type { ExamineOptions, PreviousListing } from '../check/examine.ts';
import { readExamples } from '../check/examples.ts';
import { listingIn, readBaseline } from '../check/listing-files.ts';
import { selector } from '../check/select.ts';
import { unwrap } from '../command/command-error.ts';
import { flagName, replayFlags } from '../command/flag-table.ts';
import { numberIn } from '../command/parse-numbers.ts';
import { asOperand } from '../command/shell.ts';
import { variableName } from './server.ts';
import { type UrlFlags, urlFlags } from './url-flags.ts';

/**
 * What the flags of a check ask for.
 *
 * @param earlier the listing to compare with if no flag names one
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`
 */
export async function examineOptions(flags: UrlFlags, earlier?: PreviousListing): Promise<ExamineOptions> {
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

/** The flags that a repeated check takes over. */
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
 * The command line that repeats some rules of a check with the same flags. Secrets are left to the shell:
 * a token is printed as "$TOKEN".
 *
 * @param command the line of the check with further arguments
 */
export function rerunCommand(
  command: (...args: readonly string[]) => string,
  target: string | undefined,
  flags: UrlFlags,
  rules: readonly string[],
): string {
  const { signingKey, token, header } = flags;
  const isText = signingKey?.includes('-----BEGIN') === true;
  const shownFlags = isText ? { ...flags, signingKey: undefined } : flags;
  const commandLine = command(
    ...(target === undefined ? [] : [asOperand(target)]),
    '--only',
    rules.join(','),
    ...replayFlags(urlFlags, shownFlags, rerunFlags),
  );
  const secrets = [
    ...(token === undefined ? [] : [`--token ${variableReference(token) ?? '"$TOKEN"'}`]),
    ...(isText ? ['--signing-key "$SIGNING_KEY"'] : []),
    ...header.map(
      (headerLine) =>
        `--header ${variableReference(headerLine) ?? `"${/^[\w-]*/.exec(headerLine)?.[0]}: $VALUE"`}`,
    ),
  ];
  return [commandLine, ...secrets].join(' ');
}

/** The text of a flag that names an environment variable, as a shell takes it. */
function variableReference(text: string): string | undefined {
  const name = variableName(text);
  if (name === undefined) return undefined;
  return `'$${name}'`;
}
