import type { Result } from '../spec/model.ts';
import { type CreateParts, type CreateSwitches, createQuestions, createSwitches } from './create.ts';
import type { PackageManager } from './package-managers.ts';
import { shellLine } from './shell.ts';
import {
  type Flags,
  neededParts,
  readFlags,
  replayTools,
  type ToolAnswers,
  toolAnswers,
} from './tool-answers.ts';

/** What `create-market-mcp` knows once all questions are answered. */
export interface CreateAnswers {
  readonly directory: string;
  readonly source: ToolAnswers;
  readonly platform: string;
  /** Null: the one that runs the command. */
  readonly packageManager: PackageManager | null;
}

/** What commander makes of the flags. */
export type CreateFlags = Flags<CreateParts>;

/** Reads what the flags say: the answers they give, or every fault at once. */
export function readCreateFlags(flags: CreateFlags): Result<Partial<CreateParts>> {
  return readFlags<CreateParts>(createQuestions, flags);
}

/** The flags that must be given where nothing may be asked and no default is taken. */
export function missingFlags(given: Partial<CreateParts>): readonly string[] {
  return (['directory', ...neededParts(given)] as const)
    .filter((name) => given[name] === undefined)
    .map((name) => createQuestions[name].flag.syntax);
}

/** All answers, with the default wherever none is given. */
export function completeAnswers(given: Partial<CreateParts>): CreateAnswers {
  const { directory, tool, platform } = createQuestions;
  const parts = { directory: directory.initial(given), ...given };
  return {
    directory: parts.directory,
    source: toolAnswers({ tool: tool.initial(parts), ...given }),
    platform: given.platform ?? platform.initial(given),
    packageManager: given.packageManager ?? null,
  };
}

/** The command that gives these very answers and asks nothing, quoted for a POSIX shell. */
export function replayCommand(
  { directory, source, platform, packageManager }: CreateAnswers,
  switches: Partial<CreateSwitches> = {},
  program = 'create-market-mcp',
): string {
  const off = (['install', 'git', 'check'] as const).filter((name) => switches[name] === false);
  const pieces = [
    ...createQuestions.directory.replay(directory),
    '--yes',
    ...replayTools(source),
    ...createQuestions.platform.replay(platform),
    ...createQuestions.packageManager.replay(packageManager),
    ...off.map((name) => createSwitches[name].syntax),
    ...(switches.force ? [createSwitches.force.syntax] : []),
  ];
  return `${program} ${shellLine(pieces)}`;
}
