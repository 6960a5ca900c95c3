import type { CreateParts, CreateSwitches } from '../../questions/create.ts';
import { type CreateAnswers, completeAnswers, missingFlags } from '../../questions/create-answers.ts';
import { CliError } from '../errors.ts';
import type { CreatePrompts } from '../prompts/create.ts';

/** What the prompts ask back while they run. */
export type Review = Pick<CreatePrompts, 'review' | 'directoryFault'>;

/**
 * All answers: from flags and defaults, or from the author at a terminal.
 *
 * @throws CliError `MISSING_ANSWERS` where nobody can be asked and `--yes` does not allow defaults.
 */
export async function answersOf(
  given: Partial<CreateParts>,
  switches: CreateSwitches,
  review: Review,
): Promise<CreateAnswers> {
  if (switches.yes) return completeAnswers(given);
  if (!switches.json && canAsk()) {
    const { askCreate } = await import('../prompts/create.ts');
    return askCreate({ given, ...review });
  }
  const missing = missingFlags(given);
  if (missing.length === 0) return completeAnswers(given);
  throw new CliError(
    'MISSING_ANSWERS',
    `there is no terminal to ask at, and these are missing: ${missing.join(', ')}`,
    'Give them, or --yes to take the defaults.',
  );
}

/** A person is there: both ends are a terminal, and no CI service says otherwise. */
function canAsk(): boolean {
  const { CI } = process.env;
  const isCi = CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !isCi;
}
