import { type Examination, type ExamineOptions, examine, type Locate } from '../check/examine.ts';
import { baselineOf } from '../check/verdict.ts';
import { CommandError, type ExitCode } from '../command/command-error.ts';
import { refuseUnwritable, saveJson, saveOutput, saveText } from '../command/save.ts';
import type { Output } from '../command/terminal-output.ts';
import { hasUrlSecret, maskUrl } from '../command/url-secrets.ts';
import type { CallPlan } from '../model.ts';
import type { ReportOptions } from '../report/format.ts';
import { reporters, unreachableReporters } from '../report/reporters.ts';
import { exitCodeOf } from '../report/summary.ts';
import type { Target } from '../target.ts';
import { type SubmissionCall, submissionCalls } from '../wire/safety.ts';
import { type Choose, decideCalls, type FlaggedTool, submissionLines } from './calls.ts';
import { examineOptions } from './options.ts';
import { targetAtUrl } from './server.ts';
import type { UrlFlags } from './url-flags.ts';

/** What a program says in its own words, and whom it asks. */
export interface Words extends Pick<ReportOptions, 'explain' | 'again'> {
  /** Absent if nobody may be asked. */
  readonly choose?: Choose | undefined;
}

/** A server that is open for one run. */
export interface OpenServer {
  readonly target: Target;
  readonly locate?: Locate;
  /** Whether a tool is called only if the flags or a person allow it: true for the server of somebody else. */
  readonly needsPermission: boolean;
  /** Lines about the run, such as where the data of its responses came from. */
  notes?(calls: readonly SubmissionCall[]): readonly string[];
  release?(): Promise<void>;
}

/**
 * Checks the server at a URL.
 *
 * @returns 1 if a rule that counts failed, 3 if a MUST could not be checked because the server did not answer
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`, `UNREACHABLE`, `UNKNOWN_TOOL`
 */
export async function checkUrl(
  url: string,
  output: Output,
  flags: UrlFlags,
  words: Words,
): Promise<ExitCode> {
  const target = await targetAtUrl(url, flags);
  if (hasUrlSecret(url)) output.comment([maskedUrlNote]);
  return checkOpened(
    async () => ({ target, needsPermission: true }),
    await examineOptions(flags),
    output,
    flags,
    words,
  );
}

const maskedUrlNote =
  'The URL contains a key, which is printed as $URL_KEY. Set this variable to send a printed request again.';

/**
 * Opens a server, checks it, prints the report, and writes the files that the flags name.
 *
 * @param listingFile the file for the listing if the flag names none
 */
export async function checkOpened(
  open: () => Promise<OpenServer>,
  options: ExamineOptions,
  output: Output,
  flags: UrlFlags,
  words: Words,
  listingFile = 'listing.json',
): Promise<ExitCode> {
  const { saveBaseline, summary } = flags;
  const listingPath = flags.saveListing === true ? listingFile : flags.saveListing;
  for (const file of [saveBaseline, listingPath, summary])
    if (file !== undefined) await refuseUnwritable(file);
  const reporter = reporters[output.json ? 'json' : flags.reporter];
  const save = async (file: string, value: object, write = saveOutput): Promise<void> => {
    await saveJson(file, value, write);
    if (reporter === reporters.pretty) output.done(`${file} written`);
  };
  const server = await open();
  const { report, listed } = await examineOnce(server, options, flags, output, words).catch(
    (error: unknown) => {
      const write = output.json ? undefined : unreachableReporters[flags.reporter];
      if (write && error instanceof CommandError && error.code === 'UNREACHABLE')
        output.text(write(maskUrl(server.target.url), error.message));
      throw error;
    },
  );
  const { explain, again } = words;
  const style = {
    color: output.hasColors,
    verbose: flags.verbose === true,
    explain,
    ...(again && { again }),
  };
  output.text(reporter(report, style));
  if (summary !== undefined) {
    // What a step of GitHub Actions has written there before stays.
    const isAppended = summary === process.env.GITHUB_STEP_SUMMARY;
    await saveOutput(summary, `${reporters.markdown(report, style)}\n`, isAppended);
  }
  if (saveBaseline !== undefined) await save(saveBaseline, { known: baselineOf(report) });
  // A link at the default name may have come with the project, so it is not followed.
  const writeListing = flags.saveListing === true ? saveText : saveOutput;
  if (listingPath !== undefined && listed) await save(listingPath, { tools: listed }, writeListing);
  if (listingPath === undefined || listed) return exitCodeOf(report);
  const hint = 'See the failed rule discovery.tools-list in the report.';
  throw new CommandError('NO_LISTING', 'the server sent no list of tools to save', hint);
}

/** Examines a server once, then prints where its data came from, and the calls of a submission that may change something. */
async function examineOnce(
  { target, locate, needsPermission, notes, release }: OpenServer,
  options: ExamineOptions,
  flags: UrlFlags,
  output: Output,
  { choose }: Words,
): Promise<Examination> {
  let progress = output.progress('checking');
  const abort = new AbortController();
  const decide = async (plan: CallPlan): Promise<readonly string[]> => {
    progress.stop();
    try {
      const isAsked = flags.reporter === 'pretty' && !output.json;
      return await decideCalls(plan, namedIn(flags, options), output, isAsked ? choose : undefined);
    } catch (error) {
      abort.abort(error);
      throw error;
    } finally {
      progress = output.progress('checking');
    }
  };
  let examination: Examination;
  try {
    examination = await examine(
      { target, locate },
      {
        ...options,
        calls: needsPermission ? { named: flags.call, decide } : options.calls,
        signal: abort.signal,
        onRule: ({ id }, completedCount, total) => progress.update(`${completedCount}/${total} ${id}`),
      },
    );
  } finally {
    progress.stop();
    await release?.();
  }
  const calls = submissionCalls(examination.listed ?? [], target.profile.smoke);
  output.comment([...(notes?.(calls) ?? []), ...submissionLines(calls)]);
  return examination;
}

/** The tools that the flags name. */
function namedIn({ call, examples: file }: UrlFlags, { examples }: ExamineOptions): readonly FlaggedTool[] {
  return [
    ...call.map((tool) => ({ flag: '--call', tool })),
    ...[...(examples?.keys() ?? [])].map((tool) => ({ flag: `--examples ${file}`, tool })),
  ];
}
