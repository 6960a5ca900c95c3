import type { Result } from '../model/model.ts';

/**
 * One thing an author decides, in one place: the flag that gives it, the prompt that asks for it, the validation both
 * share, the default, and the flags that say it again.
 *
 * @typeParam T the answer
 * @typeParam Answers all answers of the command
 * @typeParam Given what a flag brings: one text, or several where it may be repeated
 */
export interface Question<T, Answers, Given = string> {
  readonly flag: {
    /** As commander takes it: `--tool <name>`, `[directory]`. */
    readonly syntax: string;
    readonly description: string;
    readonly repeatable?: true;
    /** The only values it takes. */
    readonly choices?: readonly string[];
  };
  readonly prompt: { readonly message: string; readonly placeholder?: string };
  /** The answer where none is given, in the light of those that are. */
  initial(given: Partial<Answers>): T;
  parse(given: Given): Result<T>;
  /** The pieces of a command line that give this very answer. */
  replay(answer: T): readonly string[];
}

/** A flag that is on or off and that nobody asks for. */
export interface Switch {
  readonly syntax: string;
  readonly description: string;
  /** What it is where the flag is absent. */
  readonly initial: boolean;
}

/** What a table of switches comes to in one run. */
export type Switches<Table> = { readonly [name in keyof Table]: boolean };
