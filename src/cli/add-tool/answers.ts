import { nameError, planAddition } from '../../changes/addition.ts';
import { entriesOf } from '../../changes/entries.ts';
import { pass } from '../../model/input-error.ts';
import type { Project } from '../../project/model.ts';
import { type AddToolSwitches, addToolQuestions, addToolSwitches } from '../../questions/add-tool.ts';
import type { ToolParts } from '../../questions/tool.ts';
import { givenFlags, requiredParts, type ToolAnswers, toolAnswers } from '../../questions/tool-answers.ts';
import { marketCommand } from '../../system/command-line.ts';
import type { Answering } from '../answers.ts';
import { reviewLines, reviewWidth } from '../create/format.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';

/** How the answers that flags give are completed. */
export function answering(
  given: Partial<ToolParts>,
  project: Project,
  { check }: AddToolSwitches,
  output: Output,
): Answering<ToolAnswers> {
  return {
    asked: given.ask,
    missing: requiredParts(given)
      .filter((name) => given[name] === undefined)
      .map((name) => addToolQuestions[name].flag.syntax),
    complete: () => toolAnswers(given),
    async ask() {
      const { askAll } = await import('../prompts/flow.ts');
      return askAll({
        title: 'market-mcp add-tool',
        given,
        before: [],
        after: [],
        tool: addToolQuestions.tool,
        complete: toolAnswers,
        async review(answers) {
          const entries = await entriesOf(answers, project.profile, project.manifest.answers.fields);
          if (!entries.ok) return entries;
          const { change, prepared } = await planAddition(project, entries.value);
          const place = `${change?.files.size ?? 0} files in ${project.directory}`;
          return pass(reviewLines(place, prepared, reviewWidth()));
        },
        resume: (parts, ask) =>
          marketCommand(
            'add-tool',
            ...givenFlags<ToolParts>(addToolQuestions, { ...parts, ask }),
            ...(check ? [] : [addToolSwitches.check.syntax]),
          ),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        nameError: (name) => nameError(project, name),
      });
    },
  };
}
