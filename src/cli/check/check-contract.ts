import { resolve } from 'node:path';
import {
  canAsk,
  type ExitCode,
  flagName,
  type InputError,
  inputError,
  nameList,
  type Output,
  requireNone,
  toCommandError,
  unwrap,
  withProgress,
} from 'market-mcp-contract/command';
import { type PlatformProfile, resolvePlatform } from 'market-mcp-contract/platforms';
import {
  type CheckFrontend,
  checkUrl,
  type OpenedServer,
  openAndCheck,
  rerunCommand,
  targetCheckOptions,
} from 'market-mcp-contract/program';
import { planFingerprintRemoval } from '../../changes/plan-tool-list.ts';
import { buildProject } from '../../check/build-project.ts';
import { openForCheck, type ServerToCheck } from '../../check/check-project.ts';
import { type Deployed, deployedImage, deployedWorker } from '../../check/deployed.ts';
import { listingAt, listingPath, previousListing } from '../../check/previous-listing.ts';
import { changesOf } from '../../dev/watch.ts';
import { projectName, suggestProjectName } from '../../model/names.ts';
import { findProject, readManifest } from '../../project/manifest/manifest.ts';
import { changeProject } from '../../project/write/change.ts';
import {
  additions,
  type DeployTarget,
  dockerfileOf,
  filesOf,
  standardTargets,
} from '../../questions/targets.ts';
import { explainCommand, marketCommand } from '../../system/command-line.ts';
import { buildImage, findEngine } from '../../system/containers.ts';
import { bundleWorker } from '../../system/worker-bundle.ts';
import { askPerson } from '../ask-person.ts';
import { type CheckFlags, checkFlags } from '../command-flags.ts';
import { answerLines, realLines, replayLines, unrecordedLines } from './check-lines.ts';
import { localKeyFor } from './local-key.ts';

/**
 * Runs the contract on the server at a URL.
 *
 * @returns 1 if a rule that counts failed, 3 if a MUST could not be checked because the server did not answer.
 */
export async function checkServer(url: string, output: Output, flags: CheckFlags): Promise<ExitCode> {
  requireUrlFlags(flags);
  const local = await localKeyFor(url, flags, process.cwd());
  if (local) output.comment(local.lines);
  const signing = { ...flags, ...local?.flags };
  return checkUrl(url, output, signing, frontendFor(url, signing));
}

/**
 * Runs the contract on the server of a project.
 *
 * @param target directory; undefined for the project in the current one
 * @returns as `checkServer`
 */
export async function checkProject(
  target: string | undefined,
  output: Output,
  flags: CheckFlags,
): Promise<ExitCode> {
  const frontend = frontendFor(target, flags);
  const { directory, platform } = await projectAt(target, flags);
  const { against } = flags;
  const earlier = await (against === undefined ? previousListing(directory) : listingAt(against));
  const options = await targetCheckOptions({ ...flags, against: undefined }, earlier);
  const openServer = async () => {
    const server = await prepareServer(directory, platform, flags, output);
    const notes: OpenedServer['notes'] = (calls) => [
      ...answerLines(server.answers?.() ?? []),
      ...realLines(server.real),
      ...unrecordedLines(server.unrecorded?.() ?? []),
      ...replayLines(calls),
    ];
    return { ...server, needsPermission: false, notes };
  };
  const checkOnce = async () => {
    const exitCode = await openAndCheck(openServer, options, output, flags, frontend, listingPath(directory));
    if (flags.saveListing === true && readManifest(directory).listed !== undefined)
      await changeProject(directory, async () => planFingerprintRemoval(readManifest(directory)));
    return exitCode;
  };
  if (flags.watch) return repeat(directory, output, checkOnce);
  return checkOnce();
}

function frontendFor(target: string | undefined, flags: CheckFlags): CheckFrontend {
  const line = (...args: readonly string[]) => marketCommand('check', ...args);
  return {
    explainCommand,
    rerunCommand: (rules) => rerunCommand(line, target, flags, rules),
    choose: canAsk() ? choose : undefined,
  };
}

/** Asks a person which further tools may be called. */
const choose: CheckFrontend['choose'] = (withheld) => {
  const question =
    'Call any of these tools, too? Each call really runs the tool. (Space selects, Enter continues)';
  const choices = withheld.map(({ tool, because }) => ({ value: tool, label: tool, hint: because }));
  return askPerson((asker) => asker.chooseAny(question, choices));
};

/** Runs a check, then repeats it after each change of the project's sources or `.env`, until the process is ended. */
async function repeat(directory: string, output: Output, check: () => Promise<ExitCode>): Promise<ExitCode> {
  const changes = changesOf(directory, new AbortController().signal);
  for (;;) {
    const change = changes.next(); // also notices changes during a check
    let exitCode: ExitCode;
    try {
      exitCode = await check();
    } catch (error) {
      const problem = toCommandError(error);
      output.error(problem);
      exitCode = problem.exitCode;
    }
    output.line(output.style('dim', 'Waiting for changes in src or .env (press Ctrl-C to stop)'));
    const { done: hasEnded } = await change;
    if (hasEnded) return exitCode;
  }
}

