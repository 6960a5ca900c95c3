import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { ProjectError } from '../errors.ts';
import { readRegular } from '../read/read.ts';

/**
 * A seal that this user's programs on this machine alone can make: an HMAC with a secret outside of every project. What a clone or
 * an archive brings has none.
 *
 * @param directory the project in which the text is kept
 * @throws ProjectError `NO_STATE_DIRECTORY` if the secret cannot be kept
 */
export function sealOf(directory: string, text: string): string {
  const place = stateDirectory();
  if (!isOutside(directory, place)) throw unusable(`${place} is in the project`);
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const secret = randomBytes(32).toString('hex');
    writeFileSync(join(place, secretFile), secret, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw unusable(`cannot write to ${place} (${code})`);
  }
  const seal = existingSeal(directory, text);
  if (seal !== undefined) return seal;
  throw unusable(`${join(place, secretFile)} is damaged, or a link into the project leads there`);
}

/** Whether a text has the seal of this machine. Writes nothing. */
export function isSealed(directory: string, text: string, seal: unknown): boolean {
  return seal !== undefined && existingSeal(directory, text) === seal;
}

const secretFile = 'secret';

/** Undefined without a secret, and if the project could have brought it. */
function existingSeal(directory: string, text: string): string | undefined {
  try {
    const place = realpathSync(stateDirectory());
    const secret = readRegular(join(place, secretFile)).toString('utf8');
    const isOurs = isOutside(realpathSync(directory), place) && /^[0-9a-f]{64}$/.test(secret);
    return isOurs ? createHmac('sha256', secret).update(text).digest('hex') : undefined;
  } catch {
    return undefined;
  }
}

function isOutside(directory: string, place: string): boolean {
  const way = relative(directory, place);
  return isAbsolute(way) || way.startsWith('..');
}

/** Of this user, by the XDG base directory specification; on Windows in the local application data. */
function stateDirectory(): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const base = [XDG_STATE_HOME, LOCALAPPDATA].find((path) => path !== undefined && isAbsolute(path));
  return join(base ?? join(homedir(), '.local/state'), 'create-market-mcp');
}

function unusable(message: string): ProjectError {
  const hint =
    'Nothing was changed. Set XDG_STATE_HOME to a directory outside of the project that you can write.';
  return new ProjectError('NO_STATE_DIRECTORY', message, hint);
}
