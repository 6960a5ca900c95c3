import { Back } from './leaving.ts';

/** A question that adds its answer to the earlier ones. `isBack`: the author goes back to it from the next one. */
export type Step<Answers> = (answers: Answers, isBack: boolean) => Promise<Answers>;

/**
 * Asks one question after the other. Going back repeats the previous one and keeps all answers. A step that has several
 * questions starts from its last one when the author goes back to it, and throws `Back` if it has none.
 *
 * @param stepsOf the questions, given the answers so far
 * @param stays whether going back from the first question repeats it
 * @param from index of the first question
 * @param isBack whether the author goes back to the first question
 * @throws Back if the author goes back from the first question and `stays` is false
 */
export async function askInOrder<Answers>(
  stepsOf: (answers: Answers) => readonly Step<Answers>[],
  initial: Answers,
  {
    stays = false,
    from = 0,
    isBack = false,
  }: { readonly stays?: boolean; readonly from?: number; readonly isBack?: boolean } = {},
): Promise<Answers> {
  let answers = initial;
  let at = from;
  let goesBack = isBack;
  for (;;) {
    const step = stepsOf(answers)[at];
    if (step === undefined) return answers;
    try {
      answers = await step(answers, goesBack);
      at += 1;
      goesBack = false;
    } catch (error) {
      if (!(error instanceof Back) || (at === 0 && !stays)) throw error;
      goesBack = at > 0;
      at = Math.max(0, at - 1);
    }
  }
}
