import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { changesBetween, changesSince } from '../../check/drift.ts';
import { type CheckOptions, type Examination, examine, type PreviousListing } from '../../check/examine.ts';
import { readExamples } from '../../check/examples.ts';
import { readBaseline, readListing } from '../../check/files.ts';
import { reporters } from '../../check/report/index.ts';
import type { PrettyOptions } from '../../check/report/pretty.ts';
import { selector } from '../../check/select.ts';
import { baselineOf } from '../../check/verdict.ts';
import { type CallPlan, submissionCalls } from '../../contract/probe/safety.ts';
import { type Conclusion, conclusionOf } from '../../contract/report/summary.ts';
import { CommandError, type ExitCode, exitCodes, unwrap } from '../../model/command-error.ts';
import { pass, reject } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import { manifestFile } from '../../project/manifest/manifest.ts';
import { readAnyManifest } from '../../project/manifest/vendored-manifest.ts';
import { refuseUnwritable, saveJson } from '../../project/write/save.ts';
import { rerunCommand } from '../check/again.ts';
import { answerLines, realLines, submissionLines, unrecordedLines } from '../check/answers.ts';
import { decideCalls } from '../check/calls.ts';
import type { CheckFlags } from '../check/flags.ts';
import { type Subject, subjectOf } from '../check/subject.ts';
import type { Output } from '../output.ts';

/** The file in a project with the listing of the marketplace. */
const listingFile = 'listing.json';

/**
 * `market-mcp check [directory|url]`: runs the contract on a project's server or on any other.
 *
 * @returns 1 if a rule that counts failed, 3 if a MUST could not be judged because the server did not answer.
 */
export async function check(
  target: string | undefined,
  flags: CheckFlags,
  output: Output,
): Promise<ExitCode> {
  const subject = unwrap(await subjectOf(target, flags));
  const options = await optionsOf(flags, subject.directory);
  const again = (rules: readonly string[]) => rerunCommand(target, flags, rules);
  const save = savedAs(flags, subject.directory);
  for (const file of [save.baseline, save.listing]) if (file !== undefined) await refuseUnwritable(file);
  if (flags.watch && subject.directory !== undefined) {
    const { watch } = await import('../check/watch.ts');
    return watch(subject.directory, output, () => once(subject, options, save, flags, output, again));
  }
  return once(subject, options, save, flags, output, again);
}

async function once(
  subject: Subject,
  options: CheckOptions,
  save: Saved,
  flags: CheckFlags,
  output: Output,
  again: PrettyOptions['again'] & {},
): Promise<ExitCode> {
  const { release, ...held } = await subject.hold(output);
  let progress = output.progress('checking');
  const ended = new AbortController();
  const decide = async (plan: CallPlan): Promise<readonly string[]> => {
    progress.stop();
    try {
      return await decideCalls(plan, namedIn(flags, options), output, flags.reporter === 'pretty');
    } catch (error) {
      ended.abort(error);
      throw error;
    } finally {
      progress = output.progress('checking');
    }
  };
  let examined: Examination;
  try {
    examined = await examine(held, {
      ...options,
      ...(subject.directory === undefined && { calls: { named: flags.call, decide } }),
      signal: ended.signal,
      onRule: ({ id }, done, total) => progress.update(`${done}/${total} ${id}`),
    });
  } finally {
    progress.stop();
    await release();
  }
  const { report, listed } = examined;
  output.aside([
    ...answerLines(held.answers?.() ?? []),
    ...realLines(held.real),
    ...unrecordedLines(held.unrecorded?.() ?? []),
    ...submissionLines(submissionCalls(listed ?? [], held.target.profile.smoke)),
  ]);
  const reporter = reporters[output.json ? 'json' : flags.reporter];
  output.text(reporter(report, { color: output.hasColors, verbose: flags.verbose === true, again }));
  const saved = async (file: string, value: object): Promise<void> => {
    await saveJson(file, value);
    if (reporter === reporters.pretty) output.done(`${file} written`);
  };
  if (save.baseline !== undefined) await saved(save.baseline, { known: baselineOf(report) });
  if (save.listing !== undefined) {
    if (!listed) {
      const hint = 'See the failed rule discovery.tools-list in the report.';
      throw new CommandError('NO_LISTING', 'the server sent no list of tools to save', hint);
    }
    await saved(save.listing, { tools: listed });
  }
  return conclusions[conclusionOf(report)];
}

const conclusions: { readonly [conclusion in Conclusion]: ExitCode } = {
  ok: exitCodes.ok,
  failed: exitCodes.checkFailed,
  unanswered: exitCodes.notStarted,
  error: exitCodes.internal,
};
/** The tools that the flags name. */
function namedIn({ call, examples: file }: CheckFlags, { examples }: CheckOptions) {
  return [
    ...call.map((tool) => ({ flag: '--call', tool })),
    ...[...(examples?.keys() ?? [])].map((tool) => ({ flag: `--examples ${file}`, tool })),
  ];
}

/** Files that a run writes for the next one to compare with. */
interface Saved {
  readonly baseline: string | undefined;
  readonly listing: string | undefined;
}

function savedAs({ saveBaseline, saveListing }: CheckFlags, directory: string | undefined): Saved {
  const listing = saveListing === true ? fromHere(join(directory ?? '.', listingFile)) : saveListing;
  return { baseline: saveBaseline, listing };
}

async function optionsOf(flags: CheckFlags, directory: string | undefined): Promise<CheckOptions> {
  const { level, era, requireAll = false, only, skip, against, baseline, examples } = flags;
  return {
    demands: { level, requireAll },
    era,
    selects: unwrap(selector({ only, skip })),
    timeoutMs: unwrap(millisecondsIn('--timeout', flags.timeout, 600_000)),
    deadlineMs: unwrap(millisecondsIn('--deadline', flags.deadline, 86_400_000)),
    examples: examples === undefined ? undefined : unwrap(await readExamples(examples)),
    baseline: baseline === undefined ? undefined : unwrap(await readBaseline(baseline)),
    earlier: against === undefined ? await recordedIn(directory) : await listingIn(against),
  };
}

/** What a project has recorded of the listing: the list itself, or its fingerprints. */
async function recordedIn(directory: string | undefined): Promise<PreviousListing | undefined> {
  if (directory === undefined) return undefined;
  const file = fromHere(join(directory, listingFile));
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) return listingIn(file);
  const { listed } = readAnyManifest(directory);
  if (listed === null) return undefined;
  return {
    file: fromHere(join(directory, manifestFile)),
    changesTo: (tools) => changesSince(listed, tools),
  };
}

async function listingIn(file: string): Promise<PreviousListing> {
  const before = unwrap(await readListing(file));
  return { file, changesTo: (tools) => changesBetween(before, tools) };
}

/** A path relative to the working directory. */
function fromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

function millisecondsIn(flag: string, text: string | undefined, most: number): Result<number | undefined> {
  if (text === undefined) return pass(undefined);
  const milliseconds = Number(text);
  return Number.isInteger(milliseconds) && milliseconds > 0 && milliseconds <= most
    ? pass(milliseconds)
    : reject(flag, text, `is not a number of milliseconds from 1 to ${most}`, `Write ${flag} 5000.`);
}
