import type { Readable, Writable } from 'node:stream';
import type { Result } from '../../model/model.ts';
import { Asker, Back, Cancelled } from './asker.ts';
import { inOrder, type Step } from './steps.ts';

/** Where prompts are shown and answered; a terminal unless told otherwise. */
export interface Streams {
  readonly input?: Readable;
  readonly output?: Writable;
}

/** A command's way from what flags have answered to all answers. */
export interface Flow<Part extends string, Parts extends { readonly [part in Part]?: unknown }, Answers> {
  readonly title: string;
  /** What flags have answered; it is not asked again. */
  readonly given: Parts;
  /** How the list of answers names each. */
  readonly labels: { readonly [part in Part]: string };
  /** The questions, in order, in the light of what is answered. */
  partsOf(parts: Parts): readonly Part[];
  /** Asks one question and adds its answer to those before. */
  ask(asker: Asker, part: Part, parts: Parts): Promise<Parts>;
  complete(parts: Parts): Answers;
  /** The lines that say what will be written, or what is wrong with the answers. */
  review(answers: Answers): Result<readonly string[]> | Promise<Result<readonly string[]>>;
  /** The command that goes on with these answers. */
  resume(parts: Parts): string;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks once whether to. Escape goes
 * back to the question before.
 *
 * @throws Cancelled where the author cancels any prompt or declines at the end, and where the input ends; it holds the
 *   command that goes on from there.
 */
export async function askAll<
  Part extends string,
  Parts extends { readonly [part in Part]?: unknown },
  Answers,
>(flow: Flow<Part, Parts, Answers>, { input, output }: Streams): Promise<Answers> {
  const asker = new Asker(input, output);
  asker.title(`${flow.title} · Esc goes back, Ctrl-C stops and shows how to resume`);
  let parts = flow.given;
  // An answer may decide which questions come after it, never which came before.
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
      parts = await inOrder(stepsOf, parts, { stays: true, from });
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

/** The index of the first question without an answer, which another start than before brings; behind the last if none. */
function firstOpen<Part extends string>(
  asked: readonly Part[],
  parts: { readonly [part in Part]?: unknown },
): number {
  const open = asked.findIndex((part) => parts[part] === undefined);
  return open < 0 ? asked.length : open;
}

/** Shows what will be written, or why nothing can be, and asks what to do. Back in the list of answers shows it again. */
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
    asker.warn(reviewed.errors.map(({ where, message, hint }) => `${where}: ${message}. ${hint}`));
    return asker.choose('This definition is not valid yet.', [change, cancel]);
  }
  asker.show('This will be written', reviewed.value);
  return asker.choose('Write it?', [{ value: 'write', label: 'Yes' }, change, cancel]);
}
