import { describe, expect, it } from 'vitest';
import { Asker } from '../../../src/cli/prompts/asker.ts';
import { Back, Cancelled } from '../../../src/cli/prompts/leaving.ts';
import { keys } from '../../keys.ts';
import { type Answer, Keyboard } from './keyboard.ts';

const { enter, up, down, left, right, ctrlC, escape: esc } = keys;
const questions = [
  ['First?', false],
  ['Second?', true],
] as const;

/** Asks two questions; the first one suggests no. */
async function ask(...answers: Answer[]) {
  const keyboard = new Keyboard(answers);
  const asker = new Asker(keyboard.input, keyboard);
  const given: boolean[] = [];
  for (const [message, initialValue] of questions) given.push(await asker.confirm(message, initialValue));
  expect(keyboard.unused).toBe(0);
  return given;
}

describe('yes or no', () => {
  it('Enter gives the suggested answer', async () => {
    expect(await ask(['First?', enter], ['Second?', enter])).toEqual([false, true]);
  });

  it('a letter waits for Enter, and both answer one question', async () => {
    expect(await ask(['First?', 'y'], ['● Yes', enter], ['Second?', 'n'], ['● No', enter])).toEqual([
      true,
      false,
    ]);
    expect(await ask(['First?', `y${enter}`], ['Second?', `n${enter}`])).toEqual([true, false]);
    expect(await ask(['First?', 'Y', enter], ['Second?', 'N', enter])).toEqual([true, false]);
  });

  it('the last letter counts, and whole words are accepted', async () => {
    expect(await ask(['First?', 'nyn', enter], ['Second?', 'ny', enter])).toEqual([false, true]);
    expect(await ask(['First?', 'yes', enter], ['Second?', 'no', enter])).toEqual([true, false]);
  });

  it.each(Object.entries({ up, down, left, right }))(
    '%s moves to the other, also after a letter',
    async (_, key) => {
      expect(await ask(['First?', key], ['● Yes', enter], ['Second?', 'n', key, key, enter])).toEqual([
        true,
        false,
      ]);
    },
  );

  it('Ctrl-C and the end of input cancel, Escape goes back', async () => {
    for (const key of [ctrlC, 'end'])
      await expect(ask(['First?', 'y', key])).rejects.toBeInstanceOf(Cancelled);
    await expect(ask(['First?', enter], ['Second?', esc])).rejects.toBeInstanceOf(Back);
  });
});
