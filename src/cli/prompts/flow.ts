import type { Readable, Writable } from 'node:stream';
import { CommandError, errorSentence, onInterrupted, type Result, reject } from 'market-mcp-contract/command';
import { type CreateParts, createQuestions } from '../../questions/create.ts';
import type { RequestPlace } from '../../questions/partial-answers.ts';
import { Asker } from './asker.ts';
import { askInOrder, Back, Cancelled, orBack, type PromptStep } from './leaving.ts';
import type { PromptContext } from './prompt-context.ts';
import { requestInputsIn } from './request-prompts.ts';
import { isStartOpen, partsToAskAgain, withStart } from './start-prompts.ts';
import { type AskedPart, askPart, orderedParts, type PromptParts, partLabels } from './tool-prompts.ts';

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
  readonly flagAnswers: PromptParts;
  /** The questions before and after the questions about the tool. */
  readonly partsBeforeTool: readonly AskedPart[];
  readonly partsAfterTool: readonly AskedPart[];
  /** Plans from the answers, with defaults for the absent ones; or returns the errors in them. */
  review(
    parts: Partial<CreateParts & RequestPlace>,
  ): Result<Reviewed<Plan>> | Promise<Result<Reviewed<Plan>>>;
  /**
   * The command that continues with these answers.
   *
   * @param ask the questions that it asks although they have an answer
   */
  resume(parts: PromptParts, ask: readonly string[]): string;
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

/** One run of the questions of a command. */
class Interview<Plan> {
  readonly #flow: Flow<Plan>;
  readonly #asker: Asker;
  /** The question what to start from, if the flags leave it open. */
  readonly #startParts: readonly AskedPart[];
  /** The answers of flags. */
  readonly #initialParts: PromptParts;
  /** All answers so far. */
  #parts: PromptParts;
  /** The answers of flags that are not asked for. */
  #settledParts: PromptParts;
  /** The question that is being asked. */
  #currentPart: AskedPart | undefined;
  /** The review has ended: the author has agreed, or has changed an answer. */
  #isReviewed = false;
  #agreement: Reviewed<Plan> | undefined;

  constructor(flow: Flow<Plan>) {
    const { flagAnswers } = flow;
    this.#flow = flow;
    this.#asker = new Asker(flow.input, flow.output);
    this.#startParts = isStartOpen(flagAnswers) ? ['start'] : [];
    this.#initialParts = { ...withStart(flagAnswers), requestInputs: requestInputsIn(flagAnswers) };
    this.#parts = this.#initialParts;
    this.#settledParts = withoutMatching(
      this.#initialParts,
      (name) => flagAnswers.ask?.includes(name) === true,
    );
  }

  /** Asks until the author agrees to a plan. */
  async run(): Promise<Plan> {
    this.#asker.title(`${this.#flow.title} · Esc goes back, Ctrl-C stops and shows how to resume`);
    let from = 0;
    while (!this.#agreement) {
      this.#isReviewed = false;
      const steps = (parts: PromptParts) => this.#steps(parts);
      const answered = await orBack(askInOrder(steps, this.#parts, { from }));
      from = 0;
      // Going back from the first question repeats it.
      if (answered === 'back') continue;
      this.#parts = answered;
      // A changed answer may have removed other answers, also answers of flags.
      this.#settledParts = withoutMatching(
        this.#settledParts,
        (name) => answered[name as AskedPart] === undefined,
      );
      const openParts = this.#openParts(answered);
      const unanswered = openParts.findIndex((part) => answered[part] === undefined);
      from = unanswered < 0 ? openParts.length : unanswered;
    }
    return this.#agreement.plan;
  }

  /** The error that ends the run, with the command that continues from here. */
  cancelled(): Cancelled {
    const parts = this.#usedParts({ ...this.#parts, ...this.#asker.unfinished() });
    return new Cancelled(this.#flow.resume(parts, partsToAskAgain(parts, this.#currentPart)));
  }

  /** Restores the terminal after a signal, and reports it. */
  interrupt(): void {
    this.#asker.restore();
    this.#flow.interrupted(this.cancelled());
  }

  #allParts(parts: PromptParts): readonly AskedPart[] {
    return [...this.#startParts, ...orderedParts(parts, this.#flow)];
  }

  /** The questions to ask. An answer may change the questions after it, never the questions before it. */
  #openParts(parts: PromptParts): readonly AskedPart[] {
    return this.#allParts(parts).filter((part) => this.#settledParts[part] === undefined);
  }

  /** The answers without those that only the tools of another start use. */
  #usedParts(parts: PromptParts): PromptParts {
    const askedParts: readonly string[] = this.#allParts(parts);
    return withoutMatching(
      parts,
      (name) => name in partLabels && !askedParts.includes(name) && !(name in this.#initialParts),
    );
  }

  #steps(parts: PromptParts): readonly PromptStep<PromptParts>[] {
    if (this.#isReviewed) return [];
    const review = (allParts: PromptParts) => this.#review(allParts);
    return [...this.#openParts(parts).map((part) => this.#question(part)), review];
  }

  #question(part: AskedPart): PromptStep<PromptParts> {
    return async (parts, isBack) => {
      this.#parts = parts;
      this.#currentPart = part;
      const answered = await orBack(askPart(this.#asker, part, parts, this.#flow, isBack));
      this.#currentPart = undefined;
      this.#asker.unfinished = () => ({});
      if (answered === 'back') throw new Back();
      this.#parts = answered;
      return answered;
    };
  }

  /** Shows what will be written, or why nothing can be written, and asks what to do. */
  async #review(allParts: PromptParts): Promise<PromptParts> {
    const parts = this.#usedParts(allParts);
    const { start: _, requestInputs: __, consent: ___, ask: ____, ...answers } = parts;
    const reviewed = await reviewErrors(async () => this.#flow.review(answers));
    for (;;) {
      const nextStep = await askNextStep(this.#asker, reviewed);
      if (nextStep === 'cancel') throw new Cancelled();
      if (nextStep === 'write' && reviewed.ok) this.#agreement = reviewed.value;
      const changedParts = this.#agreement ? parts : await orBack(this.#change(parts));
      this.#isReviewed = changedParts !== 'back';
      if (changedParts !== 'back') return changedParts;
    }
  }

  /** Lets the author choose an answer to change, and asks for it again. */
  async #change(parts: PromptParts): Promise<PromptParts> {
    const choices = this.#allParts(parts).map((value) => ({ value, label: partLabels[value] }));
    return this.#question(await this.#asker.choose('Which answer?', choices))(parts, false);
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
function withoutMatching(parts: PromptParts, matches: (name: string) => boolean): PromptParts {
  return Object.fromEntries(Object.entries(parts).filter(([name]) => !matches(name)));
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
  readonly flagAnswers: Partial<CreateParts>;
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
    partsBeforeTool: ['directory'],
    partsAfterTool: ['platform'],
    ...prompts,
  });
}
