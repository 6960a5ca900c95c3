import { resolve } from 'node:path';
import {
  CommandError,
  type ExitCode,
  exitCodes,
  nameList,
  type Output,
  singleLine,
} from 'market-mcp-contract/command';
import { cloneProblems } from '../../changes/clone.ts';
import type { Creation } from '../../changes/creation.ts';
import type { ProjectContext } from '../../changes/target.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import type { Manifest } from '../../project/manifest/manifest.ts';
import { ownCommand } from '../../project/package/own-package.ts';
import type { CreateSwitches } from '../../questions/create.ts';
import { replayCommand } from '../../questions/create-answers.ts';
import { requireConsent } from '../answers.ts';
import {
  fileLines,
  firstEditOf,
  nextSteps,
  sampleEdit,
  shortReport,
  showNext,
  showPrepared,
  showReport,
} from './format.ts';
import type { Taken } from './steps.ts';

/** Takes the wanted steps in a project that was written, and prints the result. @throws CommandError `SELF_CHECK_FAILED`. */
export async function complete(
  { answers, files, prepared }: Creation,
  context: ProjectContext,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const { directory } = context;
  const { packages, report } = await take(context, switches, output);
  const problems = await cloneProblems(directory);
  for (const problem of problems) output.note(problem);
  const [tool] = prepared.tools;
  const first = tool && firstEditOf(tool, null);
  const steps = nextSteps(context, switches.install, first, tool?.definition.name);
  const repeat = replayCommand(answers, switches, ownCommand('create-market-mcp'));
  if (report) showReport(report, output);
  showNext(steps, repeat, output);
  const exitCode = output.result({
    ok: report?.ok ?? true,
    directory,
    ...contents(files, prepared),
    packages,
    problems,
    selfCheck: shortReport(report),
    edit: first?.edit,
    next: steps.flatMap(({ command }) => command ?? []),
    repeat,
  });
  requireOk(report, context);
  return exitCode;
}

/** Finishes a project that an earlier run has written, if the author at the terminal agrees. @throws as `complete`. */
export async function finish(
  given: string,
  { answers }: Manifest,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const context = { directory: resolve(given), packageManager: answers.packageManager };
  const tools = nameList(answers.tools);
  const question = `${given} already contains a project with ${tools}. Finish it (install, git, self-check)?`;
  await requireConsent(singleLine(question), true);
  const { report } = await take(context, switches, output);
  if (report) showReport(report, output);
  const [tool] = answers.tools;
  const first = tool === undefined ? undefined : sampleEdit(tool);
  showNext(nextSteps(context, switches.install, first, tool), undefined, output);
  requireOk(report, context);
  return exitCodes.ok;
}

/** Prints what would be written. */
export function showDryRun({ files, prepared }: Creation, directory: string, output: Output): ExitCode {
  output.line(`These files would be written to ${singleLine(directory)}:`);
  for (const line of fileLines(files)) output.line(`  ${line}`);
  showPrepared(prepared, output);
  const nothing = { packages: null, selfCheck: null, next: [] };
  return output.result({ ok: true, dryRun: true, directory, ...contents(files, prepared), ...nothing });
}

/** The code of the steps is loaded only if there is one to take. */
async function take(context: ProjectContext, switches: CreateSwitches, output: Output): Promise<Taken> {
  if (!switches.install && !switches.git) return { packages: null, report: null };
  const { takeSteps } = await import('./steps.ts');
  return takeSteps(context, switches, output);
}

function requireOk(report: Taken['report'], { directory, packageManager }: ProjectContext): void {
  if (report?.ok !== false) return;
  const { run } = packageManagerCommands[packageManager];
  const message = 'the server was created, but fails rules of the marketplace';
  const hint = `Fix the failed rules above and run the self-check again. In ${directory} run: ${run} self-check`;
  throw new CommandError('SELF_CHECK_FAILED', message, hint);
}

function contents(files: Creation['files'], { tools, changes, advice }: Creation['prepared']) {
  return { files: [...files.keys()], tools: tools.map(({ definition }) => definition.name), changes, advice };
}
