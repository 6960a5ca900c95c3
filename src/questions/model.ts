import type { Result } from '../model/model.ts';

/**
 * One decision of an author, made by a flag: its validation, the default, and the flags that repeat it.
 *
 * @typeParam T the answer
 * @typeParam Answers all answers of the command
 * @typeParam Given the value of the flag: one text, or several if it can be repeated
 */
export interface FlagAnswer<T, Answers, Given = string> {
  readonly flag: {
    /** In the syntax of commander: `--tool <name>`, `[directory]`. */
    readonly syntax: string;
    readonly description: string;
    readonly repeatable?: true;
    /** The only allowed values. */
    readonly choices?: readonly string[];
  };
  /** The default answer, derived from the given ones. */
  initial(given: Partial<Answers>): T;
  parse(given: Given): Result<T>;
  /** The arguments of a command line that give the same answer. */
  replay(answer: T): readonly string[];
}

/** A decision that is also asked for. Flag and prompt share the validation. */
export interface Question<T, Answers, Given = string> extends FlagAnswer<T, Answers, Given> {
  readonly prompt: { readonly message: string; readonly placeholder?: string };
}

/** A flag that is on or off and has no prompt. */
export interface Switch {
  readonly syntax: string;
  readonly description: string;
  /** Its value if the flag is absent. */
  readonly initial: boolean;
}

/** The values of a table of switches in one run. */
export type Switches<Table> = { readonly [name in keyof Table]: boolean };
