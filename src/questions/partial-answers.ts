import type { ApiVariable } from '../import/imported-tool.ts';
import type { KeylessCommands } from '../import/request/curl-text.ts';
import { type ToolQuestionAnswers, toolQuestions } from './tool-questions.ts';

/** The project for whose tools requests are sent. */
export interface RequestPlace {
  /** Where `.env` is. */
  readonly directory: string;
  /** Addresses and keys of the APIs that it has. */
  readonly variables?: readonly ApiVariable[];
}

/** The answers about tools by question, as flags and prompts give them. `toolAnswers` derives the absent ones. */
export type PartialAnswers = Partial<ToolQuestionAnswers & RequestPlace>;

const sources = ['spec', 'fromUrl', 'fromRequest', 'fromOpenapi', 'fromSample'] as const;

/** The question whose answer names the source of the tools; undefined: one tool, which the other answers describe. */
export function sourceQuestion(answers: PartialAnswers): (typeof sources)[number] | undefined {
  return sources.find((name) => answers[name] !== undefined);
}

/** The questions about a tool that need an answer if no questions may be asked and defaults are not accepted. */
export function requiredQuestions(answers: PartialAnswers): readonly ('tool' | 'description' | 'output')[] {
  const source = sourceQuestion(answers);
  if (source === undefined) return ['tool', 'description', 'output'];
  if (source === 'fromSample') return ['tool', 'description'];
  return [];
}

/** Whether the source of the tools names and describes them. */
function isImported(answers: PartialAnswers): boolean {
  return requiredQuestions(answers).length === 0;
}

/** The answers with defaults for those that nothing else says. */
export function withDefaults<Answers extends PartialAnswers>(
  answers: Answers,
  name = toolQuestions.tool.initial(answers),
): Answers {
  const { tool = name } = answers;
  const { description, effect, input, output, returns } = toolQuestions;
  const source = sourceQuestion(answers);
  if (source !== undefined && source !== 'fromSample') return answers;
  const namedAnswers = { ...answers, tool, input: answers.input ?? input.initial(answers) };
  if (source !== undefined) return namedAnswers;
  return {
    ...namedAnswers,
    description: answers.description ?? [description.initial({ ...answers, tool })],
    effect: answers.effect ?? effect.initial({ tool }),
    output: answers.output ?? output.initial(answers),
    returns: answers.returns ?? returns.initial(answers),
  };
}

/** The questions of a command, by their answers. */
type Replayed<Answers> = {
  readonly [name in keyof Answers]-?: {
    readonly flag: { readonly syntax: string };
    replay(answer: Answers[name], commands: KeylessCommands): readonly string[];
  };
};

/**
 * The arguments of a command line that give the same answers.
 *
 * @param commands the curl commands that were read
 * @param isWhole also those that equal a default, and a title and an effect that follow from the name
 */
export function flagsForAnswers<Answers extends PartialAnswers>(
  questions: Replayed<Answers>,
  answers: PartialAnswers & Partial<Answers>,
  commands: KeylessCommands,
  isWhole = false,
): readonly string[] {
  const derivableNames = isWhole || isImported(answers) ? [] : (['title', 'effect'] as const);
  const namesThatFollow: readonly string[] = derivableNames.filter(
    (name) => answers[name] === toolQuestions[name].initial(answers),
  );
  return (Object.keys(questions) as (keyof Answers & string)[]).flatMap((name) => {
    const answer = answers[name];
    if (answer === undefined || namesThatFollow.includes(name)) return [];
    const { flag, replay } = questions[name];
    const pieces = replay(answer as Answers[keyof Answers & string], commands);
    if (isWhole && pieces.length === 0 && typeof answer === 'string')
      return [flag.syntax.split(' ')[0] ?? '', answer];
    return pieces;
  });
}
