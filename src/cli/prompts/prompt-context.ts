import type { InputError } from 'market-mcp-contract/command';
import type { ImportRun } from '../../changes/import-run.ts';
import type { Defaulted, Question } from '../../questions/question.ts';
import type { ToolQuestionAnswers } from '../../questions/tool-questions.ts';

/** What the questions of a command depend on. */
export interface PromptContext {
  readonly run: ImportRun;
  /** The question for the name of the tool. */
  readonly tool: Question<string> & Defaulted<string, ToolQuestionAnswers>;
  /** Why a valid name or directory is refused, such as one that is taken. */
  nameError?(name: string): InputError | undefined;
  directoryError?(directory: string): InputError | undefined;
}
