import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';

/** The variables in the project's `.env`. */
export function dotEnv(directory: string): NodeJS.Dict<string> {
  const file = join(directory, '.env');
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    const message = `${file} cannot be read (${code})`;
    throw new CommandError('ENV_UNREADABLE', message, 'Replace it by a readable text file.', {
      cause: error,
    });
  }
}
