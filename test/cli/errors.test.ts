import { CommandError, invalidInput } from 'market-mcp-contract/command';
import { describe, expect, it } from 'vitest';
import { toCommandError } from '../../packages/contract/src/command/errors.ts';
import { inputError } from '../../packages/contract/src/command/input-error.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { Back, Cancelled } from '../../src/cli/prompts/leaving.ts';

describe('an exception becomes an exit code', () => {
  it.each([
    // docs/errors.md has that of each code.
    [new CommandError('SELF_CHECK_FAILED', 'm', 'h'), 1],
    [new CommandError('X', 'm', 'h'), 2],
    [new CommandError('NOT_ANSWERED', 'm', 'h'), 3],
    [new CommandError('INSTALL_FAILED', 'm', 'h'), 4],
    [new Cancelled(), 130],
    [new Back(), 130],
    [new Error('a bug'), 70],
    ['thrown text', 70],
  ])('%o', (error, exitCode) => {
    expect(toCommandError(error).exitCode).toBe(exitCode);
  });

  it('an unknown flag keeps the suggestion of commander', () => {
    const parse = () =>
      buildProgram('create-market-mcp', async () => {}).parse(['--inptu', 'a'], { from: 'user' });
    expect(errorOf(parse)).toMatchObject({
      code: 'BAD_USAGE',
      message: "unknown option '--inptu'",
      hint: 'Did you mean --input?',
      exitCode: 2,
    });
  });
});

describe('errors of input', () => {
  const first = inputError('--tool', 'a b', 'is not a name', 'Write a_b.');
  const second = inputError('--output', undefined, 'is missing', 'Write one.');

  it('are reported one by one', () => {
    expect(invalidInput([first])).toMatchObject({
      message: '--tool "a b" is not a name.',
      hint: 'Write a_b.',
    });
  });

  it('are listed together', () => {
    expect(invalidInput([first, second])).toMatchObject({
      message: '2 errors in the input',
      details: ['--tool "a b" is not a name. Write a_b.', '--output is missing. Write one.'],
    });
  });
});

function errorOf(act: () => unknown): CommandError | undefined {
  try {
    act();
  } catch (error) {
    return toCommandError(error);
  }
  return undefined;
}
