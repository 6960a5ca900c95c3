import {
  checkTarget,
  type LocateCauses,
  type TargetCheckOptions,
  type TargetCheckResult,
} from '../check/check-target.ts';
import { exitCodeOf } from '../check/summary.ts';
import { baselineOf } from '../check/verdict.ts';
import { CommandError, type ExitCode } from '../command/command-error.ts';
import { refuseUnwritable, replaceAtPath, saveJson, writeWhereLinksLead } from '../command/save.ts';
import type { Output } from '../command/terminal-output.ts';
import { hasUrlSecret, maskUrl } from '../command/url-secrets.ts';
import type { CallPlan } from '../model.ts';
import type { ReportOptions } from '../report/report-text.ts';
import { type ReporterName, reporters, unreachableReporters } from '../report/reporters.ts';
import type { Target } from '../target.ts';
import { type SubmissionCall, submissionCalls } from '../wire/safety.ts';
import { type Choose, decideCalls, type FlaggedTool, submissionLines } from './calls.ts';
import { targetCheckOptions } from './options.ts';
import { targetAtUrl } from './server.ts';
import type { UrlFlags } from './url-flags.ts';

/** The parts of a check that each program supplies: the commands that a report prints, and the question to a person. */
export interface CheckFrontend extends Pick<ReportOptions, 'explainCommand' | 'rerunCommand'> {
  /** Absent if nobody can answer. */
  readonly choose?: Choose | undefined;
}

/** A server that was opened for one check. */
export interface OpenedServer {
  readonly target: Target;
  readonly locateCauses?: LocateCauses;
  /** Whether a tool that does not declare readOnlyHint, or shows a sign of harm, is called only if a flag or a person allows it. */
  readonly needsPermission: boolean;
  /** Lines about the check, such as where the data of its responses came from. */
  notes?(calls: readonly SubmissionCall[]): readonly string[];
  release?(): Promise<void>;
}

/**
 * Checks the server at a URL.
 *
 * @returns 1 if a rule that counts failed, 3 if a MUST was not checked for lack of an answer, of time, or without an explanation
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`, `NOT_WRITABLE`, `UNREACHABLE`, `UNKNOWN_TOOL`, `NO_RULES`, `NO_LISTING`; Cancelled
 */
export async function checkUrl(
  url: string,
  output: Output,
  flags: UrlFlags,
  frontend: CheckFrontend,
): Promise<ExitCode> {
  const target = await targetAtUrl(url, flags);
  if (hasUrlSecret(url)) output.comment([maskedUrlNote]);
  const options = await targetCheckOptions(flags);
  return openAndCheck(async () => ({ target, needsPermission: true }), options, output, flags, frontend);
}

const maskedUrlNote =
  'The URL contains a key, which is printed as $URL_KEY. Set this variable to send a printed request again.';

/**
 * Opens a server, checks it, prints the report, and writes the files that the flags name.
 *
 * @param defaultListingFile the file of --save-listing without a name
 */
export async function openAndCheck(
  open: () => Promise<OpenedServer>,
  options: TargetCheckOptions,
  output: Output,
  flags: UrlFlags,
  { explainCommand, rerunCommand, choose }: CheckFrontend,
  defaultListingFile = 'listing.json',
): Promise<ExitCode> {
  const listingFile = flags.saveListing === true ? defaultListingFile : flags.saveListing;
  for (const file of [flags.saveBaseline, listingFile, flags.summary])
    if (file !== undefined) await refuseUnwritable(file);
  const server = await open();
  const checkResult = await checkWithProgress(server, options, flags, output, choose).catch(
    (error: unknown) => {
      printUnreachable(error, server.target.url, flags, output);
      throw error;
    },
  );
  const { report, tools } = checkResult;
  const reportOptions = {
    color: output.hasColors,
    verbose: flags.verbose === true,
    explainCommand,
    rerunCommand,
  };
  output.text(reporters[reporterName(flags, output)](report, reportOptions));
  await saveFiles(checkResult, listingFile, flags, output, reportOptions);
  if (listingFile === undefined || tools) return exitCodeOf(report);
  const hint = 'See the failed rule discovery.tools-list in the report.';
  throw new CommandError('NO_LISTING', 'the server sent no list of tools to save', hint);
}

