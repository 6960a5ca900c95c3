import { join, resolve } from 'node:path';
import {
  CommandError,
  type ExitCode,
  nameList,
  type Output,
  pass,
  singleLine,
  toCommandError,
  unwrap,
} from 'market-mcp-contract/command';
import { type CheckReport, verdictOf } from 'market-mcp-contract/report';
import { cloneProblems } from '../../changes/clone-problems.ts';
import { type Creation, planCreation, requireSameRequests } from '../../changes/creation.ts';
import { type ImportRun, startImport } from '../../changes/import-run.ts';
import { variablesToReplay } from '../../changes/key-values.ts';
import {
  directoryError,
  isSameProject,
  type ProjectContext,
  projectIn,
  requireUsableTarget,
} from '../../changes/project-context.ts';
import { saveKeys } from '../../changes/save-keys.ts';
import { packageManagerCommands } from '../../plan/package-manager-commands.ts';
import type { Manifest } from '../../project/manifest/manifest.ts';
import { ownCommand } from '../../project/package/own-package.ts';
import { existingDotEnv } from '../../project/read/dot-env.ts';
import { writeProject } from '../../project/write/write.ts';
import type { CreateQuestionAnswers, CreateSwitches } from '../../questions/create.ts';
import {
  type CreateFlags,
  completeAnswers,
  missingFlags,
  readCreateFlags,
  replayCommand,
  resumeCommand,
} from '../../questions/create-answers.ts';
import { mayAsk, requireConsent } from '../ask-person.ts';
import { type AnswerPlanning, listChoices, planFromAnswers } from '../collect-answers.ts';
import {
  fileLines,
  firstEditFor,
  firstSteps,
  type NextStep,
  nextStepLines,
  nextSteps,
  reportJson,
  reviewLines,
  reviewWidth,
  sampleEdit,
  showFailures,
  showPrepared,
} from './creation-lines.ts';
import {
  adviceNotes,
  changeNotes,
  type FileNote,
  sentRequestSentences,
  showNotes,
  warningNotes,
} from './notes.ts';
import type { StepResults } from './steps.ts';

/** `create-market-mcp [directory]`: answers, files in memory, files on disk, install, git, self-check. */
export async function create(
  directory: string | undefined,
  output: Output,
  flags: CreateFlags & CreateSwitches,
): Promise<ExitCode> {
  const flagAnswers = unwrap(readCreateFlags({ ...flags, directory }));
  const run = startImport();
  const exitCodeOfList = await listChoices(flagAnswers, flags, run, output);
  if (exitCodeOfList !== undefined) return exitCodeOfList;
  // The target is checked before any question and any request.
  const defaultDirectory = flags.yes ? completeAnswers(flagAnswers).directory : undefined;
  const directoryName = flagAnswers.directory ?? defaultDirectory;
  if (directoryName !== undefined) {
    const existingProject = flags.force ? undefined : projectIn(directoryName);
    if (existingProject === undefined) requireUsableTarget(directoryName, flags);
    else if (mayAsk(flags)) return finishExistingProject(directoryName, existingProject, flags, output);
    else await requireSameRequests(directoryName, existingProject, completeAnswers(flagAnswers), run);
  }
  const planning = creationPlanning(flagAnswers, flags, run, output);
  const creation = await planFromAnswers(planning, flags);
  const { answers, files, packageManager } = creation;
  if (!flags.force && !flags.dryRun && isSameProject(answers.directory, files)) {
    const context = { directory: resolve(answers.directory), packageManager };
    const message = `${context.directory} already contains this project: continuing with it`;
    return runStepsAndReport(creation, context, message, flags, output);
  }
  const target = requireUsableTarget(answers.directory, flags, files);
  if (flags.dryRun) return showCreationDryRun(creation, target.directory, output);
  writeProject(target, files);
  const context = { directory: target.directory, packageManager };
  const filesText = `${files.size} files in ${context.directory}`;
  return runStepsAndReport(creation, context, filesText, flags, output);
}

/** How a project is planned from the answers that flags give. */
function creationPlanning(
  flagAnswers: Partial<CreateQuestionAnswers>,
  switches: CreateSwitches,
  run: ImportRun,
  output: Output,
): AnswerPlanning<Creation> {
  return {
    questionsToAsk: flagAnswers.ask,
    missingFlags: missingFlags(flagAnswers),
    planWithDefaults: async () => unwrap(await planCreation(completeAnswers(flagAnswers), run)),
    async planByAsking() {
      const { askCreate } = await import('../prompts/flow.ts');
      const program = ownCommand('create-market-mcp');
      return askCreate({
        flagAnswers,
        run,
        async review(reviewedAnswers) {
          const planned = await planCreation(completeAnswers(reviewedAnswers), run);
          if (!planned.ok) return planned;
          const { answers, files, prepared } = planned.value;
          const { directory } = requireUsableTarget(answers.directory, switches, files);
          const lines = reviewLines(`${files.size} files in ${directory}`, prepared, reviewWidth());
          return pass({ plan: planned.value, lines });
        },
        resume: (answers, ask) => resumeCommand({ ...answers, ask }, run.keylessCommands, switches, program),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        directoryError: (directory) => directoryError(directory, switches),
      });
    },
  };
}

/** The maximum number of lines that a creation prints. */
const maxPrintedLines = 12;

/**
 * Runs the requested steps in a project that was written, and prints the result.
 *
 * @param successText what was written
 */
