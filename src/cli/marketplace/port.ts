import { pass, reject } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';

/** The value of `--port`; 0 means any free port. */
export function portIn(text: string | undefined): Result<number | undefined> {
  if (text === undefined) return pass(undefined);
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535
    ? pass(port)
    : reject('--port', text, 'is not a port from 0 to 65535', 'Write --port 4400.');
}
