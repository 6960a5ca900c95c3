import { asOperand } from '../../model/shell.ts';
import { replayFlags } from '../../questions/model.ts';
import { marketCommand } from '../../system/command-line.ts';
import { type CheckFlags, checkFlags } from './flags.ts';

const repeated = [
  'platform',
  'signingKey',
  'issuer',
  'audience',
  'call',
  'examples',
  'timeout',
  'era',
] as const;

/**
 * The command line that repeats some rules of a check with the same flags. Secrets are left to the shell:
 * a token is printed as "$TOKEN".
 */
export function rerunCommand(
  target: string | undefined,
  flags: CheckFlags,
  rules: readonly string[],
): string {
  const { signingKey, token, header } = flags;
  const isText = signingKey?.includes('-----BEGIN') === true;
  const shown = isText ? { ...flags, signingKey: undefined } : flags;
  const line = marketCommand(
    'check',
    ...(target === undefined ? [] : [asOperand(target)]),
    '--only',
    rules.join(','),
    ...replayFlags(checkFlags, shown, [...repeated, 'level', 'requireAll']),
  );
  const secrets = [
    ...(token === undefined ? [] : ['--token "$TOKEN"']),
    ...(isText ? ['--signing-key "$SIGNING_KEY"'] : []),
    ...header.map((one) => `--header "${/^[\w-]*/.exec(one)?.[0]}: $VALUE"`),
  ];
  return [line, ...secrets].join(' ');
}
