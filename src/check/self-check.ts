import type { Report, RuleResult } from '../contract/model.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { SystemError } from '../system/errors.ts';
import { run } from '../system/processes.ts';

/** How far a self-check has come: a line of JSON that the project's self-check writes to stderr. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly id: string;
  readonly status: RuleResult['status'];
}

const program = 'dist/self-check/main.js';

/**
 * Builds a project.
 *
 * @throws SystemError `BUILD_FAILED` with the compiler's last lines.
 */
export async function build(directory: string, packageManager: PackageManager): Promise<void> {
  const ended = await run(packageManager, ['run', 'build'], { cwd: directory });
  if (ended.exitCode === 0) return;
  const command = `${packageManager} run build`;
  throw new SystemError(
    'BUILD_FAILED',
    `${command} failed`,
    `In ${directory} run: ${command}`,
    ended.lastLines,
  );
}

/**
 * Runs the self-check of a built project: it starts the server, runs the contract on it and stops it.
 *
 * @throws SystemError `NOT_STARTED` with the last lines, where no report came: the server did not start or answer.
 */
export async function selfCheck(
  directory: string,
  onProgress: (progress: Progress) => void,
): Promise<Report> {
  const ended = await run(process.execPath, [program, '--json', '--progress'], {
    cwd: directory,
    isNoise: (line) => progressOf(line) !== undefined,
    onLine: (line, stream) => {
      const progress = stream === 'stderr' ? progressOf(line) : undefined;
      if (progress) onProgress(progress);
    },
  });
  const report = reportOf(ended.stdout);
  if (report) return report;
  const hint = `In ${directory} run: node ${program}`;
  throw new SystemError(
    'NOT_STARTED',
    'the server did not start or answer',
    hint,
    ended.lastLines.flatMap(inWords),
  );
}

function progressOf(line: string): Progress | undefined {
  const value = parsed(line);
  return isRecord(value) && typeof value.done === 'number' && typeof value.total === 'number'
    ? (value as unknown as Progress)
    : undefined;
}

/** A failure comes as one line of JSON; what it says in words is in its message. */
function inWords(line: string): readonly string[] {
  const value = parsed(line);
  const message = isRecord(value) && isRecord(value.error) ? value.error.message : undefined;
  return typeof message === 'string' ? message.split('\n') : [line];
}

function reportOf(text: string): Report | undefined {
  const value = parsed(text);
  return isRecord(value) && Array.isArray(value.rules) ? (value as unknown as Report) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
