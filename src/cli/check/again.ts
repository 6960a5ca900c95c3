import { asOperand } from '../../model/shell.ts';
import { marketCommand } from '../../system/command-line.ts';
import type { CheckFlags } from './flag-types.ts';

/**
 * The command line that repeats some rules of a check with the same flags. Secrets are left to the shell:
 * a token is printed as "$TOKEN".
 */
export function rerunCommand(
  target: string | undefined,
  flags: CheckFlags,
  rules: readonly string[],
): string {
  const { platform, signingKey, token, issuer, audience, call, examples, timeout, era, level, requireAll } =
    flags;
  const isFile = signingKey !== undefined && !signingKey.includes('-----BEGIN');
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--platform', platform],
    ['--signing-key', isFile ? signingKey : undefined],
    ['--issuer', issuer],
    ['--audience', audience],
    ['--call', call.length > 0 ? call.join(',') : undefined],
    ['--examples', examples],
    ['--timeout', timeout],
    ['--era', era === 'both' ? undefined : era],
    ['--level', level === 'should' ? level : undefined],
  ];
  const secret = [
    ...(token === undefined ? [] : ['--token "$TOKEN"']),
    ...(signingKey === undefined || isFile ? [] : ['--signing-key "$SIGNING_KEY"']),
    ...flags.header.map((line) => `--header "${/^[\w-]*/.exec(line)?.[0]}: $VALUE"`),
  ];
  const line = marketCommand(
    'check',
    ...(target === undefined ? [] : [asOperand(target)]),
    '--only',
    rules.join(','),
    ...given.flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...(requireAll ? ['--require-all'] : []),
  );
  return [line, ...secret].join(' ');
}
