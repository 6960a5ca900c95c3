import {
  combineResults,
  type Flag,
  flagName,
  oneOf,
  parseSomeText,
  pass,
  type Result,
} from 'market-mcp-contract/command';
import type { KeylessCommands } from '../import/request/curl-text.ts';

/**
 * One decision of an author, made by a flag: its validation, and the flags that repeat it.
 *
 * @typeParam T the answer
 * @typeParam Given the value of the flag: one text, or several if it can be repeated
 */
export interface FlagAnswer<T, Given = string> {
  readonly flag: Flag<Given>;
  parse(value: Given): Result<T>;
  /**
   * The arguments of a command line that give the same answer.
   *
   * @param commands the curl commands that were read: they are repeated without their keys
   */
  replay(answer: T, commands: KeylessCommands): readonly string[];
}

/** A decision that is also asked for. Flag and prompt share the validation. */
export interface Question<T, Given = string> extends FlagAnswer<T, Given> {
  readonly prompt: { readonly message: string; readonly placeholder?: string };
}

/** A decision with a default answer, derived from the given ones. */
export interface Defaulted<T, Answers> {
  initial(answers: Partial<Answers>): T;
}

/** A flag with a text. `hint`: what to write if it is empty. */
export function textFlag(syntax: string, description: string, hint: string): FlagAnswer<string> {
  const flag = { syntax, description };
  return {
    flag,
    parse: (text) => parseSomeText(text, flagName(flag), hint),
    replay: (text) => [flagName(flag), text],
  };
}

/** A flag with a text each time it is given. */
export function textsFlag(syntax: string, description: string, hint: string) {
  const flag: Flag<readonly string[]> = { syntax, description, repeatable: true };
  return {
    flag,
    parse: (texts: readonly string[]) =>
      combineResults(texts.map((text) => parseSomeText(text, flagName(flag), hint))),
    replay: (texts: readonly string[]) => texts.flatMap((text) => [flagName(flag), text]),
  };
}

/**
 * The flag `--ask` of a command: the names of its answers that are asked for although their flags are given.
 *
 * @param questions the other flags of the command; those without a prompt cannot be asked for
 */
export function askQuestion(questions: {
  readonly [question: string]: { readonly flag: { readonly syntax: string }; readonly prompt?: object };
}): FlagAnswer<readonly string[], readonly string[]> {
  const questionByFlag = new Map<string, string>();
  for (const [question, { flag, prompt }] of Object.entries(questions)) {
    const [name = question] = /[a-z][a-z-]*/.exec(flag.syntax) ?? [];
    if (prompt) questionByFlag.set(name, question);
  }
  return {
    flag: {
      syntax: '--ask <flag>',
      description:
        'ask for this at the terminal, with the value of its flag as the text to edit: input, from-openapi; repeatable',
      repeatable: true,
    },
    parse(names) {
      const parsed = combineResults(names.map((name) => oneOf([...questionByFlag.keys()], name, '--ask')));
      if (parsed.ok) return pass(parsed.value.map((name) => questionByFlag.get(name) ?? name));
      return parsed;
    },
    replay: (askedQuestions) =>
      [...questionByFlag].flatMap(([name, question]) =>
        askedQuestions.includes(question) ? ['--ask', name] : [],
      ),
  };
}
