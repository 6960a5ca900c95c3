import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { nameList, replaceFile } from 'market-mcp-contract/command';
import { readIfThere } from '../project/read/resolve-inside.ts';
import type { FileGitState } from '../system/git.ts';
import { isInRepository } from './clone-problems.ts';

const environmentPath = '.env';

/**
 * Writes the values of keys to the project's `.env`, which only this user can read. An existing value stays. If git would commit the
 * file, nothing is written.
 *
 * @returns what was done, in one sentence without a value; undefined if there is nothing to write
 */
export async function saveKeys(
  directory: string,
  secrets: ReadonlyMap<string, string>,
): Promise<{ readonly isSaved: boolean; readonly sentence: string } | undefined> {
  if (secrets.size === 0) return undefined;
  const names = [...secrets.keys()];
  const unsavedResult = (reason: string) => ({
    isSaved: false,
    sentence: `${nameList(names)} not written to ${environmentPath}: ${reason}`,
  });
  if (lstatSync(join(directory, environmentPath), { throwIfNoEntry: false })?.isSymbolicLink())
    return unsavedResult('it is a link');
  const gitState = await environmentGitState(directory);
  if (gitState === 'tracked') return unsavedResult('git tracks it: run git rm --cached .env');
  if (gitState === 'committable')
    return unsavedResult('git does not ignore it: add the line .env to .gitignore');
  const previousText = String(readIfThere(directory, environmentPath) ?? '');
  const existingValues = parseEnv(previousText);
  // An empty value comes from a copied .env.example. The key is added below it, and the last line counts.
  const addedNames = names.filter((name) => !existingValues[name]);
  const keptNames = names.filter(
    (name) => existingValues[name] && existingValues[name] !== secrets.get(name),
  );
  const keptText = keptNames.length > 0 ? `; ${environmentPath} keeps its own ${nameList(keptNames)}` : '';
  if (addedNames.length > 0) {
    const lines = addedNames.map((name) => environmentLine(name, secrets.get(name) ?? ''));
    const isLastLineOpen = previousText !== '' && !previousText.endsWith('\n');
    const separator = isLastLineOpen ? '\n' : '';
    await replaceFile(join(directory, environmentPath), 0o600, (handle) =>
      handle.writeFile(previousText + separator + lines.join('')),
    );
  }
  const savedText =
    addedNames.length > 0
      ? `${nameList(addedNames)} in ${environmentPath}, which only you can read`
      : `${environmentPath} has all keys`;
  return { isSaved: true, sentence: `${savedText}${keptText}` };
}

/** What git does with `.env`. Outside of a repository, the project's `.gitignore` decides: `git init` may follow. */
async function environmentGitState(directory: string): Promise<FileGitState> {
  if (isInRepository(directory)) {
    const { fileGitState } = await import('../system/git.ts');
    const state = await fileGitState(directory, environmentPath);
    if (state !== undefined) return state;
  }
  const ignores = String(readIfThere(directory, '.gitignore') ?? '');
  return /^\/?\.env\s*$/m.test(ignores) ? 'ignored' : 'committable';
}

/** A line that `parseEnv` reads as this value. */
function environmentLine(name: string, value: string): string {
  const forms = [value, `'${value}'`, `"${value}"`, `\`${value}\``];
  const form = forms.find((candidate) => parseEnv(`${name}=${candidate}\n`)[name] === value);
  return `${name}=${form ?? JSON.stringify(value)}\n`;
}
