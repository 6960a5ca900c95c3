import { expect } from 'vitest';
import { startImport } from '../../../src/changes/import-run.ts';
import { askCreate, type CreatePrompts } from '../../../src/cli/prompts/flow.ts';
import { isStartOpen } from '../../../src/cli/prompts/start-prompts.ts';
import { type CreateAnswers, completeAnswers } from '../../../src/questions/create-answers.ts';
import { keys } from '../../keys.ts';
import { type Answer, Keyboard } from './keyboard.ts';

const { down, enter } = keys;

export const prompts = {
  start: 'Start from',
  directory: 'Where should the project be created?',
  tool: 'What is the tool called?',
  effect: 'What does a call do?',
  input: 'What are the inputs of the tool?',
  description: 'What does the tool return, and when',
  returns: 'One record or a list?',
  output: 'What does the tool return?',
  platform: 'For which marketplace?',
  write: 'Write it?',
};
export const everyPrompt = Object.values(prompts);

/** Answers the questions of create at a keyboard: the answers, or the error, and what was printed. */
export async function drive(answers: readonly Answer[], options: Partial<CreatePrompts<CreateAnswers>> = {}) {
  // Most tests start from nothing, the second choice.
  const starts = isStartOpen(options.flagAnswers ?? {}) && answers[0]?.[0] !== prompts.start;
  const keyboard = new Keyboard(starts ? [[prompts.start, down, enter], ...answers] : answers);
  const asked = askCreate({
    flagAnswers: {},
    run: startImport(),
    review: (parts) => ({
      ok: true,
      value: { plan: completeAnswers(parts), lines: ['my-tool/package.json'] },
    }),
    resume: (parts, ask) => JSON.stringify({ ...parts, ask }),
    interrupted: () => {},
    input: keyboard.input,
    output: keyboard,
    ...options,
  });
  const answered = await asked.then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  expect(keyboard.unused).toBe(0);
  return { ...answered, text: keyboard.text };
}

/** Enter at each of these questions. */
export const enterAt = (...names: (keyof typeof prompts)[]) =>
  names.map((name): Answer => [prompts[name], ...(name === 'start' ? [down] : []), enter]);

export const fees = {
  name: 'fees',
  required: true,
  type: 'array',
  items: {
    type: 'object',
    fields: [{ name: 'gwei', required: true, type: 'number', examples: [1.5], description: 'Price in gwei' }],
  },
};

/** Answers to everything except the input fields. */
export const known = {
  directory: 'x',
  tool: 'get_it',
  description: ['Returns it.'],
  effect: 'reads',
  returns: 'record',
  output: [{ name: 'a', type: 'string' }],
  platform: 'generic',
} as const;

/** The questions after that for the directory, if the start is blank. */
export const afterDirectory = [
  'tool',
  'effect',
  'input',
  'description',
  'returns',
  'output',
  'platform',
  'write',
] as const;
