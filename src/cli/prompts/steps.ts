import { Back } from './asker.ts';

/** A question that adds its answer to those before it. */
export type Step<Answers> = (answers: Answers) => Promise<Answers>;

/**
 * Asks one question after the other. Going back asks the one before again, with all answers still there.
 *
 * @param stepsOf the questions, in the light of the answers
 * @param stays whether the first question is asked again where the author goes back from it
 * @param from index of the question to begin with
 * @throws Back where the author goes back from the first one and does not stay
 */
export async function inOrder<Answers>(
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
