import { describe, expect, it } from 'vitest';
import { keys, pasted } from '../../keys.ts';
import { drive, known, prompts } from './interview.ts';
import type { Answer } from './keyboard.ts';

const { enter, ctrlK, ctrlU, down, right, shiftUp, tab, up } = keys;

describe('lines of fields', () => {
  /** The input fields that result from keys in the editor. */
  async function inputOf(...answers: Answer[]) {
    const { value, text } = await drive([...answers, [prompts.write, enter]], { flagAnswers: known });
    return { input: value?.input, text };
  }

  it('Enter does not leave a line with an error, which is shown below it', async () => {
    const { input } = await inputOf(
      [prompts.input, 'chain:strng', enter],
      ['"strng" is not a type (after "chain:"). Did you mean string?', ctrlU, 'chain:string', enter, enter],
    );
    expect(input).toEqual([{ name: 'chain', required: true, type: 'string' }]);
  });

  it('a contradiction is shown at the later line, and Enter at the end moves there', async () => {
    const { input } = await inputOf(
      [prompts.input, 'a:string', enter, 'b:string', enter],
      ['3  █', up, up, ctrlU, 'b:number', down, down, enter],
      ['b is declared twice', ctrlU, 'c:string', enter, enter],
    );
    expect(input?.map(({ name, type }) => `${name}:${type}`)).toEqual(['b:number', 'c:string']);
  });

  it('Tab completes types and options, one candidate after the other', async () => {
    const { input } = await inputOf(
      [prompts.input, 'n?:int'],
      ['Tab: integer · integer[]', tab, '(m', tab, '1, m', tab, tab, '9)', enter, enter],
    );
    expect(input).toEqual([{ name: 'n', type: 'integer', minimum: 1, maximum: 9 }]);
  });

  it('lines can be reordered, removed and taken from the suggestion', async () => {
    const lines = ['a:string', 'b:string', 'c:string'].flatMap((line) => [line, enter]);
    const { input } = await inputOf(
      [prompts.input, ...lines],
      ['4  █', up, shiftUp, shiftUp, down, ctrlK, down, enter],
    );
    expect(input?.map(({ name }) => name)).toEqual(['c', 'b']);
    const { output: _, ...flagAnswers } = known;
    const { value } = await drive(
      [
        [prompts.input, right, ' now', enter, enter],
        [prompts.output, enter],
        [prompts.write, enter],
      ],
      { flagAnswers },
    );
    expect(value?.input).toMatchObject([
      { name: 'query', description: 'What to look up: a name or an id now' },
    ]);
  });

  it('an input may have no fields, an output may not', async () => {
    expect((await inputOf([prompts.input, 'none', enter])).input).toEqual([]);
    expect((await inputOf([prompts.input, enter])).input).toEqual([]);
    const { output: _, ...flagAnswers } = known;
    const { value } = await drive(
      [
        [prompts.output, 'none', enter],
        ['Write a name, a colon and a type', ctrlU, 'a:string', enter, enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { ...flagAnswers, input: [] } },
    );
    expect(value).toMatchObject({ output: [{ name: 'a' }] });
  });
});

describe('a paste', () => {
  it('of several lines becomes several fields', async () => {
    const { value } = await drive(
      [
        [prompts.input, pasted('a:string First\n\tb?:integer=3 Second\n')],
        ['b     integer', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: known },
    );
    expect(value).toMatchObject({
      input: [{ name: 'a' }, { name: 'b', default: 3, description: 'Second' }],
    });
  });

  it.each([
    ['marked by the terminal', pasted('Returns prices.\nUse it often.\n')],
    ['not marked', 'Returns prices.\rUse it often.\r'],
  ])('of several lines into a single-line answer becomes one line, %s', async (_, text) => {
    const { description: __, ...flagAnswers } = known;
    const { value } = await drive(
      [
        [prompts.description, text],
        ['Returns prices. Use it often.', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { ...flagAnswers, input: [] } },
    );
    expect(value).toMatchObject({ description: ['Returns prices. Use it often.'] });
  });

  it('is refused with a message at a choice', async () => {
    const { platform: _, ...flagAnswers } = known;
    const { value } = await drive(
      [
        [prompts.platform, pasted('jjj\njj\n')],
        ['This question does not accept pasted text (jjj jj).', enter],
        [prompts.write, enter],
      ],
      { flagAnswers: { ...flagAnswers, input: [] } },
    );
    expect(value?.platform).toBe('generic');
  });
});
