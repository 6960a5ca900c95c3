import { on, type Values } from 'market-mcp-contract/command';
import { parseToolName } from '../model/names.ts';
import { createSwitches } from './create.ts';
import { askQuestion, type Defaulted, type Question } from './question.ts';
import { type ToolQuestionAnswers, toolQuestions } from './tool-questions.ts';

const tool: Question<string> & Defaulted<string, ToolQuestionAnswers> = {
  ...toolQuestions.tool,
  flag: { syntax: '[name]', description: toolQuestions.tool.flag.description },
  parse: (text) => parseToolName(text, '[name]'),
  replay: (name) => [name],
};

const answered = { ...toolQuestions, tool } as const;

/** Every question of `market-mcp add-tool`, in order. */
export const addToolQuestions = { ...answered, ask: askQuestion(answered) } as const;

const { yes, json, check } = createSwitches;

/** Its switches, by commander's names. */
export const addToolSwitches = {
  yes,
  json,
  dryRun: on('--dry-run', 'print what would change as a unified diff, write nothing'),
  check: { ...check, description: 'do not build, and do not run the self-check' },
} as const;

/** The switches of `market-mcp rename-tool`. */
export const renameToolSwitches = {
  ...addToolSwitches,
  yes: { ...yes, description: 'do not ask for confirmation' },
} as const;

/** The switches of `market-mcp remove-tool`. */
export const removeToolSwitches = {
  ...renameToolSwitches,
  force: on('--force', 'also remove files that were changed by hand'),
} as const;

export type AddToolSwitches = Values<typeof addToolSwitches>;
export type RenameToolSwitches = Values<typeof renameToolSwitches>;
export type RemoveToolSwitches = Values<typeof removeToolSwitches>;