async function runStepsAndReport(
  { answers, files, prepared, secrets, run }: Creation,
  context: ProjectContext,
  successText: string,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const { directory } = context;
  const savedKeys = await saveKeys(directory, secrets);
  const completedSentences = [...sentRequestSentences(prepared.changes)];
  if (savedKeys?.isSaved) completedSentences.push(savedKeys.sentence);
  if (completedSentences.length > 0) output.done(completedSentences.join('; '));
  const { packages, report, notes } = await runRequestedSteps(context, successText, switches, output);
  const problems = await cloneProblems(directory);
  for (const problem of [...problems, ...notes]) output.note(problem);
  if (savedKeys?.isSaved === false) output.note(savedKeys.sentence);
  const [tool] = prepared.tools;
  const firstEdit = tool && firstEditFor(tool, existingDotEnv(directory));
  const steps = nextSteps(context, switches.install, firstEdit, tool?.definition.name);
  const repeatedAnswers = { ...answers, env: variablesToReplay(answers, run) };
  const program = ownCommand('create-market-mcp');
  const repeatCommand = replayCommand(repeatedAnswers, run.keylessCommands, switches, program);
  const result = {
    directory,
    ...creationJson(files, prepared),
    packages,
    problems,
    selfCheck: reportJson(report),
    edit: firstEdit?.edit,
    next: steps.flatMap(({ command }) => command ?? []),
    repeat: repeatCommand,
  };
  const fileNotes = [...adviceNotes(prepared.advice, report), ...changeNotes(prepared.changes)];
  const lastLines = [...nextLines(context, steps, output)];
  if (mayAsk(switches))
    lastLines.push(output.style('dim', `To repeat this without questions: ${repeatCommand}`));
  const maxNoteLines = maxPrintedLines - output.lineCount - lastLines.length;
  return showOutcome({ context, report, fileNotes, lastLines, maxNoteLines }, result, output);
}

/** What is printed after the steps of a creation. */
interface CreationOutcome {
  readonly context: ProjectContext;
  readonly report: StepResults['report'];
  readonly fileNotes: readonly FileNote[];
  readonly lastLines: readonly string[];
  readonly maxNoteLines: number;
}

/** Prints the failed rules of the self-check; or the notes and then the last lines. */
function showOutcome(
  { context, report, fileNotes, lastLines, maxNoteLines }: CreationOutcome,
  result: object,
  output: Output,
): ExitCode {
  if (report?.ok === false) {
    showFailures(report, output);
    return output.failure(result, selfCheckFailed(context, report));
  }
  const warnings = report ? warningNotes(report) : [];
  showNotes([...warnings, ...fileNotes], output, maxNoteLines);
  for (const line of lastLines) output.line(line);
  return output.result({ ok: true, ...result });
}

/** The next steps, and where the rest is explained. */
function nextLines(
  { directory }: ProjectContext,
  steps: readonly NextStep[],
  output: Output,
): readonly string[] {
  const explanation = `How to change, test and register it: ${join(directory, 'README.md')}`;
  return [...nextStepLines(firstSteps(steps), output), explanation];
}

/**
 * Finishes a project that an earlier run has written, if the author at the terminal agrees.
 *
 * @throws CommandError as the steps
 */
async function finishExistingProject(
  directory: string,
  { answers }: Manifest,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const context = { directory: resolve(directory), packageManager: answers.packageManager };
  const tools = nameList(answers.tools);
  const question = `${directory} already contains a project with ${tools}. Finish it (install, git, self-check)?`;
  await requireConsent(singleLine(question), 'yes');
  const { report, notes } = await runRequestedSteps(context, context.directory, switches, output);
  for (const note of notes) output.note(note);
  const [tool] = answers.tools;
  const { sampledTools } = await import('../../project/read/open.ts');
  const isSampled = tool !== undefined && sampledTools(context.directory).has(tool);
  const firstEdit = isSampled ? sampleEdit(tool) : undefined;
  const steps = nextSteps(context, switches.install, firstEdit, tool);
  const lastLines = nextLines(context, steps, output);
  // There is no form with --json that would list the others.
  const maxNoteLines = Number.POSITIVE_INFINITY;
  const outcome = { context, report, fileNotes: [], lastLines, maxNoteLines };
  return showOutcome(outcome, { directory: context.directory }, output);
}

/** Prints what would be written. */
function showCreationDryRun({ files, prepared }: Creation, directory: string, output: Output): ExitCode {
  output.line(`These files would be written to ${singleLine(directory)}:`);
  for (const line of fileLines(files)) output.line(`  ${line}`);
  showPrepared(prepared, output);
  const stepResults = { packages: null, selfCheck: null, next: [] };
  const contents = creationJson(files, prepared);
  return output.result({ ok: true, dryRun: true, directory, ...contents, ...stepResults });
}

/** Runs the requested steps. Their code is loaded only if a step is requested. */
async function runRequestedSteps(
  context: ProjectContext,
  successText: string,
  switches: CreateSwitches,
  output: Output,
): Promise<StepResults> {
  if (switches.install || switches.git) {
    const { runSteps } = await import('./steps.ts');
    return runSteps(context, successText, switches, output);
  }
  output.done(successText);
  return { packages: null, report: null, notes: [] };
}

function selfCheckFailed({ directory, packageManager }: ProjectContext, report: CheckReport): CommandError {
  const { run: runScript } = packageManagerCommands[packageManager];
  const verdict = verdictOf(report);
  if (verdict !== 'failed') {
    const hint = `In ${directory} run: ${runScript} self-check`;
    return new CommandError(
      'SELF_CHECK_FAILED',
      `the server was created, but the self-check is ${verdict}`,
      hint,
    );
  }
  const message = 'the server was created, but fails rules of the marketplace';
  const hint = `Fix the failed rules above and run the self-check again. In ${directory} run: ${runScript} self-check`;
  return new CommandError('SELF_CHECK_FAILED', message, hint);
}

function creationJson(files: Creation['files'], { tools, changes, advice }: Creation['prepared']) {
  return { files: [...files.keys()], tools: tools.map(({ definition }) => definition.name), changes, advice };
}
