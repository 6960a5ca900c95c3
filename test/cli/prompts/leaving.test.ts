import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { startImport } from '../../../src/changes/import-run.ts';
import { askCreate, Cancelled } from '../../../src/cli/prompts/flow.ts';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { keys } from '../../keys.ts';
import { directory } from '../../project/directory.ts';
import { drive, enterAt, everyPrompt, known, prompts } from './interview.ts';

const { enter, ctrlC, ctrlD, ctrlU, down, escape: esc, tab, up } = keys;

describe('going back', () => {
  it('is possible at every question, and the previous answer can be edited', async () => {
    for (const [i, prompt] of everyPrompt.entries()) {
      const { value } = await drive([
        ...(i === 0 ? [] : ([[prompts.start, down, enter]] as const)),
        ...everyPrompt.slice(1, i).map((before) => [before, enter] as const),
        [prompt, esc],
        ...(i === 0 ? ([[prompts.start, down, enter]] as const) : []),
        ...everyPrompt.slice(Math.max(i === 0 ? 1 : 0, i - 1)).map((again) => [again, enter] as const),
      ]);
      expect(value).toEqual(completeAnswers({}));
    }
  });

  it('shows an accepted suggestion as a suggestion, so that typing replaces it', async () => {
    const { value } = await drive([
      ...enterAt('directory'),
      [prompts.tool, esc],
      [prompts.directory, 'alerts', enter],
      ...enterAt('tool', 'effect', 'input'),
      [prompts.description, esc],
      [prompts.input, 'level:integer', enter],
      ['2  █', enter],
      ...enterAt('description', 'returns', 'output'),
      [prompts.platform, esc],
      [prompts.output, esc],
      [prompts.returns, esc],
      [prompts.description, esc],
      ['1  level:integer', enter],
      ...enterAt('description', 'returns'),
      [prompts.output, 'title:string', enter],
      ['2  █', enter],
      ...enterAt('platform', 'write'),
    ]);
    expect(value?.directory).toBe('alerts');
    expect(value).toMatchObject({
      tool: 'get_alerts',
      input: [{ name: 'level' }],
      output: [{ name: 'title' }],
    });
  });

  it('to another answer renews the suggestions that follow from it', async () => {
    const { value } = await drive([
      ...enterAt('directory'),
      [prompts.tool, 'get_gas', enter],
      [prompts.effect, esc],
      [prompts.tool, ctrlU, 'get_fees', enter],
      ...enterAt('effect', 'input'),
      ['Returns the fees', enter],
      ...enterAt('returns', 'output', 'platform', 'write'),
    ]);
    expect(value).toMatchObject({ description: [expect.stringContaining('fees')] });
  });

  it('to the start keeps the file that was named', async () => {
    const sample = join(directory(), 'alerts.json');
    writeFileSync(sample, '{"alerts":[{"id":1}]}');
    const { value } = await drive([
      [prompts.start, down, down, down, enter],
      [prompts.directory, enter],
      ['Which OpenAPI document?', sample, enter],
      ['is not an OpenAPI document', esc],
      [prompts.directory, esc],
      [prompts.start, up, enter],
      [prompts.directory, enter],
      [`${sample}█`, enter],
      [prompts.tool, esc],
      [`${sample}█`, esc],
      [prompts.directory, esc],
      [prompts.start, down, down, down, enter],
      [prompts.directory, enter],
      [`${sample}█`, esc],
      [prompts.directory, esc],
      [prompts.start, up, up, up, enter],
      [prompts.directory, enter],
      [`${sample}█`, enter],
      ...enterAt('tool', 'effect', 'input', 'description', 'platform', 'write'),
    ]);
    expect(value).toMatchObject({ fromSample: [sample] });
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
      { flagAnswers: known },
    );
    expect(value).toMatchObject({ input: [{ name: 'a' }] });
  });

  it('in the form keeps what each question was answered, and the last member of an object', async () => {
    const { value } = await drive(
      [
        [prompts.input, tab],
        ['Name of the parameter', 'a', enter],
        ['Type of a', enter],
        ['What does a mean?', 'Letter', enter],
        ['Is a required?', enter],
        ['Allowed values of a', 'x, y', enter],
        ['Default of a', 'y', esc],
        ['x, y█', ', z', enter],
        ['y█', enter],
        ['2  █', tab],
        ['Name of the parameter', 'b', enter],
        ['Type of b', up, up, up, up, up, up, enter],
        ['What does b mean?', enter],
        ['Is b required?', enter],
        ['Name of the parameter of b', 'c', enter],
        ['Type of b.c', enter],
        ['What does b.c mean?', 'Third', enter],
        ['Is b.c required?', enter],
        ['Another parameter of b?', esc],
        ['Is b.c required?', esc],
        ['Third█', enter],
        ['Is b.c required?', enter],
        ['Another parameter of b?', enter],
        ['Default of b', enter],
        ['4  █', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: known },
    );
    expect(value).toMatchObject({
      input: [
        { name: 'a', enum: ['x', 'y', 'z'], default: 'y' },
        { name: 'b', type: 'object', fields: [{ name: 'c', description: 'Third' }] },
      ],
    });
  });

  it('to the type of a field drops the values of the former type', async () => {
    const { value } = await drive(
      [
        [prompts.input, tab],
        ['Name of the parameter', 'a', enter],
        ['Type of a', enter],
        ['What does a mean?', enter],
        ['Is a required?', enter],
        ['Allowed values of a', 'x, y', enter],
        ['Default of a', esc],
        ['Allowed values of a', esc],
        ['Is a required?', esc],
        ['What does a mean?', esc],
        ['Type of a', down, down, down, enter],
        ['What does a mean?', enter],
        ['Is a required?', enter],
        ['Default of a', enter],
        ['2  █', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: known },
    );
    expect(value).toMatchObject({ input: [{ name: 'a', type: 'boolean' }] });
    expect(value).not.toHaveProperty('input.0.enum');
  });

  it('passes by questions that were not asked: from the marketplace to the spec file', async () => {
    const spec = join(directory(), 'tools.json');
    writeFileSync(spec, JSON.stringify([{ name: 'get_x', output: ['x:number'] }]));
    const { value } = await drive([
      [prompts.start, up, enter],
      [prompts.directory, enter],
      ['Which spec file?', spec, enter],
      [prompts.platform, esc],
      ['Which spec file?', enter],
      ...enterAt('platform', 'write'),
    ]);
    expect(value).toMatchObject({ spec });
  });

  it('uses no answer of a start that was given up', async () => {
    const spec = join(directory(), 'tools.json');
    writeFileSync(spec, '[]');
    const { value, error } = await drive([
      ...enterAt('directory'),
      [prompts.tool, 'get_other', enter],
      [prompts.effect, esc],
      [prompts.tool, esc],
      [prompts.directory, esc],
      [prompts.start, up, up, enter],
      [prompts.directory, enter],
      ['Which spec file?', spec, enter],
      [prompts.platform, ctrlC],
    ]);
    expect(value).toBeUndefined();
    const resumed = JSON.parse((error as Cancelled).resume ?? '');
    expect(resumed).toEqual({ start: 'spec', directory: 'my-tool', spec, example: [], ask: [] });
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
      { flagAnswers: { ...known, input: [] } },
    );
    expect(value).toMatchObject({ tool: 'get_other' });
  });
});

