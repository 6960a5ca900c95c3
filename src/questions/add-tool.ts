import { parseToolName } from '../model/names.ts';
import { askQuestion } from './ask.ts';
import { createSwitches } from './create.ts';
import type { Question, Switch, Switches } from './model.ts';
import { type ToolParts, toolQuestions } from './tool.ts';

const tool: Question<string, ToolParts> = {
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
  dryRun: {
    syntax: '--dry-run',
    description: 'print what would change as a unified diff, write nothing',
    initial: false,
  },
  check: { ...check, description: 'do not build, and do not run the self-check' },
} as const satisfies { readonly [name: string]: Switch };

export type AddToolSwitches = Switches<typeof addToolSwitches>;

/** The switches of `market-mcp rename-tool`. */
export const renameToolSwitches = {
  ...addToolSwitches,
  yes: { ...yes, description: 'do not ask for confirmation' },
} as const satisfies { readonly [name: string]: Switch };

export type RenameToolSwitches = Switches<typeof renameToolSwitches>;

/** The switches of `market-mcp remove-tool`. */
export const removeToolSwitches = {
  ...renameToolSwitches,
  force: { syntax: '--force', description: 'also remove files that were changed by hand', initial: false },
} as const satisfies { readonly [name: string]: Switch };

export type RemoveToolSwitches = Switches<typeof removeToolSwitches>;
