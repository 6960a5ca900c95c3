import { CommandError, type ExitCode, type Output } from 'market-mcp-contract/command';
import type { ImportRun } from '../changes/import-run.ts';
import { isCurl } from '../import/request/curl-text.ts';
import type { ToolQuestionAnswers } from '../questions/tool-questions.ts';
import { mayAsk, type QuestionSwitches } from './ask-person.ts';

/** The two ways to plan from the answers of flags: with defaults for the missing answers, or by asking for them. */
export interface AnswerPlanning<Plan> {
  /** The questions that must be asked although flags answer them. */
  readonly questionsToAsk: readonly string[] | undefined;
  /** The flags that are required if no questions may be asked and defaults are not accepted. */
  readonly missingFlags: readonly string[];
  /** Plans with defaults for everything that no flag answers. */
  planWithDefaults(): Promise<Plan>;
  /** Asks the author at a terminal. */
  planByAsking(): Promise<Plan>;
}

/**
 * Plans from all answers: from flags and defaults, or from the author at a terminal.
 *
 * @throws CommandError `MISSING_ANSWERS` if nobody can be asked and `--yes` does not allow defaults; `BAD_USAGE` if nobody can be
 *   asked what must be asked.
 */
export async function planFromAnswers<Plan>(
  { questionsToAsk, missingFlags, planWithDefaults, planByAsking }: AnswerPlanning<Plan>,
  switches: QuestionSwitches,
): Promise<Plan> {
  if (mayAsk(switches)) return planByAsking();
  if (questionsToAsk)
    throw new CommandError(
      'BAD_USAGE',
      '--ask needs a terminal, and cannot be combined with --yes or --json',
      'Remove --ask, and give the flags that answer its questions.',
    );
  if (switches.yes || missingFlags.length === 0) return planWithDefaults();
  const message = `no terminal to ask questions, and these flags are missing: ${missingFlags.join(', ')}`;
  throw new CommandError('MISSING_ANSWERS', message, 'Add the flags, or add --yes to use the defaults.');
}

/**
 * Prints what the author can choose from: the requests of a HAR file, or the operations of an API. It does so if the flags choose none and
 * nobody can be asked, or if they search the API's document.
 *
 * @throws CommandError `MISSING_ANSWERS` if `--yes` forbids the question which operations to take: it has no default
 * @returns undefined if there is nothing to list.
 */
export async function listChoices(
  { fromOpenapi, header = [], search, operation, fromRequest = [], request }: Partial<ToolQuestionAnswers>,
  switches: QuestionSwitches,
  run: ImportRun,
  output: Output,
): Promise<ExitCode | undefined> {
  const [requestText, ...otherRequests] = fromRequest;
  const isOnlyFile = requestText !== undefined && !isCurl(requestText) && otherRequests.length === 0;
  if (isOnlyFile && request === undefined && !mayAsk(switches)) {
    const { listFileRequests } = await import('./tools/choices.ts');
    return listFileRequests(requestText, run, output);
  }
  const mustListOperations = search !== undefined || (operation === undefined && !mayAsk(switches));
  if (fromOpenapi === undefined || !mustListOperations) return undefined;
  const { listOperations, unchosenOperation } = await import('./tools/choices.ts');
  if (switches.yes && search === undefined) throw await unchosenOperation(fromOpenapi, header, run);
  return listOperations(fromOpenapi, header, search, run, output);
}
