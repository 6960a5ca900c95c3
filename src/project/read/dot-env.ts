import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CommandError, isSecretValue } from 'market-mcp-contract/command';

/** The variables in the project's `.env`; none if there is no such file. */
export function readDotEnv(directory: string): NodeJS.Dict<string> {
  return parseEnv(textOf(join(directory, '.env')));
}

/** The variables in the project's `.env`; undefined if there is no such file. */
export function existingDotEnv(directory: string): NodeJS.Dict<string> | undefined {
  if (!existsSync(join(directory, '.env'))) return undefined;
  return readDotEnv(directory);
}

/** The secrets in the project's `.env` by their names, without the values that everybody reads in `.env.example`. */
export function dotEnvSecrets(directory: string): ReadonlyMap<string, string> {
  const example = textOf(join(directory, '.env.example'));
  const secrets = Object.entries(readDotEnv(directory))
    .filter(([name, value = '']) => isSecretValue(name, value) && !example.includes(value))
    .map(([name, value = '']) => [name, value] as const);
  return new Map(secrets);
}

/** The text of a file; empty if it does not exist. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    const message = `${file} cannot be read (${code})`;
    throw new CommandError('ENV_UNREADABLE', message, 'Replace it by a readable text file.', {
      cause: error,
    });
  }
}
