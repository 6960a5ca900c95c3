import type { Readable, Writable } from 'node:stream';
import { errorSentence } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import type { ToolParts } from '../../questions/tool.ts';
import { onInterrupted } from '../signals.ts';
import { Asker } from './asker.ts';
import { Back, Cancelled, orBack } from './leaving.ts';
import { askedAgain, type Start } from './start.ts';
import { askInOrder, type Step } from './steps.ts';

/** Streams for prompts; a terminal by default. */
export interface Streams {
  readonly input?: Readable;
  readonly output?: Writable;
}

/** The answers so far. */
type Answered<Part extends string> = { readonly [part in Part]?: unknown } & Partial<ToolParts> & {
    readonly start?: Start;
  };

/** The steps of a command from the answers of flags to all answers. */
export interface Flow<Part extends string, Parts extends Answered<Part>, Answers> {
  readonly title: string;
  /** Answers from flags; they are not asked again. */
  readonly given: Parts;
  /** Names of the parts in the list of answers. */
  readonly labels: { readonly [part in Part]: string };
  /** The questions in order; they depend on the answers so far. */
  partsOf(parts: Parts): readonly Part[];
  /** Asks one question and adds its answer to the others. */
  ask(asker: Asker, part: Part, parts: Parts, isBack: boolean): Promise<Parts>;
  complete(parts: Parts): Answers;
  /** Lines that describe what will be written, or the errors in the answers. */
  review(answers: Answers): Result<readonly string[]> | Promise<Result<readonly string[]>>;
  /**
   * The command that continues with these answers.
   *
   * @param ask the questions that it asks although they have an answer
   */
  resume(parts: Parts, ask: readonly string[]): string;
  /** Reports a signal between two questions, before the program ends. */
  interrupted(cancelled: Cancelled): void;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once. Escape goes
 * back to the previous question.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends. It contains the command that
 *   continues from there.
 */
export async function askAll<Part extends string, Parts extends Answered<Part>, Answers>(
  flow: Flow<Part, Parts, Answers>,
  { input, output }: Streams,
): Promise<Answers> {
  const asker = new Asker(input, output);
  asker.title(`${flow.title} · Esc goes back, Ctrl-C stops and shows how to resume`);
  let parts = flow.given;
  let given = without(flow.given, (name) => flow.given.ask?.includes(name) === true);
  let current: Part | undefined;
  const cancelled = (unfinished: object = {}) => {
    const known = used({ ...parts, ...unfinished });
    return new Cancelled({ resume: flow.resume(known, askedAgain(known, current)) });
  };
  // Another start leaves answers that its tools do not use.
  const used = (all: Parts): Parts => {
    const { partsOf, labels } = flow;
    const asks: readonly string[] = partsOf(all);
    return without(all, (name) => name in labels && !asks.includes(name) && !(name in flow.given));
  };
  // An answer may change the questions after it, never those before it.
  const asked = (answered: Parts): readonly Part[] =>
    flow.partsOf(answered).filter((part) => given[part] === undefined);
  const ask = async (part: Part, before: Parts, isBack: boolean) => {
    parts = before;
    current = part;
    const answered = await orBack(flow.ask(asker, part, before, isBack));
    current = undefined;
    asker.unfinished = {};
    if (answered === 'back') throw new Back();
    parts = answered;
    return parts;
  };
  const stepsOf = (answered: Parts): readonly Step<Parts>[] =>
    asked(answered).map((part) => (before, isBack) => ask(part, before, isBack));
  onInterrupted(() => {
    asker.restore();
    flow.interrupted(cancelled(asker.unfinished));
  });
  try {
    let from = 0;
    let isBack = false;
    for (;;) {
      parts = await askInOrder(stepsOf, parts, { stays: true, from, isBack });
      const way = await agreeOrChange(flow, asker, used(parts), ask);
      if (way === 'write') return flow.complete(used(parts));
      if (way === 'cancel') throw new Cancelled();
      isBack = way === 'back' && asked(parts).length > 0;
      if (way === 'back') from = Math.max(0, asked(parts).length - 1);
      else {
        parts = way.parts;
        // A change may take other answers away, those of flags too.
        given = without(given, (name) => parts[name as Part] === undefined);
        from = firstOpen(asked(parts), parts);
      }
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    throw cancelled(error.unfinished);
  } finally {
    onInterrupted(undefined);
  }
}

/** The answers whose names do not match. */
function without<Parts extends object>(parts: Parts, matches: (name: string) => boolean): Parts {
  return Object.fromEntries(Object.entries(parts).filter(([name]) => !matches(name))) as Parts;
}

/**
 * The index of the first question without an answer, which appears after another start is chosen; the length if there is none.
 */
function firstOpen<Part extends string>(
  asked: readonly Part[],
  parts: { readonly [part in Part]?: unknown },
): number {
  const open = asked.findIndex((part) => parts[part] === undefined);
  return open < 0 ? asked.length : open;
}

/**
 * Shows what will be written, or why nothing can be written, and asks what to do. Going back from the list of answers shows
 * it again.
 */
async function agreeOrChange<Part extends string, Parts extends Answered<Part>, Answers>(
  flow: Flow<Part, Parts, Answers>,
  asker: Asker,
  parts: Parts,
  ask: (part: Part, before: Parts, isBack: boolean) => Promise<Parts>,
): Promise<'write' | 'cancel' | 'back' | { readonly parts: Parts }> {
  const reviewed = await flow.review(flow.complete(parts));
  for (;;) {
    const way = await orBack(decide(asker, reviewed));
    if (way !== 'change') return way;
    const changed = await orBack(changeOne(flow, asker, parts, ask));
    if (changed !== 'back') return { parts: changed };
  }
}

async function changeOne<Part extends string, Parts extends Answered<Part>, Answers>(
  flow: Flow<Part, Parts, Answers>,
  asker: Asker,
  parts: Parts,
  ask: (part: Part, before: Parts, isBack: boolean) => Promise<Parts>,
): Promise<Parts> {
  const choices = flow.partsOf(parts).map((value) => ({ value, label: flow.labels[value] }));
  return ask(await asker.choose('Which answer?', choices), parts, false);
}

async function decide(
  asker: Asker,
  reviewed: Result<readonly string[]>,
): Promise<'write' | 'change' | 'cancel'> {
  const change = { value: 'change', label: 'Change an answer' } as const;
  const cancel = { value: 'cancel', label: 'Cancel' } as const;
  if (!reviewed.ok) {
    asker.warn(reviewed.errors.map(({ value: _, ...error }) => `${errorSentence(error)} ${error.hint}`));
    return asker.choose('This definition is not valid yet.', [change, cancel]);
  }
  asker.show('This will be written', reviewed.value);
  return asker.choose('Write it?', [{ value: 'write', label: 'Yes' }, change, cancel]);
}
