/** Thrown when the author cancels or the terminal closes. Nothing was written. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
  /** The command that continues with the answers so far. */
  readonly resume: string | undefined;

  constructor(resume?: string) {
    super('cancelled');
    this.resume = resume;
  }
}

/** Thrown when the author goes back to the previous question; where there is none, this cancels. */
export class Back extends Cancelled {}

/** The answer, or `back` if the author goes back. */
export async function orBack<T>(question: Promise<T>): Promise<T | 'back'> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof Back) return 'back';
    throw error;
  }
}

/** A question that adds its answer to the earlier ones. `isBack`: the author goes back to it from the next one. */
export type PromptStep<Answers> = (answers: Answers, isBack: boolean) => Promise<Answers>;

/** The question that is asked first. */
export interface FirstQuestion {
  /** Its index, by default 0. */
  readonly from?: number;
  /** Whether the author goes back to it. */
  readonly isBack?: boolean;
}

/**
 * Asks one question after the other. Going back repeats the previous one and keeps all answers. A step that has several
 * questions starts from its last one when the author goes back to it, and throws `Back` if it has none.
 *
 * @param stepsOf the questions, given the answers so far
 * @throws Back if the author goes back from the first question
 */
export async function askInOrder<Answers>(
  stepsOf: (answers: Answers) => readonly PromptStep<Answers>[],
  initial: Answers,
  { from = 0, isBack = false }: FirstQuestion = {},
): Promise<Answers> {
  let answers = initial;
  let index = from;
  let goesBack = isBack;
  for (;;) {
    const step = stepsOf(answers)[index];
    if (step === undefined) return answers;
    const newAnswers = await orBack(step(answers, goesBack));
    goesBack = newAnswers === 'back';
    if (newAnswers !== 'back') answers = newAnswers;
    else if (index === 0) throw new Back();
    index += goesBack ? -1 : 1;
  }
}
