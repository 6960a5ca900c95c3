import '../src/server/environment.ts';
import { platform } from '../src/platform.ts';
import { projectDirectory } from '../src/server/project.ts';
import { variables } from '../src/variables.ts';
import { openLocalPlatform } from './key.ts';

/** The endpoint URL of the server that `npm run dev` runs, as callers and tokens name it. */
export const localUrl = `http://localhost:${process.env.PORT || variables.PORT.default}/mcp`;

/** The local platform of this project; the process ends with 1 where there may be none. */
export const localPlatform = await openLocalPlatform(projectDirectory, platform.token).catch(
  (error: Error) => {
    console.error(error.message);
    process.exit(1);
  },
);