function reporterName({ reporter }: UrlFlags, output: Output): ReporterName {
  return output.json ? 'json' : reporter;
}

/** Prints the report of a server that does not answer, in the formats that have one. */
function printUnreachable(error: unknown, url: string, flags: UrlFlags, output: Output): void {
  if (!(error instanceof CommandError) || error.code !== 'UNREACHABLE' || output.json) return;
  const format = unreachableReporters[flags.reporter];
  if (format) output.text(format(maskUrl(url), error.message));
}

/** Writes the summary, the baseline and the listing to the files that the flags name. */
async function saveFiles(
  { report, tools }: TargetCheckResult,
  listingFile: string | undefined,
  flags: UrlFlags,
  output: Output,
  reportOptions: ReportOptions,
): Promise<void> {
  const { saveBaseline, summary } = flags;
  const printSaved = (file: string): void => {
    if (reporterName(flags, output) === 'pretty') output.done(`${file} written`);
  };
  if (summary !== undefined) {
    // Earlier steps of a job may have written to the summary of GitHub Actions.
    const appends = summary === process.env.GITHUB_STEP_SUMMARY;
    await writeWhereLinksLead(summary, `${reporters.markdown(report, reportOptions)}\n`, appends);
  }
  if (saveBaseline !== undefined) {
    await saveJson(saveBaseline, { known: baselineOf(report) }, writeWhereLinksLead);
    printSaved(saveBaseline);
  }
  if (listingFile === undefined || !tools) return;
  // A link at the default name may have come with the project, so it is not followed.
  await saveJson(listingFile, { tools }, flags.saveListing === true ? replaceAtPath : writeWhereLinksLead);
  printSaved(listingFile);
}

/**
 * Checks a server with a progress line. Then prints the notes of the server, and warns of the tools that the marketplace's
 * submission test would really run.
 */
async function checkWithProgress(
  { target, locateCauses, needsPermission, notes, release }: OpenedServer,
  options: TargetCheckOptions,
  flags: UrlFlags,
  output: Output,
  choose: Choose | undefined,
): Promise<TargetCheckResult> {
  let progress = output.progress('checking');
  const abort = new AbortController();
  const decide = async (plan: CallPlan): Promise<readonly string[]> => {
    progress.stop();
    try {
      const canChoose = reporterName(flags, output) === 'pretty';
      return await decideCalls(plan, toolsInFlags(flags, options), output, canChoose ? choose : undefined);
    } catch (error) {
      abort.abort(error);
      throw error;
    } finally {
      progress = output.progress('checking');
    }
  };
  let checkResult: TargetCheckResult;
  try {
    checkResult = await checkTarget(
      { target, locateCauses },
      {
        ...options,
        callPolicy: needsPermission ? { named: flags.call, decide } : options.callPolicy,
        signal: abort.signal,
        onRule: ({ id }, completedCount, total) => progress.update(`${completedCount}/${total} ${id}`),
      },
    );
  } finally {
    progress.stop();
    await release?.();
  }
  const calls = submissionCalls(checkResult.tools ?? [], target.profile.smoke);
  output.comment([...(notes?.(calls) ?? []), ...submissionLines(calls)]);
  return checkResult;
}

/** The tools that the flags name. */
function toolsInFlags(
  { call, examples: file }: UrlFlags,
  { examples }: TargetCheckOptions,
): readonly FlaggedTool[] {
  const toolsOfExamples = [...(examples?.keys() ?? [])];
  return [
    ...call.map((tool) => ({ flag: '--call', tool })),
    ...toolsOfExamples.map((tool) => ({ flag: `--examples ${file}`, tool })),
  ];
}
