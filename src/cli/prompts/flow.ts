import type { Readable, Writable } from 'node:stream';
import type { Result } from '../../spec/model.ts';
import { Asker, Cancelled } from './asker.ts';

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
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks once whether to.
 *
 * @throws Cancelled where the author cancels any prompt or declines at the end, and where the input ends.
 */
export async function askAll<
  Part extends string,
  Parts extends { readonly [part in Part]?: unknown },
  Answers,
>(flow: Flow<Part, Parts, Answers>, { input, output }: Streams): Promise<Answers> {
  const asker = new Asker(input, output);
  asker.title(flow.title);
  let parts = flow.given;
  for (const part of flow.partsOf(parts)) {
    if (parts[part] === undefined) parts = await flow.ask(asker, part, parts);
  }
  for (;;) {
    const answers = flow.complete(parts);
    const reviewed = await flow.review(answers);
    const way = await decide(asker, reviewed);
    if (way === 'write') return answers;
    if (way === 'cancel') throw new Cancelled();
    const part = await asker.choose(
      'Which answer?',
      flow.partsOf(parts).map((value) => ({ value, label: flow.labels[value] })),
    );
    parts = await flow.ask(asker, part, parts);
  }
}

async function decide(
  asker: Asker,
  reviewed: Result<readonly string[]>,
): Promise<'write' | 'change' | 'cancel'> {
  const change = { value: 'change', label: 'Change an answer' } as const;
  const cancel = { value: 'cancel', label: 'Cancel' } as const;
  if (!reviewed.ok) {
    asker.warn(reviewed.faults.map(({ where, message, hint }) => `${where}: ${message}. ${hint}`));
    return asker.choose('This cannot be built yet.', [change, cancel]);
  }
  asker.show('This will be written', reviewed.value);
  return asker.choose('Write it?', [{ value: 'write', label: 'Yes' }, change, cancel]);
}
