import { refuse } from '../../model/input-error.ts';
import type { InputError } from '../../model/model.ts';
import { addToolQuestions } from '../../questions/add-tool.ts';
import type { ToolParts } from '../../questions/tool.ts';
import { type ToolAnswers, toolAnswers } from '../../questions/tool-answers.ts';
import { askAll, type Flow } from './flow.ts';
import { isStartOpen } from './start.ts';
import { askToolPart, type Started, type ToolPart, toolLabels, toolParts } from './tool.ts';

export interface AddToolPrompts {
  /** What flags have answered; it is not asked again. */
  readonly given: Partial<ToolParts>;
  readonly review: Flow<never, object, ToolAnswers>['review'];
  readonly resume: Flow<never, Partial<ToolParts>, ToolAnswers>['resume'];
  /** What stands against a name that is valid, such as a tool that bears it. */
  nameError(name: string): InputError | undefined;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks once whether to.
 *
 * @throws Cancelled where the author cancels any prompt or declines at the end, and where the input ends.
 */
export function askAddTool({ given, review, resume, nameError }: AddToolPrompts): Promise<ToolAnswers> {
  const tool = freeName(nameError);
  const start = isStartOpen(given) ? (['start'] as const) : [];
  const flow: Flow<ToolPart, Started<Partial<ToolParts>>, ToolAnswers> = {
    title: 'market-mcp add-tool',
    given,
    labels: toolLabels,
    partsOf: (parts) => [...start, ...toolParts(parts)],
    ask: (asker, part, parts) => askToolPart<Started<Partial<ToolParts>>>(asker, part, parts, tool),
    complete: toolAnswers,
    review,
    resume,
  };
  return askAll(flow, {});
}

/** The question for a name, which refuses those that are taken and suggests one that is not. */
function freeName(nameError: AddToolPrompts['nameError']): typeof addToolQuestions.tool {
  const { tool } = addToolQuestions;
  return {
    ...tool,
    initial(given) {
      const requested = tool.initial(given);
      const names = [requested, ...[2, 3, 4, 5].map((i) => `${requested}_${i}`)];
      return names.find((name) => nameError(name) === undefined) ?? requested;
    },
    parse(text) {
      const parsed = tool.parse(text);
      const taken = parsed.ok ? nameError(parsed.value) : undefined;
      return taken ? refuse(taken) : parsed;
    },
  };
}
