import { combineResults, oneOf, pass } from 'market-mcp-contract/command';
import type { FlagAnswer } from './model.ts';

/**
 * The flag `--ask` of a command: the names of its answers that are asked for although their flags are given.
 *
 * @param questions the other flags of the command; those without a prompt cannot be asked for
 */
export function askQuestion(questions: {
  readonly [part: string]: { readonly flag: { readonly syntax: string }; readonly prompt?: object };
}): FlagAnswer<readonly string[], readonly string[]> {
  const parts = new Map(
    Object.entries(questions).flatMap(([part, { flag, prompt }]) =>
      prompt ? [[/[a-z][a-z-]*/.exec(flag.syntax)?.[0] ?? part, part]] : [],
    ),
  );
  return {
    flag: {
      syntax: '--ask <flag>',
      description:
        'ask for this at the terminal, with the value of its flag as the text to edit: input, from-openapi; repeatable',
      repeatable: true,
    },
    parse(names) {
      const parsed = combineResults(names.map((name) => oneOf([...parts.keys()], name, '--ask')));
      return parsed.ok ? pass(parsed.value.map((name) => parts.get(name) ?? name)) : parsed;
    },
    replay: (asked) => [...parts].flatMap(([name, part]) => (asked.includes(part) ? ['--ask', name] : [])),
  };
}
