import { refuse } from '../../model/input-error.ts';
import type { InputError } from '../../model/model.ts';
import { addToolQuestions } from '../../questions/add-tool.ts';
import type { ToolParts } from '../../questions/tool.ts';
import { type ToolAnswers, toolAnswers } from '../../questions/tool-answers.ts';
import { askAll, type Flow } from './flow.ts';
import { isStartOpen, withStart } from './start.ts';
import { askToolPart, type Started, type ToolPart, toolLabels, toolParts } from './tool.ts';

export interface AddToolPrompts {
  /** Answers from flags; they are not asked again. */
  readonly given: Partial<ToolParts>;
  readonly review: Flow<never, object, ToolAnswers>['review'];
  readonly resume: Flow<never, Partial<ToolParts>, ToolAnswers>['resume'];
  readonly interrupted: Flow<never, object, ToolAnswers>['interrupted'];
  /** Why a valid name is refused, such as a tool with the same name. */
  nameError(name: string): InputError | undefined;
}

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends.
 */
export function askAddTool({ given, nameError, ...results }: AddToolPrompts): Promise<ToolAnswers> {
  const tool = freeName(nameError);
  const start = isStartOpen(given) ? (['start'] as const) : [];
  const flow: Flow<ToolPart, Started<Partial<ToolParts>>, ToolAnswers> = {
    title: 'market-mcp add-tool',
    given: withStart(given),
    labels: toolLabels,
    partsOf: (parts) => [...start, ...toolParts(parts)],
    ask: (asker, part, parts, isBack) =>
      askToolPart<Started<Partial<ToolParts>>>(asker, part, parts, tool, isBack),
    complete: toolAnswers,
    ...results,
  };
  return askAll(flow, {});
}

/** The question for a name. It refuses taken names and suggests a free one. */
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
