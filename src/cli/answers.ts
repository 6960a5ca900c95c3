import { CommandError } from '../model/command-error.ts';

/** The three ways from what flags say to all answers. */
export interface Answering<Answers> {
  /** The flags that are required if no questions may be asked and defaults are not taken. */
  readonly missing: readonly string[];
  /** With the default wherever no flag answers. */
  complete(): Answers;
  /** From the author at a terminal. */
  ask(): Promise<Answers>;
}

/**
 * All answers: from flags and defaults, or from the author at a terminal.
 *
 * @throws CommandError `MISSING_ANSWERS` where nobody can be asked and `--yes` does not allow defaults.
 */
export async function answersOf<Answers>(
  { missing, complete, ask }: Answering<Answers>,
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
): Promise<Answers> {
  if (yes) return complete();
  if (!json && canAsk()) return ask();
  if (missing.length === 0) return complete();
  throw new CommandError(
    'MISSING_ANSWERS',
    `no terminal to ask questions, and these flags are missing: ${missing.join(', ')}`,
    'Add the flags, or add --yes to use the defaults.',
  );
}

/** A person is there: both ends are a terminal, and no CI service says otherwise. */
export function canAsk(): boolean {
  const { CI } = process.env;
  const isCi = CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !isCi;
}
