import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { notWritable, saveText } from 'market-mcp-contract/command';
import { refuseObstacles } from '../read/inside.ts';

/** The directory of a project with what belongs to this machine: the state of the marketplace and of the server. */
export const stateDirectory = '.market-mcp';

/** @throws ProjectError `LINK_IN_THE_WAY`, `NOT_A_DIRECTORY`: a clone may contain what leads out of it. */
export function refuseLinkedState(directory: string): void {
  refuseObstacles(directory, [`${stateDirectory}/.gitignore`]);
}

/** Creates the directory, which git ignores. @throws ProjectError like `refuseLinkedState`, or `NOT_WRITABLE`. */
export async function makeStateDirectory(directory: string): Promise<void> {
  refuseLinkedState(directory);
  const place = join(directory, stateDirectory);
  await mkdir(place, { recursive: true, mode: 0o700 }).catch((error) => {
    throw notWritable(place, error);
  });
  await saveText(join(place, '.gitignore'), '*\n');
}
