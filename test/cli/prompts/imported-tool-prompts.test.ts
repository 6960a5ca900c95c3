import { describe, expect, it } from 'vitest';
import { type ImportRun, startImport } from '../../../src/changes/import-run.ts';
import { Asker } from '../../../src/cli/prompts/asker.ts';
import { askDescriptions } from '../../../src/cli/prompts/imported-tool-prompts.ts';
import { createQuestions } from '../../../src/questions/create.ts';
import { startApi } from '../../api-server.ts';
import { Keyboard } from './keyboard.ts';

/** Asks for the description of a tool that is made from a request to an API. Nobody answers. */
async function askForDescription(status: number, run: ImportRun) {
  const { origin } = await startApi(() => ({ status, body: { price: 1.5 } }));
  const keyboard = new Keyboard([]);
  const asker = new Asker(keyboard.input, keyboard);
  const answers = { directory: 'x', fromRequest: [`curl ${origin}/price`] };
  return askDescriptions(asker, answers, { tool: createQuestions.tool, run }, false);
}

describe('a question that needs the tools of a request', () => {
  it('is skipped if the API does not answer, which the review reports', async () => {
    expect(await askForDescription(500, startImport())).toEqual([]);
  });

  it('ends with an error of the program itself', async () => {
    const brokenRun = { ...startImport(), responses: undefined } as unknown as ImportRun;
    await expect(askForDescription(200, brokenRun)).rejects.toThrow(TypeError);
  });
});
