import { type Result, replayFlags, shellLine } from 'market-mcp-contract/command';
import { type CreateParts, type CreateSwitches, createQuestions, createSwitches } from './create.ts';
import type { PackageManager } from './package-managers.ts';
import { type Flags, readFlags } from './read-flags.ts';
import type { DeployTarget } from './targets.ts';
import { givenFlags, replayTools, requiredParts, type ToolAnswers, toolAnswers } from './tool-answers.ts';

/** The answers to all questions of `create-market-mcp`. */
export interface CreateAnswers {
  readonly directory: string;
  readonly wanted: ToolAnswers;
  readonly platform: string;
  /** Null: the package manager that runs the command. */
  readonly packageManager: PackageManager | null;
  /** Besides the standard targets. */
  readonly deploy: readonly DeployTarget[];
}

/** The flags as commander returns them. */
export type CreateFlags = Flags<CreateParts>;

/** Reads the flags: their answers, or every error at once. */
export function readCreateFlags(flags: CreateFlags): Result<Partial<CreateParts>> {
  return readFlags<CreateParts>(createQuestions, flags);
}

/** The flags that are required if no questions may be asked and defaults are not accepted. */
export function missingFlags(given: Partial<CreateParts>): readonly string[] {
  return (['directory', ...requiredParts(given)] as const)
    .filter((name) => given[name] === undefined)
    .map((name) => createQuestions[name].flag.syntax);
}

/** All answers, with defaults for missing ones. */
export function completeAnswers(given: Partial<CreateParts>): CreateAnswers {
  const { directory, tool, platform } = createQuestions;
  const parts = { directory: directory.initial(given), ...given };
  return {
    directory: parts.directory,
    wanted: toolAnswers(
      (given.fromOpenapi ?? given.fromRequest) === undefined
        ? { tool: tool.initial(parts), ...given }
        : { ...given, directory: parts.directory },
    ),
    platform: given.platform ?? platform.initial(given),
    packageManager: given.packageManager ?? null,
    deploy: given.deploy ?? [],
  };
}

/** The command that gives the same answers without questions, quoted for the shell. */
export function replayCommand(
  { directory, wanted, platform, packageManager, deploy }: CreateAnswers,
  switches: Partial<CreateSwitches> = {},
  program: readonly string[] = ['create-market-mcp'],
): string {
  return shellLine([
    ...program,
    ...createQuestions.directory.replay(directory),
    '--yes',
    ...replayTools(wanted),
    ...createQuestions.platform.replay(platform),
    ...createQuestions.packageManager.replay(packageManager),
    ...createQuestions.deploy.replay(deploy),
    ...replayFlags(createSwitches, switches, repeatedSwitches),
  ]);
}

/** The command that continues with the given answers and asks for the others, quoted for the shell. */
export function resumeCommand(
  given: Partial<CreateParts>,
  switches: Partial<CreateSwitches>,
  program: readonly string[],
): string {
  return shellLine([
    ...program,
    ...givenFlags<CreateParts>(createQuestions, given),
    ...replayFlags(createSwitches, switches, repeatedSwitches),
  ]);
}

/** Without those that affect how this run prints, not what it creates. */
const repeatedSwitches = ['install', 'git', 'check', 'force', 'overwrite'] as const;
