import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { planCreation } from '../../src/changes/creation.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { publishedState } from '../../src/dev/published-state.ts';
import type { StateKind } from '../../src/dev/state.ts';
import { completeAnswers, readCreateFlags } from '../../src/questions/create-answers.ts';

export const repository = resolve(import.meta.dirname, '../..');
export const market = join(repository, 'bin/market-mcp.js');

/** A generated project in a temporary directory with the packages of this checkout, and a function that removes it. */
export async function generatedProject(
  flags: Parameters<typeof readCreateFlags>[0],
): Promise<{ directory: string; remove(): void }> {
  const directory = mkdtempSync(join(tmpdir(), 'development-'));
  const given = readCreateFlags({ directory: 'server', ...flags });
  if (!given.ok) throw new Error(JSON.stringify(given.errors));
  const drawn = await planCreation(completeAnswers(given.value), startImport());
  if (!drawn.ok) throw new Error(JSON.stringify(drawn.errors));
  for (const [path, { content }] of drawn.value.files) {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'), 'dir');
  const remove = () => rmSync(directory, { recursive: true, maxRetries: 20, retryDelay: 100 });
  return { directory, remove };
}

/**
 * Waits for the event of a state: the change of the file that publishes it. `.market-mcp/` must exist.
 *
 * @param since the state must have been published after this moment, in milliseconds: a short state may pass unseen
 */
export async function untilState(directory: string, kind: StateKind, since = 0): Promise<void> {
  const ended = new AbortController();
  await new Promise<void>((resolve) => {
    const published = () => statSync(join(directory, '.market-mcp/server.json'), { throwIfNoEntry: false });
    const look = () =>
      publishedState(directory).kind === kind && (published()?.mtimeMs ?? 0) >= since && resolve();
    watch(join(directory, '.market-mcp'), { signal: ended.signal }, look);
    look();
  });
  ended.abort();
}
