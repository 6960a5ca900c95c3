import { confirm } from '@clack/prompts';
import { describe, expect, it } from 'vitest';
import { Asker, Cancelled } from '../../../src/cli/prompts/asker.ts';
import { yesNo } from '../../../src/cli/prompts/yes-no.ts';
import { keys } from '../../keys.ts';
import { type Answer, Keyboard } from './keyboard.ts';

const { enter, up, down, left, right, space, ctrlC } = keys;
const yes = '● Yes / ○ No';
const no = '○ Yes / ● No';

const questions = [
  ['First?', false],
  ['Second?', true],
] as const;

/** Asks two questions, one after the other, the first of which suggests no. */
async function ask(...answers: Answer[]) {
  const keyboard = new Keyboard(answers);
  const asker = new Asker(keyboard.input, keyboard);
  const given: boolean[] = [];
  for (const [message, initialValue] of questions) given.push(await asker.confirm(message, initialValue));
  expect(keyboard.unused).toBe(0);
  return given;
}

describe('yes or no', () => {
  it('Enter alone gives what is suggested', async () => {
    expect(await ask(['First?', enter], ['Second?', enter])).toEqual([false, true]);
  });

  it('a letter waits for Enter, and both answer one question', async () => {
    expect(await ask(['First?', 'y'], [yes, enter], ['Second?', 'n'], [no, enter])).toEqual([true, false]);
  });

  it('a letter and Enter that come at once answer one question', async () => {
    expect(await ask(['First?', `y${enter}`], ['Second?', `n${enter}`])).toEqual([true, false]);
    expect(await ask(['First?', 'Y', enter], ['Second?', 'N', enter])).toEqual([true, false]);
  });

  it('the last letter counts, words are as good as letters', async () => {
    expect(await ask(['First?', 'nyn', enter], ['Second?', 'ny', enter])).toEqual([false, true]);
    expect(await ask(['First?', 'yes', enter], ['Second?', 'no', enter])).toEqual([true, false]);
  });

  it.each(Object.entries({ up, down, left, right, space }))('%s moves to the other', async (_, key) => {
    expect(await ask(['First?', key], [yes, enter], ['Second?', key, key, key], [no, enter])).toEqual([
      true,
      false,
    ]);
  });

  it('other keys do nothing', async () => {
    expect(await ask(['First?', 'x', '1', '\t', '\n', enter], ['Second?', enter])).toEqual([false, true]);
  });

  it.each(Object.entries({ ctrlC, escape: keys.escape, end: 'end' }))('%s cancels', async (_, key) => {
    await expect(ask(['First?', key])).rejects.toBeInstanceOf(Cancelled);
    await expect(ask(['First?', 'y', key])).rejects.toBeInstanceOf(Cancelled);
    await expect(ask(['First?', 'y', enter], ['Second?', key])).rejects.toBeInstanceOf(Cancelled);
  });
});

describe('the look', () => {
  it.each([
    ['Enter', [['Sure?', enter]]],
    ['an arrow and Enter', [['Sure?', right, enter]]],
    ['Ctrl-C', [['Sure?', ctrlC]]],
  ] as const)('after %s is that of clack, long messages and all', async (_, answers) => {
    const message = `Sure? ${'The words go on and on. '.repeat(5)}`;
    const shownBy = async (prompt: typeof yesNo | typeof confirm) => {
      const keyboard = new Keyboard(answers, 40);
      await prompt({ message, initialValue: true, input: keyboard.input, output: keyboard });
      return keyboard.raw;
    };
    const shown = await shownBy(yesNo);
    expect(shown).toBe(await shownBy(confirm));
    expect(shown.split('\n').length).toBeGreaterThan(7);
  });
});
