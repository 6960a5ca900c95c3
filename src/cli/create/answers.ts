import { type Output, pass, toCommandError } from 'market-mcp-contract/command';
import { planCreation } from '../../changes/creation.ts';
import { directoryError, targetOf } from '../../changes/target.ts';
import { ownCommand } from '../../project/package/own-package.ts';
import type { CreateParts, CreateSwitches } from '../../questions/create.ts';
import {
  type CreateAnswers,
  completeAnswers,
  missingFlags,
  resumeCommand,
} from '../../questions/create-answers.ts';
import type { Answering } from '../answers.ts';
import { reviewLines, reviewWidth } from './format.ts';

/** How the answers that flags give are completed. */
export function answering(
  given: Partial<CreateParts>,
  switches: CreateSwitches,
  output: Output,
): Answering<CreateAnswers> {
  return {
    asked: given.ask,
    missing: missingFlags(given),
    complete: () => completeAnswers(given),
    async ask() {
      const { askCreate } = await import('../prompts/create.ts');
      const program = ownCommand('create-market-mcp');
      return askCreate({
        given,
        async review(answers) {
          const planned = await planCreation(answers);
          if (!planned.ok) return planned;
          const { files, prepared } = planned.value;
          const { directory } = targetOf(answers.directory, switches, files);
          return pass(reviewLines(`${files.size} files in ${directory}`, prepared, reviewWidth()));
        },
        resume: (parts, ask) => resumeCommand({ ...parts, ask }, switches, program),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        directoryError: (directory) => directoryError(directory, switches),
      });
    },
  };
}
