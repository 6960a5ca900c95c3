import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inputError } from '../../../packages/contract/src/command/input-error.ts';
import type { CreatePrompts } from '../../../src/cli/prompts/flow.ts';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { keys } from '../../keys.ts';
import { directory } from '../../project/directory.ts';
import { afterDirectory, drive, enterAt, everyPrompt, fees, known, prompts } from './interview.ts';

const { enter, ctrlU, down, tab, up } = keys;

describe('the interactive flow', () => {
  it('takes the defaults if every answer is Enter', async () => {
    const { value, text } = await drive(everyPrompt.slice(1).map((prompt) => [prompt, enter]));
    expect(value).toEqual(completeAnswers({}));
    expect(text).toContain('my-tool/package.json');
  });

  it('asks only what flags did not answer', async () => {
    const flagAnswers = {
      directory: 'x',
      tool: 'get_time',
      description: ['Returns the time.'],
      platform: 'context',
    };
    const { value, text } = await drive(enterAt('effect', 'input', 'returns', 'output', 'write'), {
      flagAnswers,
    });
    expect(value).toEqual(completeAnswers(flagAnswers));
    expect(text).not.toContain(prompts.tool);
  });

  it('asks for values of required parameters of a spec file that have only placeholders', async () => {
    const spec = join(directory(), 'tools.json');
    const code = { type: 'string', pattern: '^[A-Z]{3}$', description: 'Code' };
    const tool = {
      name: 'get_x',
      description: 'Returns x. Use it when x is asked for.',
      inputSchema: {
        type: 'object',
        properties: { code, other: code, free: { type: 'string' }, left: code },
        required: ['code', 'other', 'free'],
      },
      outputSchema: { type: 'object', properties: { x: { type: 'number' } } },
    };
    writeFileSync(spec, JSON.stringify([tool]));
    const { value, text } = await drive(
      [
        [prompts.directory, enter],
        ['Example of get_x.code', 'abc', enter],
        ['does not match the parameter', ctrlU, 'ABC', enter],
        ['Example of get_x.other', enter],
        [prompts.platform, enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { spec } },
    );
    const example = [{ tool: 'get_x', parameter: 'code', text: 'ABC' }];
    expect(value).toEqual(completeAnswers({ spec, example }));
    expect(text).not.toContain('get_x.free');
    expect(text).not.toContain('get_x.left');
  });

  it('takes fields as lines: two inputs and a nested list output in 9 prompts', async () => {
    const { value, text } = await drive([
      [prompts.directory, 'gas', enter],
      [prompts.tool, 'get gas', enter],
      ['Write get_gas.', ctrlU, 'get_gas', enter],
      [prompts.effect, enter],
      [prompts.input, 'chain:string(base, ethereum)=base Chain to look up', enter],
      ['one of base, ethereum', 'limit?:integer=10', enter, enter],
      [prompts.description, 'Returns gas prices. Use it before sending.', enter],
      [prompts.returns, down, enter],
      ['What does each item contain?', 'fees[].gwei:number(examples=1.5) Price in gwei', enter],
      ['fees[].gwei', enter],
      [prompts.platform, down, enter],
      [prompts.write, enter],
    ]);
    expect(value).toEqual({
      directory: 'gas',
      tool: 'get_gas',
      description: ['Returns gas prices. Use it before sending.'],
      effect: 'reads',
      input: [
        {
          name: 'chain',
          required: true,
          type: 'string',
          enum: ['base', 'ethereum'],
          default: 'base',
          description: 'Chain to look up',
        },
        { name: 'limit', type: 'integer', default: 10 },
      ],
      output: [fees],
      returns: 'list',
      platform: 'context',
    });
    expect(text.match(/^◇ /gm)?.length).toBeLessThanOrEqual(12);
  });

  it('asks for a field step by step on Tab, including nested ones and lists, with an error at each prompt', async () => {
    const { returns: _, output: __, ...flagAnswers } = known;
    const { value } = await drive(
      [
        [prompts.input, tab],
        ['Name of the parameter', 'gas price', enter],
        ['Write gasPrice or gas_price.', ctrlU, 'chain', enter],
        ['Type of chain', enter],
        ['What does chain mean?', 'Chain to look up', enter],
        ['Is chain required?', enter],
        ['Allowed values of chain', 'base, ethereum', enter],
        ['Default of chain', 'polygon', enter],
        ['"polygon" does not match its field: expected one of ["base","ethereum"].', ctrlU, 'base', enter],
        ['1  chain:string(base|ethereum)=base Chain to look up', tab],
        ['Name of the parameter', 'chain', enter],
        ['already exists', ctrlU, 'limit', enter],
        ['Type of limit', down, down, enter],
        ['What does limit mean?', enter],
        ['Is limit required?', down, enter],
        ['Allowed values of limit', enter],
        ['Default of limit', 'five', enter],
        ['"five" is not an integer. Write a whole number such as 10.', ctrlU, '10', enter],
        ['Examples of limit', '10, 20', enter],
        ['2  limit?:integer(examples=10|20)=10', enter],
        [prompts.returns, enter],
        [prompts.output, tab],
        ['Name of the field', 'fees', enter],
        ['Type of fees', up, enter],
        ['What does fees mean?', enter],
        ['Is fees always present?', enter],
        ['Name of the field of fees', 'gwei', enter],
        ['Type of fees.gwei', down, enter],
        ['What does fees.gwei mean?', 'Price in gwei', enter],
        ['Is fees.gwei always present?', enter],
        ['Allowed values of fees.gwei', enter],
        ['Examples of fees.gwei', '1.5', enter],
        ['Another field of fees?', enter],
        ['2  fees[].gwei:number(examples=1.5) Price in gwei', enter],
        [prompts.write, enter],
      ],
      { flagAnswers },
    );
    expect(value).toMatchObject({
      input: [
        { name: 'chain', required: true, enum: ['base', 'ethereum'], default: 'base' },
        { name: 'limit', type: 'integer', default: 10, examples: [10, 20] },
      ],
      output: [fees],
    });
  });

  it('returns to the answers if they cannot be built, and lets one be changed', async () => {
    let reviews = 0;
    const { value, text } = await drive(
      [
        ...enterAt('directory', ...afterDirectory.slice(0, -1)),
        ['This definition is not valid yet.', enter],
        ['Which answer?', down, down, enter],
        [prompts.tool, ctrlU, 'get_time', enter],
        [prompts.write, enter],
      ],
      {
        review: (parts) => {
          reviews += 1;
          const plan = completeAnswers(parts);
          return reviews === 1
            ? { ok: false, errors: [inputError('get_record', 'x', 'is taken', 'Rename it.')] }
            : { ok: true, value: { plan, lines: [JSON.stringify(plan)] } };
        },
      },
    );
    expect(text).toContain('get_record is taken. Rename it.');
    expect(value).toMatchObject({ tool: 'get_time' });
  });

  it('refuses a directory that is not empty, and suggests a free one', async () => {
    const directoryError: CreatePrompts<unknown>['directoryError'] = (directory) =>
      directory === 'my-tool'
        ? inputError('[directory]', directory, 'is not empty', 'Choose another.')
        : undefined;
    const others = enterAt(...afterDirectory);
    const typed = [
      [prompts.directory, 'my-tool', enter],
      ['is not empty', ctrlU, 'free', enter],
    ] as const;
    expect((await drive([...typed, ...others], { directoryError })).value?.directory).toBe('free');
    expect((await drive([...enterAt('directory'), ...others], { directoryError })).value?.directory).toBe(
      'my-tool-2',
    );
  });

  it('prints no control characters of answers', async () => {
    const { text } = await drive(enterAt('effect', 'input', 'returns', 'output', 'write'), {
      flagAnswers: { directory: 'x', tool: 'a', description: ['b'], platform: 'generic' },
      review: (parts) => ({
        ok: true,
        value: { plan: completeAnswers(parts), lines: ['\u001b]0;owned\u0007 \u0007'] },
      }),
    });
    expect(text).not.toContain('\u0007');
  });
});

it('the effect of a call is derived from the name of the tool, and can be changed', async () => {
  const { effect: _, tool: __, ...flagAnswers } = { ...known, input: [] };
  const effectOf = async (tool: string, ...typed: readonly string[]) => {
    const { value } = await drive([[prompts.effect, ...typed, enter], ...enterAt('write')], {
      flagAnswers: { ...flagAnswers, tool },
    });
    return value?.effect;
  };
  expect(await effectOf('get_order')).toBe('reads');
  expect(await effectOf('delete_order')).toBe('changes');
  expect(await effectOf('create_order')).toBe('adds');
  expect(await effectOf('get_order', down)).toBe('computes');
});
