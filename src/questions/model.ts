import { combineResults } from '../model/input-error.ts';
import type { Result } from '../model/model.ts';
import { parseSomeText } from '../model/text.ts';

/**
 * A flag of a command.
 *
 * @typeParam T its value; includes undefined if the flag may be absent
 */
export interface Flag<T = unknown> {
  /** In the syntax of commander: `--tool <name>`, `--no-build`, `[directory]`. */
  readonly syntax: string;
  readonly description: string;
  /** It can be given several times; `commas`: each time with several values. */
  readonly repeatable?: true | 'commas';
  /** The only allowed values. */
  readonly choices?: readonly string[];
  /** Its value if it is absent. */
  readonly initial?: T;
}

/** The flags of a command, by commander's names. */
export type FlagTable = { readonly [name: string]: Flag };

/** The values of the flags of a table in one run. */
export type Values<Table> = {
  readonly [name in keyof Table as undefined extends ValueOf<Table[name]> ? name : never]?: ValueOf<
    Table[name]
  >;
} & {
  readonly [name in keyof Table as undefined extends ValueOf<Table[name]> ? never : name]: ValueOf<
    Table[name]
  >;
};

type ValueOf<Row> = Row extends Flag<infer T> ? T : never;

/** A flag without a value. */
export function on(syntax: string, description: string): Flag<boolean | undefined> {
  return { syntax, description };
}

/** `--no-build`: switches off what is done without it. */
export function off(syntax: string, description: string): Flag<boolean> {
  return { syntax, description, initial: true };
}

export function text(syntax: string, description: string): Flag<string | undefined> {
  return { syntax, description };
}

/** Repeatable; each value may contain several names, separated by commas. */
export function list(syntax: string, description: string): Flag<readonly string[]> {
  return { syntax, description, repeatable: 'commas', initial: [] };
}

export function choice<T extends string, Initial extends T | undefined = undefined>(
  syntax: string,
  description: string,
  choices: readonly T[],
  initial?: Initial,
): Flag<T | Initial> {
  return { syntax, description, choices, initial };
}

/** `--tool` of `--tool <name>`. */
export function nameOf({ syntax }: Flag): string {
  return syntax.split(' ')[0] ?? '';
}

/** The arguments of a command line that give the same values of these flags. */
export function replayFlags<Table extends FlagTable>(
  table: Table,
  values: Partial<Values<Table>>,
  names: readonly (keyof Table & string)[],
): readonly string[] {
  return names.flatMap((name) => {
    const flag: Flag = table[name] ?? { syntax: '', description: '' };
    const value: unknown = (values as { readonly [name: string]: unknown })[name] ?? flag.initial;
    if (value === flag.initial || [value].flat().length === 0) return [];
    return typeof value === 'boolean' ? [nameOf(flag)] : [nameOf(flag), [value].flat().join(',')];
  });
}

/**
 * One decision of an author, made by a flag: its validation, and the flags that repeat it.
 *
 * @typeParam T the answer
 * @typeParam Given the value of the flag: one text, or several if it can be repeated
 */
export interface FlagAnswer<T, Given = string> {
  readonly flag: Flag<Given>;
  parse(given: Given): Result<T>;
  /** The arguments of a command line that give the same answer. */
  replay(answer: T): readonly string[];
}

/** A decision that is also asked for. Flag and prompt share the validation. */
export interface Question<T, Given = string> extends FlagAnswer<T, Given> {
  readonly prompt: { readonly message: string; readonly placeholder?: string };
}

/** A decision with a default answer, derived from the given ones. */
export interface Defaulted<T, Answers> {
  initial(given: Partial<Answers>): T;
}

/** A flag with a text. `hint`: what to write if it is empty. */
export function textFlag(syntax: string, description: string, hint: string): FlagAnswer<string> {
  const flag = { syntax, description };
  return {
    flag,
    parse: (given) => parseSomeText(given, nameOf(flag), hint),
    replay: (given) => [nameOf(flag), given],
  };
}

/** A flag with a text each time it is given. */
export function textsFlag(syntax: string, description: string, hint: string) {
  const flag: Flag<readonly string[]> = { syntax, description, repeatable: true };
  return {
    flag,
    parse: (texts: readonly string[]) =>
      combineResults(texts.map((given) => parseSomeText(given, nameOf(flag), hint))),
    replay: (texts: readonly string[]) => texts.flatMap((given) => [nameOf(flag), given]),
  };
}
