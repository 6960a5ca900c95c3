import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askCreate, Cancelled, type CreatePrompts } from '../../../src/cli/prompts/create.ts';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { fault } from '../../../src/spec/fault.ts';
import { keys } from '../../keys.ts';
import { type Answer, Keyboard } from './keyboard.ts';

const { enter, ctrlC, ctrlU, down } = keys;

const prompts = {
  directory: 'Where shall the project be?',
  tool: 'What is the tool called?',
  description: 'What does it return, and when',
  input: 'What does the tool take?',
  returns: 'One record or a list?',
  output: 'What does the tool return?',
  platform: 'For which marketplace?',
  write: 'Write it?',
};
const everyPrompt = Object.values(prompts);

async function drive(answers: readonly Answer[], options: Partial<CreatePrompts> = {}) {
  const keyboard = new Keyboard(answers);
  const asked = askCreate({
    given: {},
    review: () => ({ ok: true, value: ['my-tool/package.json'] }),
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

const enterAt = (...names: (keyof typeof prompts)[]) => names.map((name) => [prompts[name], enter] as const);

describe('the interactive flow', () => {
  it('takes the defaults with Enter all the way', async () => {
    const { value, text } = await drive(everyPrompt.map((prompt) => [prompt, enter]));
    expect(value).toEqual(completeAnswers({}));
    expect(text).toContain('my-tool/package.json');
  });

  it('asks only what flags did not give', async () => {
    const given = { directory: 'x', tool: 'get_time', description: 'Returns the time.', platform: 'context' };
    const { value, text } = await drive(enterAt('input', 'returns', 'output', 'write'), { given });
    expect(value).toEqual(completeAnswers(given));
    expect(text).not.toContain(prompts.tool);
  });

  it('asks only for the directory where a spec file is given', async () => {
    const { value } = await drive(enterAt('directory', 'platform', 'write'), {
      given: { spec: 'tools.json' },
    });
    expect(value).toEqual(completeAnswers({ spec: 'tools.json' }));
  });

  it('asks for every parameter and field, nested ones and lists', async () => {
    const { value } = await drive([
      [prompts.directory, 'gas', enter],
      [prompts.tool, 'get gas', enter],
      ['Write get_gas.', ctrlU, 'get_gas', enter],
      [prompts.description, 'Returns gas prices. Use it before sending.', enter],
      [prompts.input, down, enter],
      ['Name of the parameter', 'chain', enter],
      ['Type of chain', enter],
      ['What does chain say?', 'Chain to look up', enter],
      ['Must chain be given?', enter],
      ['Allowed values of chain', 'base | ethereum', enter],
      ['Default of chain', 'polygon', enter],
      ['does not fit its own field', ctrlU, 'base', enter],
      ['Another parameter?', 'y', enter],
      ['Name of the parameter', 'chain', enter],
      ['is there already', ctrlU, 'limit', enter],
      ['Type of limit', down, down, enter],
      ['What does limit say?', enter],
      ['Must limit be given?', 'n', enter],
      ['Allowed values of limit', enter],
      ['Default of limit', '10', enter],
      ['Examples of limit', '10|20', enter],
      ['Another parameter?', enter],
      [prompts.returns, down, enter],
      ['What does each item hold?', down, enter],
      ['Name of the field', 'fees', enter],
      ['Type of fees', ...Array<string>(9).fill(down), enter],
      ['What does fees say?', enter],
      ['Is fees always there?', enter],
      ['Name of the field of fees', 'gwei', enter],
      ['Type of fees.gwei', down, enter],
      ['What does fees.gwei say?', 'Price in gwei', enter],
      ['Is fees.gwei always there?', enter],
      ['Allowed values of fees.gwei', enter],
      ['Examples of fees.gwei', '1.5', enter],
      ['Another field of fees?', enter],
      ['Another field?', enter],
      [prompts.platform, down, enter],
      [prompts.write, enter],
    ]);
    expect(value).toEqual({
      directory: 'gas',
      source: {
        kind: 'tool',
        tool: {
          name: 'get_gas',
          description: 'Returns gas prices. Use it before sending.',
          input: [
            {
              name: 'chain',
              required: true,
              type: 'string',
              enum: ['base', 'ethereum'],
              default: 'base',
              description: 'Chain to look up',
            },
            { name: 'limit', type: 'integer', default: 10, examples: [10, 20] },
          ],
          output: [
            {
              name: 'fees',
              required: true,
              type: 'array',
              items: {
                type: 'object',
                fields: [
                  {
                    name: 'gwei',
                    required: true,
                    type: 'number',
                    examples: [1.5],
                    description: 'Price in gwei',
                  },
                ],
              },
            },
          ],
          returns: 'list',
        },
        meta: [],
      },
      platform: 'context',
      packageManager: null,
    });
  });

  it('leads back to the answers where they cannot be built, and lets one be changed', async () => {
    let reviews = 0;
    const { value, text } = await drive(
      [
        ...enterAt('directory', 'tool', 'description', 'input', 'returns', 'output', 'platform'),
        ['This cannot be built yet.', enter],
        ['Which answer?', down, enter],
        [prompts.tool, 'get_time', enter],
        [prompts.write, enter],
      ],
      {
        review: (answers) => {
          reviews += 1;
          return reviews === 1
            ? { ok: false, faults: [fault('get_record', 'x', 'is taken', 'Rename it.')] }
            : { ok: true, value: [JSON.stringify(answers)] };
        },
      },
    );
    expect(text).toContain('get_record: is taken. Rename it.');
    expect(value?.source).toMatchObject({ tool: { name: 'get_time' } });
  });

  it('refuses a directory that something is in, and suggests a free one', async () => {
    const directoryFault: CreatePrompts['directoryFault'] = (directory) =>
      directory === 'my-tool'
        ? fault('[directory]', directory, 'is not empty', 'Choose another.')
        : undefined;
    const others = enterAt('tool', 'description', 'input', 'returns', 'output', 'platform', 'write');
    const typed = [
      [prompts.directory, 'my-tool', enter],
      ['is not empty', ctrlU, 'free', enter],
    ] as const;
    expect((await drive([...typed, ...others], { directoryFault })).value?.directory).toBe('free');
    expect((await drive([...enterAt('directory'), ...others], { directoryFault })).value?.directory).toBe(
      'my-tool-2',
    );
  });

  it('shows no control characters of answers', async () => {
    const { text } = await drive(enterAt('input', 'returns', 'output', 'write'), {
      given: { directory: 'x', tool: 'a', description: 'b', platform: 'generic' },
      review: () => ({ ok: true, value: ['\u001b]0;owned\u0007 \u0007'] }),
    });
    expect(text).not.toContain('\u0007');
  });
});

describe('cancelling', () => {
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
    const start = enterAt('directory', 'tool', 'description');
    for (const answers of [
      [...start, [prompts.input, down, enter], ['Name of the parameter', ctrlC]],
      [...start, [prompts.input, down, enter], ['Name of the parameter', 'a', enter], ['Type of a', 'end']],
      [...start, ...enterAt('input', 'returns', 'output', 'platform'), [prompts.write, down, down, enter]],
    ] as const) {
      expect((await drive(answers)).error).toBeInstanceOf(Cancelled);
    }
  });

  it('an input that has ended before', async () => {
    const input = new PassThrough();
    input.end();
    input.resume();
    await new Promise((resolve) => input.once('end', resolve));
    const asked = askCreate({
      given: {},
      review: () => ({ ok: true, value: [] }),
      input,
      output: new PassThrough(),
    });
    await expect(asked).rejects.toBeInstanceOf(Cancelled);
  });
});