/**
 * The project of a directory, by default the working directory, and the platform that a flag names.
 *
 * @throws CommandError `INVALID_INPUT` for the flags that describe a URL, or if there is no project.
 */
async function projectAt(target: string | undefined, flags: CheckFlags) {
  const platform = flags.platform === undefined ? undefined : unwrap(await resolvePlatform(flags.platform));
  requireNone([
    ...unsuitableFlagErrors('a URL', ['token', 'signingKey', 'issuer', 'audience', 'header'], flags),
    ...(flags.call.length > 0 ? callErrors(flags) : []),
  ]);
  requireNone(deployErrors(flags));
  const directory = findProject(resolve(target ?? '.'));
  if (flags.deploy !== undefined) requireTarget(directory, flags.deploy);
  return { directory, platform };
}

/** @throws CommandError `INVALID_INPUT` for the flags that only a project has. */
function requireUrlFlags(flags: CheckFlags): void {
  const hint = 'Remove it, or name a directory to check.';
  requireNone([
    ...unsuitableFlagErrors('a directory', ['watch', 'deploy'], flags),
    ...(flags.build
      ? []
      : [inputError('--no-build', undefined, 'works only with the directory of a project', hint)]),
  ]);
}

/** @throws CommandError `INVALID_INPUT` if a project has no files for a target. */
function requireTarget(directory: string, target: DeployTarget): void {
  if (standardTargets.includes(target) || readManifest(directory).answers.targets?.includes(target)) return;
  const hint = `Add its files first: ${marketCommand('deploy', 'add', target)}`;
  requireNone([inputError('--deploy', target, 'is not a target of this project', hint)]);
}

function callErrors({ live, watch }: CheckFlags): readonly InputError[] {
  const refusal = (problem: string, hint: string) => [inputError('--call', undefined, problem, hint)];
  if (!live) {
    const hint = 'Add --live, which calls each example of the named tools once, for real; or remove --call.';
    return refusal('works only with a URL or with --live', hint);
  }
  if (!watch) return [];
  return refusal('cannot be combined with --watch', 'Remove one: each change would call the tools for real.');
}

/** An image contains no sources that change, no recordings and no secrets. */
function deployErrors({ deploy, live, watch }: CheckFlags): readonly InputError[] {
  if (deploy === undefined) return [];
  const reason = additions[deploy];
  if (reason !== undefined) {
    const hint = `Name the target that you deploy to: ${marketCommand('check', '--deploy', 'docker')}`;
    return [inputError('--deploy', deploy, reason, hint)];
  }
  return Object.entries({ '--live': live, '--watch': watch })
    .filter(([, isGiven]) => isGiven)
    .map(([flag]) => inputError('--deploy', deploy, `cannot be combined with ${flag}`, `Remove ${flag}.`));
}

/** Prepares the server of a project for one run. */
async function prepareServer(
  directory: string,
  platform: PlatformProfile | undefined,
  { build: isWanted, live, call, deploy }: CheckFlags,
  output: Output,
): Promise<ServerToCheck> {
  if (isWanted) await withProgress(output.progress('building'), () => buildProject(directory));
  const deployed = deploy === undefined ? undefined : await deployedTo(deploy, directory, output);
  const options = { platform, sources: live ? ('live' as const) : undefined, call, deployed };
  return withProgress(output.progress('starting'), () => openForCheck(directory, options));
}

/** What is deployed to a target, built with the programs of this machine. */
function deployedTo(target: DeployTarget, directory: string, output: Output): Promise<Deployed> {
  if (target === 'workers') return bundleForCheck(directory, output);
  return imageOf(directory, target, output);
}

async function bundleForCheck(directory: string, output: Output): Promise<Deployed> {
  const worker = await withProgress(output.progress('bundling the Worker'), () => bundleWorker(directory));
  const missing = worker.missing.length > 0 ? [`Without its bindings ${worker.missing.join(', ')}.`] : [];
  output.comment(['wrangler bundled the Worker. It runs in workerd, the runtime of Cloudflare.', ...missing]);
  return deployedWorker(worker);
}

/** The image of a project. It stays on this machine, to be run or pushed. */
async function imageOf(directory: string, target: DeployTarget, output: Output): Promise<Deployed> {
  const engine = await findEngine();
  const dockerfile = dockerfileOf(target);
  const tag = `${suggestProjectName(projectName(directory))}:checked`;
  const image = await withProgress(output.progress(`building the image with ${engine}`), (update) =>
    buildImage(engine, directory, dockerfile, tag, update),
  );
  const rest = standardTargets.includes(target)
    ? []
    : filesOf([target]).filter((file) => file !== dockerfile);
  output.comment([
    `${engine} built the image ${tag}.`,
    ...(rest.length > 0 ? [`Not run: ${nameList(rest)}. The rules judge the image that they deploy.`] : []),
  ]);
  return deployedImage(image);
}

function unsuitableFlagErrors(
  problem: string,
  names: readonly (keyof CheckFlags)[],
  flags: CheckFlags,
): readonly InputError[] {
  return names
    .filter((name) => flags[name] !== undefined && [flags[name]].flat().length > 0)
    .map((name) => {
      const hint = `Remove it, or name ${problem} to check.`;
      return inputError(flagName(checkFlags[name]), undefined, `works only with ${problem}`, hint);
    });
}
