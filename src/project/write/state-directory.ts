import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { notWritable, replaceAtPath, replaceFile } from 'market-mcp-contract/command';
import { sealOf } from '../read/read-files.ts';
import { refuseObstacles } from '../read/resolve-inside.ts';

/** The directory of a project with what belongs to this machine: the state of the marketplace and of the server. */
export const stateDirectory = '.market-mcp';

/** @throws CommandError `LINK_IN_THE_WAY`, `NOT_A_DIRECTORY`: a clone may contain what leads out of it. */
export function refuseLinkedState(directory: string): void {
  refuseObstacles(directory, [`${stateDirectory}/.gitignore`]);
}

/** Creates the directory, which git ignores. @throws CommandError like `refuseLinkedState`, or `NOT_WRITABLE`. */
export async function makeStateDirectory(directory: string): Promise<void> {
  refuseLinkedState(directory);
  const place = join(directory, stateDirectory);
  await mkdir(place, { recursive: true, mode: 0o700 }).catch((error) => {
    throw notWritable(place, error);
  });
  await replaceAtPath(join(place, '.gitignore'), '*\n');
}

/**
 * Writes a value as JSON to a file that only this user can read, atomically. The file contains a hash of its own inode and
 * birth time: `readSealed` (read.ts) believes no file that came with a clone or an archive.
 *
 * @throws CommandError `NOT_WRITABLE`.
 */
export async function saveSealed(path: string, value: object): Promise<void> {
  await replaceFile(path, 0o600, async (file) => {
    const seal = sealOf(await file.stat({ bigint: true }));
    await file.writeFile(JSON.stringify({ ...value, seal }));
  });
}
