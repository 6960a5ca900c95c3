import { type Result, replayFlags, shellLine } from 'market-mcp-contract/command';
import type { KeylessCommands } from '../import/request/curl-text.ts';
import {
  type CreateQuestionAnswers,
  type CreateSwitches,
  createQuestions,
  createSwitches,
} from './create.ts';
import { flagsForAnswers, type PartialAnswers, requiredQuestions, withDefaults } from './partial-answers.ts';
import { type Flags, readFlags } from './read-flags.ts';

/** The author's answers to the questions of `create-market-mcp`. Absent: the default, such as the package manager that runs the command. */
export type CreateAnswers = PartialAnswers &
  Partial<CreateQuestionAnswers> &
  Pick<CreateQuestionAnswers, 'directory' | 'platform'>;

/** The flags as commander returns them. */
export type CreateFlags = Flags<CreateQuestionAnswers>;

/** Reads the flags: their answers, or every error at once. */
export function readCreateFlags(flags: CreateFlags): Result<Partial<CreateQuestionAnswers>> {
  return readFlags<CreateQuestionAnswers>(createQuestions, flags);
}

/** The flags that are required if no questions may be asked and defaults are not accepted. */
export function missingFlags(answers: Partial<CreateQuestionAnswers>): readonly string[] {
  return (['directory', ...requiredQuestions(answers)] as const)
    .filter((name) => answers[name] === undefined)
    .map((name) => createQuestions[name].flag.syntax);
}

/** All answers, with defaults for missing ones. */
export function completeAnswers(partialAnswers: Partial<CreateQuestionAnswers>): CreateAnswers {
  const { directory, tool, platform } = createQuestions;
  const answers = {
    directory: directory.initial(partialAnswers),
    platform: platform.initial(partialAnswers),
    ...partialAnswers,
  };
  return withDefaults(answers, tool.initial(answers));
}

/** The command that gives the same answers without questions, quoted for the shell. */
export function replayCommand(
  answers: CreateAnswers,
  commands: KeylessCommands,
  switches: Partial<CreateSwitches> = {},
  program: readonly string[] = ['create-market-mcp'],
): string {
  const { directory, ask: _, ...otherQuestions } = createQuestions;
  return shellLine([
    ...program,
    ...directory.replay(answers.directory, commands),
    '--yes',
    ...flagsForAnswers<Omit<CreateQuestionAnswers, 'directory' | 'ask'>>(otherQuestions, answers, commands),
    ...replayFlags(createSwitches, switches, repeatedSwitches),
  ]);
}

/** The command that continues with these answers and asks for the others, quoted for the shell. */
export function resumeCommand(
  answers: Partial<CreateQuestionAnswers>,
  commands: KeylessCommands,
  switches: Partial<CreateSwitches>,
  program: readonly string[],
): string {
  return shellLine([
    ...program,
    ...flagsForAnswers<CreateQuestionAnswers>(createQuestions, answers, commands, true),
    ...replayFlags(createSwitches, switches, repeatedSwitches),
  ]);
}

/** The switches that a repeated command needs. */
const repeatedSwitches = ['install', 'git', 'check', 'force', 'overwrite'] as const;
