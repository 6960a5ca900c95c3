import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { containerOf, type Image } from '../system/containers.ts';
import { type BundledWorker, filesIn, localized, workerCommand } from '../system/worker-bundle.ts';
import type { Command } from './launch.ts';

/** What is deployed, built on this machine: its instances take the place of processes of the built files. */
export interface Deployed {
  /** The command of a new instance, with the recordings of the project, which nothing that is deployed contains. */
  commandOf(project: string, variables: NodeJS.ProcessEnv): Command;
  /** Whether an instance refuses to start, and ends at a signal, as a process does. If not, rules about that are not run. */
  readonly isProcess: boolean;
  /** The error if no instance starts, with its last lines. */
  notStarted(lines: readonly string[]): CommandError;
}

/** Stack traces name source lines, and an explicit exit prints where it was called. */
export const nodeArguments = ['--enable-source-maps', '--trace-exit'];

const recordings = 'test/recordings';

/** Names the file that Node cannot read; Node 24 words it differently for package.json. */
const unreadable = /(?:EACCES: permission denied, \w+ '|Cannot read package config )([^':]+)/;

export function deployedImage(image: Image): Deployed {
  const { engine, tag, workingDirectory: imageDirectory } = image;
  const hint = `Correct the Dockerfile. To look inside: ${engine} run --rm -it --entrypoint sh ${tag}`;
  return {
    commandOf(project, variables) {
      const from = join(project, recordings);
      const mounts = existsSync(from) ? [[`${imageDirectory}/${recordings}`, from] as const] : [];
      const env = { ...variables, NODE_OPTIONS: nodeArguments.join(' ') };
      return {
        ...containerOf(image, Object.keys(env), new Map(mounts)),
        env: { ...process.env, ...env },
        localized: (text) => text.replaceAll(`${imageDirectory}/dist/`, `${project}/dist/`),
      };
    },
    isProcess: true,
    notStarted(lines) {
      const [, path] = unreadable.exec(lines.join('\n')) ?? [];
      if (path === undefined)
        return new CommandError('NOT_STARTED', 'the image does not start', hint, { details: lines });
      const message = `the image does not start: its user, ${image.user || 'root'}, cannot read ${path}`;
      const fix = `Let everyone read it. In the Dockerfile, behind the last RUN of the stage production: RUN chmod -R a+rX .`;
      return new CommandError('NOT_STARTED', message, fix, { details: lines });
    },
  };
}

export function deployedWorker(worker: BundledWorker): Deployed {
  const hint = 'Correct what the lines above name.';
  return {
    commandOf: (project, variables) => ({
      // With package.json, the source kit finds the directory of the project.
      ...workerCommand(worker, variables, project, ['package.json', ...filesIn(project, recordings)]),
      localized: (text) => localized(worker, project, text),
    }),
    isProcess: false,
    notStarted: (lines) =>
      new CommandError('NOT_STARTED', 'the Worker does not start', hint, { details: lines }),
  };
}
