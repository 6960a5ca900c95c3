import type { Readable, Writable } from 'node:stream';
import { CommandError, errorSentence, onInterrupted, type Result, reject } from 'market-mcp-contract/command';
import { type CreateQuestionAnswers, createQuestions } from '../../questions/create.ts';
import type { RequestPlace } from '../../questions/partial-answers.ts';
import { Asker } from './asker.ts';
import { askInOrder, Back, Cancelled, type FirstQuestion, orBack, type PromptStep } from './leaving.ts';
import type { PromptContext } from './prompt-context.ts';
import { requestInputsIn } from './request-prompts.ts';
import { isStartOpen, questionsToAskAgain, withStart } from './start-prompts.ts';
import {
  askForAnswer,
  orderedQuestions,
  type PromptAnswers,
  type QuestionName,
  questionLabels,
} from './tool-prompts.ts';

export { Cancelled } from './leaving.ts';

/** A plan that was made from the answers, and the lines that describe it. */
export interface Reviewed<Plan> {
  readonly plan: Plan;
  readonly lines: readonly string[];
}

/** The questions of a command, and how it plans from their answers. */
export interface Flow<Plan> extends PromptContext {
  readonly title: string;
  /** Answers from flags, and the project's settings for requests; they are not asked again. */
  readonly flagAnswers: PromptAnswers;
  /** The questions before and after the questions about the tool. */
  readonly questionsBeforeTool: readonly QuestionName[];
  readonly questionsAfterTool: readonly QuestionName[];
  /** Plans from the answers, with defaults for the absent ones; or returns the errors in them. */
  review(
    answers: Partial<CreateQuestionAnswers & RequestPlace>,
  ): Result<Reviewed<Plan>> | Promise<Result<Reviewed<Plan>>>;
  /**
   * The command that continues with these answers.
   *
   * @param ask the questions that it asks although they have an answer
   */
  resume(answers: PromptAnswers, ask: readonly string[]): string;
  /** Reports a signal between two questions, before the program ends. */
  interrupted(cancelled: Cancelled): void;
  /** A terminal by default. */
  readonly input?: Readable;
  readonly output?: Writable;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once. Escape goes
 * back to the previous question.
 *
 * @returns the plan that the author has reviewed
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends. It contains the command that
 *   continues from there.
 */
export async function askAll<Plan>(flow: Flow<Plan>): Promise<Plan> {
  const interview = new Interview(flow);
  onInterrupted(() => interview.interrupt());
  try {
    return await interview.run();
  } catch (error) {
    throw error instanceof Cancelled ? interview.cancelled() : error;
  } finally {
    onInterrupted(undefined);
  }
}

/** How a review ends: the author agrees to the plan, or has changed an answer. */
type ReviewOutcome<Plan> =
  | { readonly kind: 'agreed'; readonly plan: Plan }
  | { readonly kind: 'changed'; readonly answers: PromptAnswers };

/** One run of the questions of a command. */
class Interview<Plan> {
  readonly #flow: Flow<Plan>;
  readonly #asker: Asker;
  /** The question what to start from, if the flags leave it open. */
  readonly #startQuestions: readonly QuestionName[];
  /** The answers of flags. */
  readonly #flagAnswers: PromptAnswers;
  /** All answers so far. */
  #answers: PromptAnswers;
  /** The answers of flags that are not asked for again. */
  #settledAnswers: PromptAnswers;
  /** The question that is being asked. */
  #currentQuestion: QuestionName | undefined;

  constructor(flow: Flow<Plan>) {
    const { flagAnswers } = flow;
    this.#flow = flow;
    this.#asker = new Asker(flow.input, flow.output);
    this.#startQuestions = isStartOpen(flagAnswers) ? ['start'] : [];
    this.#flagAnswers = { ...withStart(flagAnswers), requestInputs: requestInputsIn(flagAnswers) };
    this.#answers = this.#flagAnswers;
    this.#settledAnswers = withoutMatching(
      this.#flagAnswers,
      (name) => flagAnswers.ask?.includes(name) === true,
    );
  }

