import { fault, listed, pass, refuse, together } from '../spec/fault.ts';
import type { Result, ToolSpec } from '../spec/model.ts';
import { type CreateParts, type CreateSwitches, createQuestions, createSwitches } from './create.ts';
import type { PackageManager } from './package-managers.ts';
import { shellLine } from './shell.ts';

const { directory, tool, description, input, output, returns, spec, platform, packageManager } =
  createQuestions;

/** What `create-market-mcp` knows once all questions are answered. */
export interface CreateAnswers {
  readonly directory: string;
  readonly source:
    | { readonly kind: 'tool'; readonly tool: ToolSpec }
    | { readonly kind: 'file'; readonly path: string };
  readonly platform: string;
  /** Null: the one that runs the command. */
  readonly packageManager: PackageManager | null;
}

/** What commander makes of the flags. */
export type CreateFlags = {
  readonly [name in keyof CreateParts]?: name extends 'input' | 'output' ? readonly string[] : string;
};

/** Reads what the flags say: the answers they give, or every fault at once. */
export function readCreateFlags(flags: CreateFlags): Result<Partial<CreateParts>> {
  const described = (['tool', 'description', 'input', 'output', 'returns'] as const).filter(
    (name) => flags[name] !== undefined,
  );
  const clash =
    flags.spec !== undefined && described.length > 0
      ? [fault('--spec', flags.spec, `says what --${listed(described)} says too`, 'Give one or the other.')]
      : [];
  const parts = together<Partial<CreateParts>>([
    partOf('directory', directory, flags.directory),
    partOf('tool', tool, flags.tool),
    partOf('description', description, flags.description),
    partOf('input', input, flags.input),
    partOf('output', output, flags.output),
    partOf('returns', returns, flags.returns),
    partOf('spec', spec, flags.spec),
    partOf('platform', platform, flags.platform),
    partOf('packageManager', packageManager, flags.packageManager),
  ]);
  if (!parts.ok) return refuse(...clash, ...parts.faults);
  return clash.length > 0 ? refuse(...clash) : pass(Object.assign({}, ...parts.value));
}

/** The flags that must be given where nothing may be asked and no default is taken. */
export function missingFlags(given: Partial<CreateParts>): readonly string[] {
  const needed =
    given.spec === undefined
      ? (['directory', 'tool', 'description', 'output'] as const)
      : (['directory'] as const);
  return needed.filter((name) => given[name] === undefined).map((name) => createQuestions[name].flag.syntax);
}

/** All answers, with the default wherever none is given. */
export function completeAnswers(given: Partial<CreateParts>): CreateAnswers {
  const parts = { directory: directory.initial(given), ...given };
  return {
    directory: parts.directory,
    source:
      given.spec === undefined ? { kind: 'tool', tool: toolOf(parts) } : { kind: 'file', path: given.spec },
    platform: given.platform ?? platform.initial(given),
    packageManager: given.packageManager ?? null,
  };
}

/** The tool that the answers describe, with the default wherever none is given. */
export function toolOf(given: Partial<CreateParts>): ToolSpec {
  const shape = { input: given.input ?? input.initial(given), output: given.output ?? output.initial(given) };
  const name = given.tool ?? tool.initial(given);
  return {
    name,
    description: given.description ?? description.initial({ ...given, tool: name }),
    ...shape,
    returns: given.returns ?? returns.initial(given),
  };
}

/** The command that gives these very answers and asks nothing, quoted for a POSIX shell. */
export function replayCommand(
  { directory: path, source, platform: profile, packageManager: manager }: CreateAnswers,
  switches: Partial<CreateSwitches> = {},
  program = 'create-market-mcp',
): string {
  const off = (['install', 'git', 'check'] as const).filter((name) => switches[name] === false);
  const pieces = [
    ...directory.replay(path),
    '--yes',
    ...(source.kind === 'file' ? spec.replay(source.path) : replayTool(source.tool)),
    ...platform.replay(profile),
    ...packageManager.replay(manager),
    ...off.map((name) => createSwitches[name].syntax),
    ...(switches.force ? [createSwitches.force.syntax] : []),
  ];
  return `${program} ${shellLine(pieces)}`;
}

function replayTool(spec: ToolSpec): readonly string[] {
  return [
    ...tool.replay(spec.name),
    ...description.replay(spec.description),
    ...input.replay(spec.input),
    ...output.replay(spec.output),
    ...returns.replay(spec.returns),
  ];
}

function partOf<Name extends keyof CreateParts, Given>(
  name: Name,
  { parse }: { parse(given: Given): Result<CreateParts[Name] | null> },
  given: Given | undefined,
): Result<Partial<CreateParts>> {
  if (given === undefined) return pass({});
  const result = parse(given);
  return result.ok ? pass({ [name]: result.value }) : result;
}
