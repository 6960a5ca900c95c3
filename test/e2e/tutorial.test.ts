import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../ports.ts';
import { repository, run, scratch } from './support.ts';
import { blockOf, type Command, comparable, type Span, stepsOf, withBlocks } from './tutorial-page.ts';

// `npm run docs tutorial` updates the outputs in this file.
const file = join(repository, 'docs/tutorial.md');
const isWriting = process.env.TUTORIAL_PAGE === '1';
const page = readFileSync(file, 'utf8');

const root = scratch();
const port = await freePort();
/** The server of the project does not use its default port, which another program may have taken. */
const serverPort = String(await freePort());
/** The page starts in a clone. */
let cwd = join(root, 'clone');
mkdirSync(cwd);
for (const part of ['bin', 'scripts']) symlinkSync(join(repository, part), join(cwd, part));
const programs = new Map<string, ChildProcess>();
afterAll(() => Promise.all([...programs.keys()].map(stop)));

describe('docs/tutorial.md', () => {
  const blocks: { readonly at: Span; readonly text: string }[] = [];
  for (const step of stepsOf(page)) {
    switch (step.kind) {
      case 'run':
        it(`runs ${step.commands.map(({ line }) => line).join(' ')}`, async () => {
          const done: Command[] = [];
          for (const { line } of step.commands) done.push({ line, output: await outputOf(line) });
          settle(step.at, done, step.commands);
        });
        break;
      case 'start':
        it(`starts ${step.name}`, async () => {
          const [{ line } = { line: '' }] = step.commands;
          settle(step.at, [{ line, output: await start(step.name, line) }], step.commands);
        });
        break;
      case 'stop':
        it(`stops ${step.name}`, () => stop(step.name));
        break;
      case 'edit':
        it('applies an edit', () => edit(step.patch));
        break;
    }
  }

  function settle(at: Span, done: readonly Command[], shown: readonly Command[]): void {
    const text = blockOf(done);
    const isSame = comparable(text) === comparable(blockOf(shown));
    if (isWriting && !isSame) blocks.push({ at, text });
    else
      expect(comparable(text), 'npm run docs tutorial writes the outputs again').toBe(
        comparable(blockOf(shown)),
      );
  }

  it('detects a changed answer, verdict or command', () => {
    const text = blockOf(stepsOf(page).flatMap((step) => ('commands' in step ? step.commands : [])));
    const others = [
      ['195.769', '195.77'],
      ['getRate  found', 'getRate  empty'],
      ['next_page   2', 'next_page   3'],
      ['"SOURCE_REFUSED"', '"SOURCE_REJECTED"'],
      ['retryAfterSeconds  60', 'retryAfterSeconds  59'],
      ['0 failed', '1 failed'],
      ['--operation getRate', '--operation listCurrencies'],
    ];
    for (const [is = '', other = ''] of others) {
      expect(text).toContain(is);
      expect(comparable(text.replace(is, other))).not.toBe(comparable(text));
    }
  });

  it.runIf(isWriting)('writes the page', () => writeFileSync(file, withBlocks(page, blocks)));
});

/** The first commit needs an identity, which a machine may not have. */
const env = {
  GIT_AUTHOR_NAME: 'Reader',
  GIT_AUTHOR_EMAIL: 'reader@example.com',
  GIT_COMMITTER_NAME: 'Reader',
  GIT_COMMITTER_EMAIL: 'reader@example.com',
  PORT: serverPort,
};

/** The output of a command on both streams. `cd` applies to the following commands. */
async function outputOf(line: string): Promise<string> {
  const [, directory] = /^cd (\S+)$/.exec(line) ?? [];
  if (directory !== undefined) {
    cwd = resolve(cwd, directory);
    return '';
  }
  const { status, stdout } = await run('bash', ['-o', 'pipefail', '-c', `exec 2>&1; ${here(line)}`], {
    cwd,
    env,
  });
  expect(status, stdout).toBe(0);
  return shown(stdout);
}

/** Starts a program that keeps running, and returns its first line. */
async function start(name: string, line: string): Promise<string> {
  const child = spawn('bash', ['-c', `exec ${line} --port ${port}`], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  programs.set(name, child);
  const [first] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')]);
  return shown(String(first));
}

async function stop(name: string): Promise<void> {
  const child = programs.get(name);
  programs.delete(name);
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGINT');
  await once(child, 'exit');
}

/** Applies a patch without line numbers to files of the project. */
function edit(patch: string): void {
  const [, path = ''] = /^\+\+\+ b\/(.+)$/m.exec(patch) ?? [];
  const target = join(cwd, path);
  let text = readFileSync(target, 'utf8');
  for (const hunk of patch.split(/^@@\n/m).slice(1)) {
    const lines = hunk.split('\n').slice(0, -1);
    const side = (sign: string) =>
      lines.filter((line) => !line.startsWith(sign)).map((line) => `${line.slice(1)}\n`);
    const before = side('+').join('');
    expect(text.split(before), `${path} does not have once:\n${before}`).toHaveLength(2);
    text = text.replace(before, () => side('-').join(''));
  }
  writeFileSync(target, text);
}

/** A command of the page with the port of this run. */
function here(line: string): string {
  return line.replaceAll(':4600', `:${port}`);
}

/** An output of this run with the values of the page. */
function shown(output: string): string {
  const lines = output
    .replaceAll(`:${port}`, ':4600')
    .replaceAll(`LOCAL_${port}`, 'LOCAL_4600')
    .replaceAll(join(repository, 'bin/'), 'bin/')
    .replaceAll(join(root, 'clone/'), '')
    .replaceAll(root, '~')
    .split('\n')
    // These warn about npm on this machine, not about the project.
    .filter((line) => !line.startsWith('npm '));
  const text = lines.join('\n').replace(/^\n+|\s+$/g, '');
  return text === '' ? '' : `${text}\n`;
}
