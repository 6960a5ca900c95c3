import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../packages/contract/src/command/command-error.ts';
import { stopAllProgress } from '../../packages/contract/src/command/progress.ts';
import { singleLine } from '../../packages/contract/src/command/single-line.ts';
import { outputTo } from './sinks.ts';

const error = new CommandError('BAD', 'no such thing\u001b[2J', 'Write another.', {
  details: ['line \u0007'],
});

describe('output for a person', () => {
  it('has no control sequences without a terminal', () => {
    const { output, stdout, stderr } = outputTo();
    output.done('written');
    output.note('look');
    output.error(error);
    output.result({ ok: true });
    output.progress('working').stop();
    expect(stdout.text).toBe('✔ written\n! look\n');
    expect(stderr.text).toBe('✘ no such thing\n    line \\u{7}\n  Write another.\n');
  });

  it('has colours and a moving line at a terminal', () => {
    const { output, stdout, stderr } = outputTo({ terminal: true });
    output.done('written');
    expect(stdout.text).toBe('\u001b[32m✔\u001b[39m written\n');
    const progress = output.progress('installing');
    expect(stripVTControlCharacters(stderr.text)).toContain('installing');
    progress.stop();
    expect(stderr.text.endsWith('\r\u001b[K\u001b[?25h')).toBe(true);
  });

  it('restores the terminal when the program ends at once', () => {
    const { output, stderr } = outputTo({ terminal: true });
    output.progress('installing');
    stopAllProgress();
    expect(stderr.text.endsWith('\u001b[?25h')).toBe(true);
  });
});

describe('at a terminal of 80 columns', () => {
  const long = 'a sentence of several words '.repeat(8).trim();

  it('sentences wrap between words, below their beginning', () => {
    const { output, stdout, stderr } = outputTo({ terminal: true });
    output.note(long);
    output.error(new CommandError('BAD', long, long, { details: [long] }));
    for (const { text } of [stdout, stderr]) {
      const lines = stripVTControlCharacters(text).trimEnd().split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
      expect(lines.every((line) => /^(?:[!✘] | {2,4})(?:a|sentence|of|several|words)\b/.test(line))).toBe(
        true,
      );
    }
    const words = stripVTControlCharacters(stdout.text).slice(2).split(/\s+/).join(' ').trim();
    expect(words).toBe(long);
  });

  it('a command at the end of a hint is one line, to be copied', () => {
    const { output, stderr } = outputTo({ terminal: true });
    const command = `npx create-market-mcp gas --description '${long}'`;
    output.error(new CommandError('CANCELLED', 'cancelled', `To continue with the answers: ${command}`));
    expect(stripVTControlCharacters(stderr.text)).toBe(
      `✘ cancelled\n  To continue with the answers:\n  ${command}\n`,
    );
  });
});

describe('output for a program', () => {
  it('is exactly one JSON object on stdout', () => {
    const { output, stdout, stderr } = outputTo({ json: true, terminal: true });
    output.done('written');
    output.line('more');
    output.progress('working').stop();
    output.result({ ok: true });
    expect(stdout.text).toBe('{"ok":true}\n');
    expect(stderr.text).toBe('');
  });

  const data = { code: 'BAD', message: error.message, hint: 'Write another.', details: error.details };

  it('is one JSON object on stdout after a failure, and stderr is empty', () => {
    const { output, stdout, stderr } = outputTo({ json: true });
    output.error(error);
    expect(stderr.text).toBe('');
    expect(stdout.text.split('\n')).toHaveLength(2);
    expect(JSON.parse(stdout.text)).toEqual({ ok: false, error: data });
  });

  it('has the error of a failed command beside its result', () => {
    const { output, stdout, stderr } = outputTo({ json: true });
    expect(output.failure({ directory: '/x' }, error)).toBe(2);
    expect(stderr.text).toBe('');
    expect(JSON.parse(stdout.text)).toEqual({ directory: '/x', ok: false, error: data });
  });

  it('stays one object if an error follows the result', () => {
    const { output, stdout, stderr } = outputTo({ json: true });
    output.result({ ok: true });
    output.error(error);
    expect(stdout.text).toBe('{"ok":true}\n');
    expect(JSON.parse(stderr.text)).toEqual({ ok: false, error: data });
  });
});

it.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['a\nb\rc', 'a\\u{a}b\\u{d}c'],
  ['\u202ereversed', '\\u{202e}reversed'],
  ['\u009b31m plain 🚀 é', ' plain 🚀 é'],
])('untrusted text on a terminal: %j is printed as %j', (text, shown) => {
  expect(singleLine(text)).toBe(shown);
});
