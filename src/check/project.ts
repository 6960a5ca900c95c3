import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolExample } from '../contract/model.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { Target } from '../contract/target.ts';
import { toolMethods, toolSources } from '../project/open.ts';
import { runtimeOf } from '../project/runtime.ts';
import { childEnded, childStarting } from '../system/children.ts';
import { SystemError } from '../system/errors.ts';
import { run } from '../system/processes.ts';
import type { ProjectCode } from './located.ts';
import type { SourceAnswer } from './logged.ts';
import { NotStarted, type Sources, start } from './start.ts';

/** A server to check, and how to release it. */
export interface HeldServer {
  readonly target: Target;
  /** Its code, if it is the server of a project. */
  readonly own?: ProjectCode;
  /** The answers of its tools so far, with their sources; only for a project's server. */
  answers?(): readonly SourceAnswer[];
  release(): Promise<void>;
}

/**
 * Starts the server of a built project on a free port, with a temporary platform key.
 *
 * @param platform the platform to use instead of the project's own.
 * @param sources recordings by default.
 * @throws SystemError `NOT_STARTED` with the last lines of the server.
 */
export async function holdProject(
  directory: string,
  platform?: PlatformProfile,
  sources?: Sources,
): Promise<HeldServer> {
  const entry = join(directory, 'dist/src/main.js');
  if (!existsSync(entry)) {
    throw new SystemError(
      'NOT_STARTED',
      `the project is not built: ${entry} is missing`,
      buildHint(directory),
    );
  }
  const facts = await factsOf(directory);
  const profile = platform ?? facts.platform;
  const kept = sources === 'live' ? mkdtempSync(join(tmpdir(), 'market-mcp-answers-')) : undefined;
  const forget = () => (kept === undefined ? undefined : rmSync(kept, { recursive: true, force: true }));
  childStarting(); // a signal must shut this process down gracefully, and with it all that the launcher has started
  try {
    const { instance, launch, signer, owned, answers } = await start(entry, profile, directory, {
      ...(sources && { sources }),
      ...(kept !== undefined && { kept }),
    });
    const examples = new Map(facts.tools.map(({ name, examples = [] }) => [name, examples]));
    const runtime = runtimeOf(directory);
    return {
      target: {
        url: instance.url,
        profile,
        examples,
        methods: toolMethods(directory),
        signer,
        launch,
        owned,
        ...(runtime && { runtime }),
      },
      answers,
      own: { directory, sources: toolSources(directory), incidents: owned.incidents },
      release: async () => {
        await owned.instance().stop();
        forget();
        await childEnded(undefined);
      },
    };
  } catch (error) {
    forget();
    await childEnded(undefined);
    if (!(error instanceof NotStarted)) throw error;
    throw notStarted(directory, error.message.split('\n'));
  }
}

/** What the compiled code of a project declares. */
export interface Facts {
  readonly platform: PlatformProfile;
  readonly tools: readonly { readonly name: string; readonly examples?: readonly ToolExample[] }[];
}

/**
 * What a built project declares. It is read in a separate process: the author's code is not loaded into this one.
 *
 * @throws SystemError `NOT_STARTED` with the last lines, if the tools cannot be loaded.
 */
export async function factsOf(directory: string): Promise<Facts> {
  const { exitCode, stdout, lastLines } = await run(process.execPath, ['--input-type=module', '-e', tell], {
    cwd: directory,
  });
  const told = stdout.slice(stdout.lastIndexOf(mark) + mark.length);
  if (exitCode === 0 && stdout.includes(mark)) return JSON.parse(told);
  throw notStarted(directory, lastLines);
}

/** Separates our output from that of the tools while they are loaded. */
const mark = '\u0000facts\u0000';
const tell = `
const [{ platform }, { tools }] = await Promise.all([
  import(${JSON.stringify('./dist/src/platform.js')}),
  import(${JSON.stringify('./dist/src/tools/index.js')}),
]);
const facts = { platform, tools: tools.map(({ name, examples }) => ({ name, examples })) };
process.stdout.write(${JSON.stringify(mark)} + JSON.stringify(facts), () => process.exit(0));`;

function buildHint(directory: string): string {
  return `In ${directory} run: npm run build`;
}

function notStarted(directory: string, lines: readonly string[]): SystemError {
  const hint = `In ${directory} run: npm run dev`;
  return new SystemError('NOT_STARTED', 'the server does not start', hint, lines);
}
