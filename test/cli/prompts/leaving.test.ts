import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askCreate, Cancelled } from '../../../src/cli/prompts/create.ts';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { keys } from '../../keys.ts';
import { drive, enterAt, everyPrompt, known, prompts } from './interview.ts';

const { enter, ctrlC, ctrlD, ctrlU, down, escape: esc, tab } = keys;

describe('going back', () => {
  it('is possible at every question, and the previous answer can be edited', async () => {
    for (const [i, prompt] of everyPrompt.entries()) {
      const { value } = await drive([
        ...everyPrompt.slice(0, i).map((before) => [before, enter] as const),
        [prompt, esc],
        ...everyPrompt.slice(Math.max(0, i - 1)).map((again) => [again, enter] as const),
      ]);
      expect(value).toEqual(completeAnswers({}));
    }
  });

  it('from the form returns to the lines and keeps them all', async () => {
    const { value } = await drive(
      [
        [prompts.input, 'a:string', enter, tab],
        ['Name of the parameter', 'b', enter],
        ['Type of b', esc],
        ['Name of the parameter', esc],
        ['1  a:string', enter],
        [prompts.write, enter],
      ],
      { given: known },
    );
    expect(value?.source).toMatchObject({ tool: { input: [{ name: 'a' }] } });
  });

  it('from the list of answers shows the review again', async () => {
    const { value } = await drive(
      [
        [prompts.write, down, enter],
        ['Which answer?', esc],
        [prompts.write, down, enter],
        ['Which answer?', down, enter],
        [prompts.tool, ctrlU, 'get_other', enter],
        [prompts.write, enter],
      ],
      { given: { ...known, input: [] } },
    );
    expect(value?.source).toMatchObject({ tool: { name: 'get_other' } });
  });
});

describe('Ctrl-C', () => {
  it('prints the command that continues with the answers so far, including incomplete lines', async () => {
    const { error } = await drive([
      [prompts.directory, 'gas', enter],
      [prompts.tool, 'get_gas', enter],
      [prompts.description, enter],
      [prompts.effect, enter],
      [prompts.input, 'chain:string', enter, 'limit:', ctrlC],
    ]);
    expect(JSON.parse((error as Cancelled).resume ?? '')).toEqual({
      start: 'blank',
      directory: 'gas',
      tool: 'get_gas',
      description: expect.stringContaining('gas'),
      effect: 'reads',
      input: [{ name: 'chain', required: true, type: 'string' }],
    });
  });

  it('is the only key that ends the program: Ctrl-D does nothing', async () => {
    const { value } = await drive([[prompts.write, ctrlD, enter]], { given: { ...known, input: [] } });
    expect(value?.directory).toBe('x');
  });
});

describe('cancels', () => {
  it.each(everyPrompt.map((prompt, i) => [prompt, i] as const))(
    'at "%s" writes nothing',
    async (prompt, i) => {
      for (const way of [ctrlC, 'end']) {
        const { error } = await drive([
          ...everyPrompt.slice(0, i).map((before) => [before, enter] as const),
          [prompt, way],
        ]);
        expect(error).toBeInstanceOf(Cancelled);
      }
    },
  );

  it('in the middle of a field, and by declining at the end', async () => {
    const start = enterAt('directory', 'tool', 'description', 'effect');
    for (const answers of [
      [...start, [prompts.input, tab], ['Name of the parameter', ctrlC]],
      [...start, [prompts.input, tab], ['Name of the parameter', 'a', enter], ['Type of a', 'end']],
      [...start, ...enterAt('input', 'returns', 'output', 'platform'), [prompts.write, down, down, enter]],
    ] as const) {
      expect((await drive(answers)).error).toBeInstanceOf(Cancelled);
    }
  });

  it('when the input has already ended', async () => {
    const input = new PassThrough();
    input.end();
    input.resume();
    await new Promise((resolve) => input.once('end', resolve));
    const asked = askCreate({
      given: {},
      review: () => ({ ok: true, value: [] }),
      resume: () => '',
      input,
      output: new PassThrough(),
    });
    await expect(asked).rejects.toBeInstanceOf(Cancelled);
  });
});
