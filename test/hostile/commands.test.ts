import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create, market, type Ran, scratch, succeeded } from '../e2e/support.ts';
import { serveTools } from '../e2e/upstreams.ts';

const root = scratch();
const freshDirectory = () => mkdtempSync(join(root, 'd-'));
const quick = ['--yes', '--no-install', '--no-git'];

/** Names that run a command, end a quote, or pose as options, each with the canary that must not appear. */
const names = [
  '$(touch${IFS}canary)',
  '`touch canary`',
  'a; touch canary;',
  "a'$(touch canary)'",
  'a"$(touch canary)"',
  '-rf $(touch canary)',
  'a\n$(touch canary)\n',
  '\u001b]0;x\u0007$(touch canary)\n',
  '!$(touch canary)\u202e',
];

const output = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] };
const tool = (name: string, more: object = {}) => ({
  name,
  description: 'Returns the weather of a city. Use it when a question asks for the weather.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: output,
  annotations: { readOnlyHint: true },
  ...more,
});
const writing = { annotations: { readOnlyHint: false, destructiveHint: true } };

const serverOf = (tools: readonly object[]) => serveTools('x', tools);

/** The parts of printed lines that somebody may paste: from each flag or program to the end of the line. */
function commandsIn(printed: string): readonly string[] {
  return printed
    .split('\n')
    .flatMap((line) =>
      [
        ...line.matchAll(/(?<=^|\s)(?:--[a-z-]+|market-mcp|create-market-mcp|npx|npm|node|cd|git|curl) /g),
      ].flatMap(({ index }) => line.slice(index).replace(/\)$/, '').split(' && ')),
    );
}

/** The words that a shell parses from a printed command. Fails if the shell cannot parse it or runs something. */
function pasted(command: string): readonly string[] {
  const cwd = freshDirectory();
  const script = `for word in ${command}; do printf '%s\\0' "$word"; done`;
  const options = { cwd, encoding: 'utf8', stdio: 'pipe' } as const;
  const words = execFileSync('sh', ['-c', script], options).split('\0').slice(0, -1);
  expect(existsSync(join(cwd, 'canary')), command).toBe(false);
  return words;
}

function hostileIn({ stdout, stderr }: Ran): readonly string[] {
  return commandsIn(stdout + stderr).filter((command) => command.includes('touch'));
}

/**
 * Pastes each printed command that holds a hostile text, and expects that some of them hold this word. Output shows line feeds at
 * the end of a word as codes.
 */
function expectQuoted(ran: Ran, word: string): void {
  expect(hostileIn(ran).flatMap(pasted), ran.stdout + ran.stderr).toContain(word.replace(/\n$/, '\\u{a}'));
}

describe('a printed command quotes names of a server', () => {
  it.each(names)('that may write, in the hint that names it: %j', async (name) => {
    const url = await serverOf([tool('get_weather'), tool(name, writing)]);
    const ran = await succeeded(create(['gas', '--from-url', url, ...quick], { cwd: freshDirectory() }));
    expectQuoted(ran, name);
  });

  it.each(names.slice(0, 2))('all of which may write, in the error: %j', async (name) => {
    const url = await serverOf([tool(name, writing)]);
    const ran = await create(['gas', '--from-url', url, ...quick], { cwd: freshDirectory() });
    expect(ran.status).toBe(2);
    expectQuoted(ran, name);
  });

  it('that are invalid, in the error that says how to leave them out', async () => {
    const url = await serverOf([tool('get_weather'), ...names.map((name) => tool(name))]);
    const ran = await create(['gas', '--from-url', url, ...quick], { cwd: freshDirectory() });
    expect(ran.status).toBe(2);
    expectQuoted(ran, names.join(','));
    expect(ran.stderr.split('\n').filter((line) => line.startsWith('$(touch'))).toEqual([]);
  });

  it('and of a file, whose tools have no output', async () => {
    const cwd = freshDirectory();
    const silent = names.map((name) => ({ ...tool(name), outputSchema: undefined }));
    writeFileSync(join(cwd, 'spec.json'), JSON.stringify(silent));
    const ran = await create(['gas', '--spec', 'spec.json', ...quick], { cwd });
    expect(ran.status).toBe(2);
    for (const name of names) expectQuoted(ran, name);
  });
});

it.each([names[0], names[4], names[5], names[8]])(
  'a printed command quotes the directory %j',
  async (name = '') => {
    const cwd = freshDirectory();
    mkdirSync(join(cwd, name));
    const created = await create([...quick, '--tool', 'get_gas', '--', join(name, 'gas')], { cwd });
    expectQuoted(created, name.startsWith('-') ? `./${name}/gas` : `${name}/gas`);
    const checked = await market(['check', '--', join(name, 'gas')], { cwd });
    for (const command of hostileIn(checked)) pasted(command);
  },
);
