import { type CreateParts, createQuestions } from '../../questions/create.ts';
import { type CreateAnswers, completeAnswers } from '../../questions/create-answers.ts';
import { askAll, type Flow } from './flow.ts';
import type { Naming } from './tool.ts';

export { Cancelled } from './leaving.ts';

export interface CreatePrompts
  extends Pick<Flow<CreateAnswers>, 'review' | 'resume' | 'interrupted' | 'input' | 'output'>,
    Pick<Naming, 'directoryError'> {
  /** Answers from flags; they are not asked again. */
  readonly given: Partial<CreateParts>;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends.
 */
export function askCreate(prompts: CreatePrompts): Promise<CreateAnswers> {
  const { tool } = createQuestions;
  const around = { before: ['directory'], after: ['platform'] } as const;
  return askAll({ title: 'create-market-mcp', tool, ...around, complete: completeAnswers, ...prompts });
}
