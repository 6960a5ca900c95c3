import type { ApiVariable } from '../import/model.ts';
import { type ToolParts, toolQuestions } from './tool.ts';

/** The project of tools that are made from requests. */
export interface RequestPlace {
  /** Where `.env` is. */
  readonly directory: string;
  /** Addresses and keys of the APIs that it has. */
  readonly variables?: readonly ApiVariable[];
}

/** The answers about the wanted tools; what is absent is derived from what the tools are made from. */
export type ToolAnswers = Partial<ToolParts & RequestPlace>;

const sources = ['spec', 'fromUrl', 'fromRequest', 'fromOpenapi', 'fromSample'] as const;

/** The answer that names what the tools are made from; undefined: one tool, which the other answers describe. */
export function sourceOf(given: ToolAnswers): (typeof sources)[number] | undefined {
  return sources.find((name) => given[name] !== undefined);
}

/** The questions about a tool that need an answer if no questions may be asked and defaults are not accepted. */
export function requiredParts(given: ToolAnswers): readonly ('tool' | 'description' | 'output')[] {
  const source = sourceOf(given);
  if (source === undefined) return ['tool', 'description', 'output'];
  return source === 'fromSample' ? ['tool', 'description'] : [];
}

/** The answers with defaults for those that nothing else says. */
export function toolAnswers<Answers extends ToolAnswers>(
  given: Answers,
  name = toolQuestions.tool.initial(given),
): Answers {
  const { tool = name } = given;
  const { description, effect, input, output, returns } = toolQuestions;
  const source = sourceOf(given);
  if (source !== undefined && source !== 'fromSample') return given;
  const named = { ...given, tool, input: given.input ?? input.initial(given) };
  if (source !== undefined) return named;
  return {
    ...named,
    description: given.description ?? [description.initial({ ...given, tool })],
    effect: given.effect ?? effect.initial({ tool }),
    output: given.output ?? output.initial(given),
    returns: given.returns ?? returns.initial(given),
  };
}

/** The questions of a command, by their answers. */
type Replayed<Parts> = {
  readonly [name in keyof Parts]-?: {
    readonly flag: { readonly syntax: string };
    replay(answer: Parts[name]): readonly string[];
  };
};

/**
 * The arguments of a command line that give the same answers.
 *
 * @param isWhole also those that equal a default, and a title and an effect that follow from the name
 */
export function flagsOf<Parts extends ToolAnswers>(
  questions: Replayed<Parts>,
  answers: ToolAnswers & Partial<Parts>,
  isWhole = false,
): readonly string[] {
  const derived = isWhole || requiredParts(answers).length === 0 ? [] : (['title', 'effect'] as const);
  const follows = derived.filter((name) => answers[name] === toolQuestions[name].initial(answers));
  return (Object.keys(questions) as (keyof Parts & string)[]).flatMap((name) => {
    const answer = answers[name];
    if (answer === undefined || follows.some((one) => one === name)) return [];
    const { flag, replay } = questions[name];
    const pieces = replay(answer as Parts[keyof Parts & string]);
    return isWhole && pieces.length === 0 && typeof answer === 'string'
      ? [flag.syntax.split(' ')[0] ?? '', answer]
      : pieces;
  });
}
