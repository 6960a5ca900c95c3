import { Back } from './asker.ts';

/** A question that adds its answer to the earlier ones. */
export type Step<Answers> = (answers: Answers) => Promise<Answers>;

/**
 * Asks one question after the other. Going back repeats the previous one and keeps all answers.
 *
 * @param stepsOf the questions, given the answers so far
 * @param stays whether going back from the first question repeats it
 * @param from index of the first question
 * @throws Back if the author goes back from the first question and `stays` is false
 */
export async function askInOrder<Answers>(
  stepsOf: (answers: Answers) => readonly Step<Answers>[],
  initial: Answers,
  { stays = false, from = 0 }: { readonly stays?: boolean; readonly from?: number } = {},
): Promise<Answers> {
  let answers = initial;
  let at = from;
  for (;;) {
    const step = stepsOf(answers)[at];
    if (step === undefined) return answers;
    try {
      answers = await step(answers);
      at += 1;
    } catch (error) {
      if (!(error instanceof Back) || (at === 0 && !stays)) throw error;
      at = Math.max(0, at - 1);
    }
  }
}
