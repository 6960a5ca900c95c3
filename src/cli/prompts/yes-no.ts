import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { Prompt, type State, wrapTextWithPrefix } from '@clack/core';
import {
  type CANCEL_SYMBOL,
  isCancel,
  S_BAR,
  S_BAR_END,
  S_RADIO_ACTIVE,
  S_RADIO_INACTIVE,
  symbol,
} from '@clack/prompts';

export interface YesNo {
  readonly message: string;
  /** What Enter alone gives. */
  readonly initialValue: boolean;
  readonly input: Readable;
  readonly output: Writable;
  /** Cancels the question when it aborts. */
  readonly signal?: AbortSignal;
}

const moves: ReadonlySet<string | undefined> = new Set(['up', 'down', 'left', 'right', 'space']);

/**
 * Asks a question that yes or no answers, in the look of clack's `confirm`. That one takes `y` for the whole answer, so
 * that the Enter of someone who types `y` and Enter answers the next question unseen. Here `y`, `n` and the arrows move
 * the choice, and Enter alone gives it.
 *
 * @returns clack's sign of a cancelled prompt for Ctrl-C, Escape and an aborted signal.
 */
export async function yesNo({
  message,
  initialValue,
  ...streams
}: YesNo): Promise<boolean | typeof CANCEL_SYMBOL> {
  let choice = initialValue;
  const prompt = new Prompt<boolean>(
    {
      ...streams,
      render() {
        const asked = wrapTextWithPrefix(
          streams.output,
          message,
          `${styleText('gray', S_BAR)}  `,
          `${symbol(this.state)}  `,
        );
        return [styleText('gray', S_BAR), asked, ...answerLines(this.state, choice)].join('\n');
      },
    },
    false,
  );
  prompt.on('confirm', (yes) => {
    choice = yes === true;
  });
  prompt.on('cursor', (action) => {
    if (moves.has(action)) choice = !choice;
  });
  const ended = await prompt.prompt();
  return isCancel(ended) ? ended : choice;
}

function answerLines(state: State, choice: boolean): readonly string[] {
  const past = styleText('gray', S_BAR);
  const answer = choice ? 'Yes' : 'No';
  if (state === 'submit') return [`${past}  ${styleText('dim', answer)}`];
  if (state === 'cancel') return [`${past}  ${styleText(['strikethrough', 'dim'], answer)}`, past];
  const options = `${option('Yes', choice)} ${styleText('dim', '/')} ${option('No', !choice)}`;
  return [`${styleText('cyan', S_BAR)}  ${options}`, styleText('cyan', S_BAR_END), ''];
}

function option(label: string, chosen: boolean): string {
  return chosen
    ? `${styleText('green', S_RADIO_ACTIVE)} ${label}`
    : `${styleText('dim', S_RADIO_INACTIVE)} ${styleText('dim', label)}`;
}
