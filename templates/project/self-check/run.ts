import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  conclusionOf,
  type PlatformProfile,
  type Report,
  runContract,
  type ToolExample,
  textReport,
  Unreachable,
} from '../contract/index.ts';
import { type Progress, showProgress, writeProgress } from './progress.ts';
import { NotStarted, start } from './start.ts';

/** What a project says of itself. */
export interface Project {
  readonly platform: PlatformProfile;
  readonly tools: readonly { readonly name: string; readonly examples?: readonly ToolExample[] }[];
}

const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notStarted: 3,
  unanswered: 3,
  error: 70,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

const serverEntry = fileURLToPath(new URL('../src/main.js', import.meta.url));

/**
 * Starts the built server with a throwaway key, runs the contract on it and reports. No process outlives this one.
 *
 * @param argv `--json` writes the report as one JSON object to stdout; `--progress` writes one JSON line for each
 *   finished rule ({done, total, id, status}) to stderr.
 * @returns the exit code: 0 passed, 1 a MUST rule failed, 2 unknown option, 3 the server does not start or stops
 *   answering, 70 an error of the check itself.
 */
export async function run(argv: readonly string[], load: () => Promise<Project>): Promise<number> {
  process.once('SIGHUP', () => process.exit(ExitCode.hungUp));
  process.once('SIGINT', () => process.exit(ExitCode.interrupted));
  process.once('SIGTERM', () => process.exit(ExitCode.terminated));
  const options = readOptions(argv);
  if (!options) return ExitCode.usage;
  try {
    const report = await check(load, options.progress ? writeProgress : showProgress);
    console.log(options.json ? JSON.stringify(report) : textReport(report, textOptions()).join('\n'));
    return ExitCode[conclusionOf(report)];
  } catch (error) {
    if (!(error instanceof NotStarted || error instanceof Unreachable)) throw error;
    const { message } = error;
    console.error(options.json ? JSON.stringify({ error: { code: 'NOT_STARTED', message } }) : message);
    return ExitCode.notStarted;
  }
}

function readOptions(argv: readonly string[]): { json: boolean; progress: boolean } | undefined {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ args: [...argv], options: { json: flag, progress: flag } }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\nUsage: npm run self-check -- [--json] [--progress]`);
    return undefined;
  }
}

function textOptions() {
  return { verbose: true, color: process.stdout.isTTY === true && !process.env.NO_COLOR };
}

async function check(load: () => Promise<Project>, onRule: Progress): Promise<Report> {
  if (!existsSync(serverEntry)) {
    throw new NotStarted(`There is no built server (${serverEntry}). Run: npm run build`);
  }
  const { platform, tools } = await loaded(load);
  const { instance, launch, signer } = await start(serverEntry, platform, process.cwd());
  try {
    const examples = new Map(tools.map((tool) => [tool.name, tool.examples ?? []]));
    return await runContract({ url: instance.url, profile: platform, examples, signer, launch }, { onRule });
  } finally {
    await instance.stop();
  }
}

async function loaded(load: () => Promise<Project>): Promise<Project> {
  try {
    return await load();
  } catch (error) {
    throw new NotStarted(`The tools cannot be loaded: ${(error as Error).message}`, { cause: error });
  }
}