  /** Asks until the author agrees to a plan. */
  async run(): Promise<Plan> {
    this.#asker.title(`${this.#flow.title} · Esc goes back, Ctrl-C stops and shows how to resume`);
    let firstQuestion: FirstQuestion = {};
    for (;;) {
      const steps = (currentAnswers: PromptAnswers) => this.#steps(currentAnswers);
      const answers = await orBack(askInOrder(steps, this.#answers, firstQuestion));
      firstQuestion = {};
      // Going back from the first question repeats it.
      if (answers === 'back') continue;
      const outcome = await orBack(this.#review(answers));
      if (outcome === 'back') {
        this.#answers = answers;
        firstQuestion = { from: Math.max(0, this.#openQuestions(answers).length - 1), isBack: true };
      } else if (outcome.kind === 'agreed') {
        return outcome.plan;
      } else {
        firstQuestion = { from: this.#continueWith(outcome.answers) };
      }
    }
  }

  /** Continues after the author has changed an answer. Returns the index of the first open question without an answer. */
  #continueWith(answers: PromptAnswers): number {
    this.#answers = answers;
    // A changed answer may have removed other answers, also answers of flags.
    this.#settledAnswers = withoutMatching(
      this.#settledAnswers,
      (name) => answers[name as QuestionName] === undefined,
    );
    const openQuestions = this.#openQuestions(answers);
    const firstUnanswered = openQuestions.findIndex((question) => answers[question] === undefined);
    return firstUnanswered < 0 ? openQuestions.length : firstUnanswered;
  }

  /** The error that ends the run, with the command that continues from here. */
  cancelled(): Cancelled {
    const answers = this.#usedAnswers({ ...this.#answers, ...this.#asker.unfinished() });
    return new Cancelled(this.#flow.resume(answers, questionsToAskAgain(answers, this.#currentQuestion)));
  }

  /** Restores the terminal after a signal, and reports it. */
  interrupt(): void {
    this.#asker.restore();
    this.#flow.interrupted(this.cancelled());
  }

  #allQuestions(answers: PromptAnswers): readonly QuestionName[] {
    return [...this.#startQuestions, ...orderedQuestions(answers, this.#flow)];
  }

  /** The questions to ask. An answer may change the questions after it, never the questions before it. */
  #openQuestions(answers: PromptAnswers): readonly QuestionName[] {
    return this.#allQuestions(answers).filter((question) => this.#settledAnswers[question] === undefined);
  }

  /** The answers that count for the chosen source. Those left over from another source are removed, unless a flag gave them. */
  #usedAnswers(answers: PromptAnswers): PromptAnswers {
    const askedQuestions: readonly string[] = this.#allQuestions(answers);
    return withoutMatching(
      answers,
      (name) => name in questionLabels && !askedQuestions.includes(name) && !(name in this.#flagAnswers),
    );
  }

  #steps(answers: PromptAnswers): readonly PromptStep<PromptAnswers>[] {
    return this.#openQuestions(answers).map((question) => this.#questionStep(question));
  }

  #questionStep(question: QuestionName): PromptStep<PromptAnswers> {
    return async (answers, isBack) => {
      this.#answers = answers;
      this.#currentQuestion = question;
      const newAnswers = await orBack(askForAnswer(this.#asker, question, answers, this.#flow, isBack));
      this.#currentQuestion = undefined;
      this.#asker.unfinished = () => ({});
      if (newAnswers === 'back') throw new Back();
      this.#answers = newAnswers;
      return newAnswers;
    };
  }

  /**
   * Shows what will be written, or why nothing can be written, and asks what to do.
   *
   * @throws Back if the author goes back to the last question
   */
  async #review(allAnswers: PromptAnswers): Promise<ReviewOutcome<Plan>> {
    const answers = this.#usedAnswers(allAnswers);
    const { start: _, requestInputs: __, consent: ___, ask: ____, ...reviewedAnswers } = answers;
    const reviewed = await reviewErrors(async () => this.#flow.review(reviewedAnswers));
    for (;;) {
      const nextStep = await askNextStep(this.#asker, reviewed);
      if (nextStep === 'cancel') throw new Cancelled();
      if (nextStep === 'write' && reviewed.ok) return { kind: 'agreed', plan: reviewed.value.plan };
      const changedAnswers = await orBack(this.#change(answers));
      if (changedAnswers !== 'back') return { kind: 'changed', answers: changedAnswers };
    }
  }

  /** Lets the author choose an answer to change, and asks for it again. */
  async #change(answers: PromptAnswers): Promise<PromptAnswers> {
    const choices = this.#allQuestions(answers).map((value) => ({ value, label: questionLabels[value] }));
    return this.#questionStep(await this.#asker.choose('Which answer?', choices))(answers, false);
  }
}

/** Returns the error of a request without a usable answer as an error of the review: another answer may correct it. */
async function reviewErrors<T>(review: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await review();
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'NOT_ANSWERED') throw error;
    return reject('The request', undefined, error.message, error.hint);
  }
}

/** The answers without those whose names match. */
function withoutMatching(answers: PromptAnswers, matches: (name: string) => boolean): PromptAnswers {
  return Object.fromEntries(Object.entries(answers).filter(([name]) => !matches(name)));
}

async function askNextStep(
  asker: Asker,
  reviewed: Result<Reviewed<unknown>>,
): Promise<'write' | 'change' | 'cancel'> {
  const change = { value: 'change', label: 'Change an answer' } as const;
  const cancel = { value: 'cancel', label: 'Cancel' } as const;
  if (!reviewed.ok) {
    asker.warn(reviewed.errors.map(({ value: _, ...error }) => `${errorSentence(error)} ${error.hint}`));
    return asker.choose('This definition is not valid yet.', [change, cancel]);
  }
  asker.show('This will be written', reviewed.value.lines);
  return asker.choose('Write it?', [{ value: 'write', label: 'Yes' }, change, cancel]);
}

export interface CreatePrompts<Plan>
  extends Pick<Flow<Plan>, 'review' | 'resume' | 'interrupted' | 'input' | 'output'>,
    Pick<PromptContext, 'run' | 'directoryError'> {
  /** Answers from flags; they are not asked again. */
  readonly flagAnswers: Partial<CreateQuestionAnswers>;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends.
 */
export function askCreate<Plan>(prompts: CreatePrompts<Plan>): Promise<Plan> {
  const { tool } = createQuestions;
  return askAll({
    title: 'create-market-mcp',
    tool,
    questionsBeforeTool: ['directory'],
    questionsAfterTool: ['platform'],
    ...prompts,
  });
}
