import { combineResults, type Flag, flagName, parseSomeText, type Result } from 'market-mcp-contract/command';

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
    parse: (given) => parseSomeText(given, flagName(flag), hint),
    replay: (given) => [flagName(flag), given],
  };
}

/** A flag with a text each time it is given. */
export function textsFlag(syntax: string, description: string, hint: string) {
  const flag: Flag<readonly string[]> = { syntax, description, repeatable: true };
  return {
    flag,
    parse: (texts: readonly string[]) =>
      combineResults(texts.map((given) => parseSomeText(given, flagName(flag), hint))),
    replay: (texts: readonly string[]) => texts.flatMap((given) => [flagName(flag), given]),
  };
}
