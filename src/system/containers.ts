import { spawnSync } from 'node:child_process';
import { CommandError } from 'market-mcp-contract/command';
import { runProgram } from './processes.ts';

/** The programs that build and run images, in the order of preference. Their command lines are the same for all that is used here. */
const engines = ['docker', 'podman'] as const;

export type Engine = (typeof engines)[number];

/** An image on this machine. */
export interface Image {
  readonly engine: Engine;
  readonly tag: string;
  /** The working directory of its process. */
  readonly workingDirectory: string;
  /** The user of its process, as the Dockerfile names it; empty for root. */
  readonly user: string;
}

/**
 * The first container engine that answers. A program without its service does not count.
 *
 * @throws CommandError `NO_ENGINE`
 */
export async function findEngine(): Promise<Engine> {
  const messages: string[] = [];
  for (const engine of engines) {
    const { exitCode, missing, lastLines } = await runProgram(engine, ['info'], { cwd: '.' });
    if (exitCode === 0) return engine;
    messages.push(missing ? `${engine} is not installed` : `${engine} info: ${lastLines.at(-1) ?? 'failed'}`);
  }
  const hint = 'Install Docker or Podman, start it, and run the same command again.';
  throw new CommandError('NO_ENGINE', 'no container engine answers', hint, { details: messages });
}

/**
 * Builds the image of a directory, on the network of this machine.
 *
 * @param file its Dockerfile
 * @param onProgress called with each step
 * @throws CommandError `IMAGE_NOT_BUILT` with the last lines
 */
export async function buildImage(
  engine: Engine,
  directory: string,
  file: string,
  tag: string,
  onProgress: (text: string) => void,
): Promise<Image> {
  // Podman 4.3 panics after a failed step.
  let hasPanicked = false;
  const args = ['build', '--network', 'host', '--file', file, '--tag', tag, '.'];
  const { exitCode, lastLines } = await runProgram(engine, args, {
    cwd: directory,
    isNoise(line) {
      hasPanicked ||= line.startsWith('panic: ');
      return hasPanicked;
    },
    onLine: (line) => {
      if (/\bSTEP\b|^#\d+ \[/i.test(line)) onProgress(line);
    },
  });
  if (exitCode !== 0) {
    const hint = `Correct ${file} or what it runs. In ${directory}: ${engine} build --file ${file} .`;
    throw new CommandError('IMAGE_NOT_BUILT', `${engine} could not build the image`, hint, {
      details: lastLines,
    });
  }
  const format = ['image', 'inspect', '--format', '{{.Config.WorkingDir}}\n{{.Config.User}}', tag];
  const { stdout } = await runProgram(engine, format, { cwd: directory });
  const [workingDirectory = '', user = ''] = stdout.split('\n').map((line) => line.trim());
  return { engine, tag, workingDirectory, user };
}

let containers = 0;

/** A container to start: the program that runs it in the foreground, and how to remove it by force. */
export interface ContainerCommand {
  readonly file: string;
  readonly args: readonly string[];
  kill(): void;
}

/**
 * The command of a new container of an image: read-only but for `/tmp`, on the network of this machine.
 *
 * @param variables names; their values come from the environment of the command
 * @param mounts directories of this machine by their places in the container, read-only
 */
export function containerOf(
  { engine, tag }: Image,
  variables: readonly string[],
  mounts: ReadonlyMap<string, string>,
): ContainerCommand {
  const name = `market-mcp-check-${process.pid}-${++containers}`;
  const args = [
    ...['run', '--rm', '--name', name, '--network', 'host', '--read-only', '--tmpfs', '/tmp'],
    // The image's own check of its health would only add requests.
    '--no-healthcheck',
    // Without relabelling files of this machine.
    ...['--security-opt', 'label=disable'],
    ...[...mounts].flatMap(([to, from]) => ['--volume', `${from}:${to}:ro`]),
    ...variables.flatMap((variable) => ['--env', variable]),
    tag,
  ];
  return {
    file: engine,
    args,
    kill: () => spawnSync(engine, ['rm', '--force', name], { stdio: 'ignore' }),
  };
}
