import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { nameList, replaceFile } from 'market-mcp-contract/command';
import { readIfThere } from '../project/read/resolve-inside.ts';
import { isInRepository } from './clone-problems.ts';

const file = '.env';

/**
 * Writes the values of keys to the project's `.env`, which only this user can read; a value that is there stays. Where git would take
 * the file into a commit, nothing is written.
 *
 * @returns what was done, in one sentence without a value; undefined if there is nothing to write
 */
export async function saveKeys(
  directory: string,
  secrets: ReadonlyMap<string, string>,
): Promise<{ readonly done: boolean; readonly sentence: string } | undefined> {
  if (secrets.size === 0) return undefined;
  const names = [...secrets.keys()];
  const missed = (reason: string) => ({
    done: false,
    sentence: `${nameList(names)} not written to ${file}: ${reason}`,
  });
  if (lstatSync(join(directory, file), { throwIfNoEntry: false })?.isSymbolicLink())
    return missed('it is a link');
  const secrecy = isInRepository(directory)
    ? await (await import('../system/git.ts')).secrecyOf(directory, file)
    : 'none';
  const ignores = String(readIfThere(directory, '.gitignore') ?? '');
  if (secrecy === 'tracked') return missed('git tracks it: run git rm --cached .env');
  if (secrecy === 'open' || (secrecy === 'none' && !/^\/?\.env\s*$/m.test(ignores)))
    return missed('git does not ignore it: add the line .env to .gitignore');
  const before = String(readIfThere(directory, file) ?? '');
  const existingValues = parseEnv(before);
  const lines = [...secrets]
    .filter(([name]) => !existingValues[name])
    .map(([name, value]) => lineOf(name, value));
  const keptNames = names.filter(
    (name) => existingValues[name] !== undefined && existingValues[name] !== secrets.get(name),
  );
  const keptText = keptNames.length > 0 ? `; ${file} keeps its own ${nameList(keptNames)}` : '';
  if (lines.length > 0) {
    const start = before === '' || before.endsWith('\n') ? before : `${before}\n`;
    await replaceFile(join(directory, file), 0o600, (handle) => handle.writeFile(start + lines.join('')));
  }
  const added = names.filter((name) => !existingValues[name]);
  return {
    done: true,
    sentence: `${added.length > 0 ? `${nameList(added)} in ${file}, which only you can read` : `${file} has all keys`}${keptText}`,
  };
}

/** A line that `parseEnv` reads as this value. */
function lineOf(name: string, value: string): string {
  const forms = [value, `'${value}'`, `"${value}"`, `\`${value}\``];
  const form = forms.find((form) => parseEnv(`${name}=${form}\n`)[name] === value);
  return `${name}=${form ?? JSON.stringify(value)}\n`;
}
