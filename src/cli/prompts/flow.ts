import type { Readable, Writable } from 'node:stream';
import { CommandError, errorSentence, onInterrupted, type Result, reject } from 'market-mcp-contract/command';
import { type CreateParts, createQuestions } from '../../questions/create.ts';
import type { RequestPlace } from '../../questions/partial-answers.ts';
import { Asker } from './asker.ts';
import { askInOrder, Back, Cancelled, orBack, type PromptStep } from './leaving.ts';
import type { PromptContext } from './prompt-context.ts';
import { requestInputsIn } from './request-prompts.ts';
import { askedAgain, isStartOpen, withStart } from './start-prompts.ts';
import { type AskedPart, askPart, orderedParts, type PromptParts, partLabels } from './tool-prompts.ts';

export { Cancelled } from './leaving.ts';

/** What the answers lead to, and the lines that describe it. */
export interface Reviewed<Plan> {
  readonly plan: Plan;
  readonly lines: readonly string[];
}

/** The steps of a command from the answers of flags to what all answers lead to. */
export interface Flow<Plan> extends PromptContext {
  readonly title: string;
  /** Answers from flags, and the project's settings for requests; they are not asked again. */
  readonly given: PromptParts;
  /** The questions before and after those about the tool. */
  readonly before: readonly AskedPart[];
  readonly after: readonly AskedPart[];
  /** Plans what the answers lead to, with defaults for the absent ones; or returns the errors in them. */
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
  const asker = new Asker(flow.input, flow.output);
  asker.title(`${flow.title} · Esc goes back, Ctrl-C stops and shows how to resume`);
  const start: readonly AskedPart[] = isStartOpen(flow.given) ? ['start'] : [];
  const initialParts: PromptParts = { ...withStart(flow.given), requestInputs: requestInputsIn(flow.given) };
  let parts = initialParts;
  /** The answers that are not asked for. */
  let currentParts = withoutMatching(initialParts, (name) => initialParts.ask?.includes(name) === true);
  let current: AskedPart | undefined;
  let isReviewed = false;
  let agreed: Reviewed<Plan> | undefined;
  const partsOf = (answered: PromptParts) => [...start, ...orderedParts(answered, flow)];
  // An answer may change the questions after it, never those before it.
  const openParts = (answered: PromptParts) =>
    partsOf(answered).filter((part) => currentParts[part] === undefined);
  // Another start leaves answers that its tools do not use.
  const usedParts = (allParts: PromptParts): PromptParts => {
    const asks: readonly string[] = partsOf(allParts);
    return withoutMatching(
      allParts,
      (name) => name in partLabels && !asks.includes(name) && !(name in initialParts),
    );
  };
  const cancelled = () => {
    const keptParts = usedParts({ ...parts, ...asker.unfinished() });
    return new Cancelled(flow.resume(keptParts, askedAgain(keptParts, current)));
  };
  const ask =
    (part: AskedPart): PromptStep<PromptParts> =>
    async (before, isBack) => {
      parts = before;
      current = part;
      const answered = await orBack(askPart(asker, part, before, flow, isBack));
      current = undefined;
      asker.unfinished = () => ({});
      if (answered === 'back') throw new Back();
      parts = answered;
      return parts;
    };
  /** Shows what will be written, or why nothing can be written, and asks what to do. */
  const review = async (allParts: PromptParts): Promise<PromptParts> => {
    const answered = usedParts(allParts);
    const { start: _, requestInputs: __, consent: ___, ask: ____, ...answers } = answered;
    const reviewed = await orRefused(async () => flow.review(answers));
    for (;;) {
      const way = await askNextStep(asker, reviewed);
      if (way === 'cancel') throw new Cancelled();
      if (way === 'write' && reviewed.ok) agreed = reviewed.value;
      const changed = agreed ? answered : await orBack(change(answered));
      isReviewed = changed !== 'back';
      if (changed !== 'back') return changed;
    }
  };
  const change = async (answered: PromptParts): Promise<PromptParts> => {
    const choices = partsOf(answered).map((value) => ({ value, label: partLabels[value] }));
    return ask(await asker.choose('Which answer?', choices))(answered, false);
  };
  const stepsOf = (answered: PromptParts) => (isReviewed ? [] : [...openParts(answered).map(ask), review]);
  onInterrupted(() => {
    asker.restore();
    flow.interrupted(cancelled());
  });
  try {
    let from = 0;
    while (!agreed) {
      isReviewed = false;
      const answered = await orBack(askInOrder(stepsOf, parts, { from }));
      from = 0;
      // Going back from the first question repeats it.
      if (answered === 'back') continue;
      parts = answered;
      // A change may take other answers away, those of flags too.
      currentParts = withoutMatching(currentParts, (name) => parts[name as AskedPart] === undefined);
      const open = openParts(parts).findIndex((part) => parts[part] === undefined);
      from = open < 0 ? openParts(parts).length : open;
    }
    return agreed.plan;
  } catch (error) {
    throw error instanceof Cancelled ? cancelled() : error;
  } finally {
    onInterrupted(undefined);
  }
}

/** What an API does not answer can be another answer's fault. */
async function orRefused<T>(review: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await review();
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'NOT_ANSWERED') throw error;
    return reject('The request', undefined, error.message, error.hint);
  }
}

/** The answers whose names do not match. */
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
  readonly given: Partial<CreateParts>;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends.
 */
export function askCreate<Plan>(prompts: CreatePrompts<Plan>): Promise<Plan> {
  const { tool } = createQuestions;
  const around = { before: ['directory'], after: ['platform'] } as const;
  return askAll({ title: 'create-market-mcp', tool, ...around, ...prompts });
}