describe('Ctrl-C', () => {
  it('prints the command that continues with the answers so far, including incomplete lines', async () => {
    const { error } = await drive([
      [prompts.directory, 'gas', enter],
      [prompts.tool, 'get_gas', enter],
      [prompts.effect, enter],
      [prompts.input, 'chain:string', enter, 'limit:', ctrlC],
    ]);
    expect(JSON.parse((error as Cancelled).resume ?? '')).toEqual({
      start: 'tool',
      directory: 'gas',
      tool: 'get_gas',
      effect: 'reads',
      input: [{ name: 'chain', required: true, type: 'string' }],
      ask: ['input'],
    });
  });

  it('is the only key that ends the program: Ctrl-D does nothing', async () => {
    const { value } = await drive([[prompts.write, ctrlD, enter]], { flagAnswers: { ...known, input: [] } });
    expect(value?.directory).toBe('x');
  });
});

describe('cancels', () => {
  it.each(everyPrompt.map((prompt, i) => [prompt, i] as const))(
    'at "%s" writes nothing',
    async (prompt, i) => {
      for (const way of [ctrlC, 'end']) {
        const { error } = await drive([
          ...everyPrompt.slice(1, i).map((before) => [before, enter] as const),
          [prompt, way],
        ]);
        expect(error).toBeInstanceOf(Cancelled);
      }
    },
  );

  it('in the middle of a field, and by declining at the end', async () => {
    const start = enterAt('directory', 'tool', 'effect');
    for (const answers of [
      [...start, [prompts.input, tab], ['Name of the parameter', ctrlC]],
      [...start, [prompts.input, tab], ['Name of the parameter', 'a', enter], ['Type of a', 'end']],
      [
        ...start,
        ...enterAt('input', 'description', 'returns', 'output', 'platform'),
        [prompts.write, down, down, enter],
      ],
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
      flagAnswers: {},
      run: startImport(),
      review: () => ({ ok: true, value: { plan: null, lines: [] } }),
      resume: () => '',
      interrupted: () => {},
      input,
      output: new PassThrough(),
    });
    await expect(asked).rejects.toBeInstanceOf(Cancelled);
  });
});
