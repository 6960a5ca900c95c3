import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

export const benchDirectory = join(import.meta.dirname, '..');
export const repository = join(benchDirectory, '..');

/** A directory for all output of a run; removed when the process ends. */
export const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

let count = 0;

/** @returns an unused path in the scratch directory */
export function freshPath(name = 'place') {
  count += 1;
  return join(scratch, `${name}-${count}`);
}
