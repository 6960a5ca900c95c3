import type { Readable, Writable } from 'node:stream';
import { errorSentence } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import { Asker, Back, Cancelled } from './asker.ts';
import { askInOrder, type Step } from './steps.ts';

/** Streams for prompts; a terminal by default. */
export interface Streams {
  readonly input?: Readable;
  readonly output?: Writable;
}

/** The steps of a command from the answers of flags to all answers. */
export interface Flow<Part extends string, Parts extends { readonly [part in Part]?: unknown }, Answers> {
  readonly title: string;
  /** Answers from flags; they are not asked again. */
  readonly given: Parts;
  /** Names of the parts in the list of answers. */
  readonly labels: { readonly [part in Part]: string };
  /** The questions in order; they depend on the answers so far. */
  partsOf(parts: Parts): readonly Part[];
  /** Asks one question and adds its answer to the others. */
  ask(asker: Asker, part: Part, parts: Parts): Promise<Parts>;
  complete(parts: Parts): Answers;
  /** Lines that describe what will be written, or the errors in the answers. */
  review(answers: Answers): Result<readonly string[]> | Promise<Result<readonly string[]>>;
  /** The command that continues with these answers. */
  resume(parts: Parts): string;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once. Escape goes
 * back to the previous question.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends. It contains the command that
 *   continues from there.
 */
export async function askAll<
  Part extends string,
  Parts extends { readonly [part in Part]?: unknown },
  Answers,
>(flow: Flow<Part, Parts, Answers>, { input, output }: Streams): Promise<Answers> {
  const asker = new Asker(input, output);
  asker.title(`${flow.title} · Esc goes back, Ctrl-C stops and shows how to resume`);
  let parts = flow.given;
  // An answer may change the questions after it, never those before it.
  const asked = (answered: Parts): readonly Part[] =>
    flow.partsOf(answered).filter((part) => flow.given[part] === undefined);
  const stepsOf = (answered: Parts): readonly Step<Parts>[] =>
    asked(answered).map((part) => async (before) => {
      parts = before;
      parts = await flow.ask(asker, part, before);
      return parts;
    });
  try {
    let from = 0;
    for (;;) {
      parts = await askInOrder(stepsOf, parts, { stays: true, from });
      const { length } = asked(parts);
      from = length - 1;
      const way = await agreeOrChange(flow, asker, parts);
      if (way === 'write') return flow.complete(parts);
      if (way === 'cancel') throw new Cancelled();
      if (way !== 'back') {
        parts = way.parts;
        from = firstOpen(asked(way.parts), way.parts);
      } else if (length === 0) from = 0;
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    throw new Cancelled({ resume: flow.resume({ ...parts, ...error.unfinished }) });
  }
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
async function agreeOrChange<
  Part extends string,
  Parts extends { readonly [part in Part]?: unknown },
  Answers,
>(
  flow: Flow<Part, Parts, Answers>,
  asker: Asker,
  parts: Parts,
): Promise<'write' | 'cancel' | 'back' | { readonly parts: Parts }> {
  const reviewed = await flow.review(flow.complete(parts));
  for (;;) {
    const way = await orBack(decide(asker, reviewed));
    if (way !== 'change') return way;
    const changed = await orBack(changeOne(flow, asker, parts));
    if (changed !== 'back') return { parts: changed };
  }
}

async function changeOne<Part extends string, Parts extends { readonly [part in Part]?: unknown }, Answers>(
  flow: Flow<Part, Parts, Answers>,
  asker: Asker,
  parts: Parts,
): Promise<Parts> {
  const choices = flow.partsOf(parts).map((value) => ({ value, label: flow.labels[value] }));
  return flow.ask(asker, await asker.choose('Which answer?', choices), parts);
}

async function orBack<T>(asked: Promise<T>): Promise<T | 'back'> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Back) return 'back';
    throw error;
  }
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
