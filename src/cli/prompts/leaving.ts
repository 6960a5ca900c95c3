import type { Field } from '../../model/model.ts';

/** Thrown when the author cancels or the terminal closes. Nothing was written. */
export class Cancelled extends Error {
  /** The command that continues with the answers so far. */
  readonly resume: string | undefined;
  /** The part of the cancelled question's answer that was already given, by the name of the question. */
  readonly unfinished: Readonly<Record<string, unknown>>;

  constructor({ resume, unfinished = {} }: { resume?: string; unfinished?: Cancelled['unfinished'] } = {}) {
    super('cancelled');
    this.name = 'Cancelled';
    this.resume = resume;
    this.unfinished = unfinished;
  }
}

/** Thrown when the author goes back to the previous question. */
export class Back extends Error {
  constructor() {
    super('back');
    this.name = 'Back';
  }
}

/** The fields that were typed before a question about fields was cancelled, by the name of its flag. */
export function unfinishedFields(flag: string, fields: readonly Field[]): Cancelled['unfinished'] {
  return fields.length > 0 ? { [flag.replace(/^--/, '')]: fields } : {};
}

/** The answer, or `back` if the author goes back. */
export async function orBack<T>(asked: Promise<T>): Promise<T | 'back'> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Back) return 'back';
    throw error;
  }
}
