import { join, relative } from 'node:path';
import { changesBetween, changesSince } from '../../check/drift.ts';
import { type Earlier, type Examined, examine, type Terms } from '../../check/examine.ts';
import { readBaseline, readListing } from '../../check/files.ts';
import { reporters } from '../../check/report/index.ts';
import { selector } from '../../check/select.ts';
import { baselineOf } from '../../check/verdict.ts';
import { type Conclusion, conclusionOf } from '../../contract/summary.ts';
import { exists } from '../../project/input.ts';
import { manifestFile, readManifest } from '../../project/manifest.ts';
import { refuseUnwritable, saveJson } from '../../project/save.ts';
import { fault, pass, refuse } from '../../spec/fault.ts';
import type { Result } from '../../spec/model.ts';
import type { CheckFlags } from '../check/flags.ts';
import { type Subject, subjectOf } from '../check/subject.ts';
import { CliError, type ExitCode, exitCodes, unwrapped } from '../errors.ts';
import type { Output } from '../output.ts';

/** The file in a project that holds the tool list as the marketplace knows it. */
const listingFile = 'listing.json';

/**
 * `market-mcp check [directory|url]`: the contract, run on a project's server or on any other.
 *
 * @returns 1 where a rule failed that counts, 3 where the server left a MUST without an answer to judge it by.
 */
export async function check(
  target: string | undefined,
  flags: CheckFlags,
  output: Output,
): Promise<ExitCode> {
  const subject = unwrapped(await subjectOf(target, flags));
  const terms = await termsOf(flags, subject.directory);
  const save = savedAs(flags, subject.directory);
  for (const file of [save.baseline, save.listing]) if (file !== undefined) await refuseUnwritable(file);
  if (flags.watch && subject.directory !== undefined) {
    const { watch } = await import('../check/watch.ts');
    return watch(subject.directory, output, () => once(subject, terms, save, flags, output));
  }
  return once(subject, terms, save, flags, output);
}

async function once(
  subject: Subject,
  terms: Terms,
  save: Saved,
  flags: CheckFlags,
  output: Output,
): Promise<ExitCode> {
  const { target, release } = await subject.hold(output);
  const progress = output.progress('checking');
  let examined: Examined;
  try {
    examined = await examine(target, {
      ...terms,
      onRule: ({ id }, done, total) => progress.update(`${done}/${total} ${id}`),
    });
  } finally {
    progress.stop();
    await release();
  }
  const { report, listed } = examined;
  const reporter = reporters[output.json ? 'json' : flags.reporter];
  output.text(reporter(report, { color: output.hasColors, verbose: flags.verbose === true }));
  const saved = async (file: string, value: object): Promise<void> => {
    await saveJson(file, value);
    if (reporter === reporters.pretty) output.done(`${file} written`);
  };
  if (save.baseline !== undefined) await saved(save.baseline, { known: baselineOf(report) });
  if (save.listing !== undefined) {
    if (!listed) throw new CliError('NO_LISTING', 'the server sent no list of tools to save', '');
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

/** Where a run leaves what the next one is compared with. */
interface Saved {
  readonly baseline: string | undefined;
  readonly listing: string | undefined;
}

function savedAs({ saveBaseline, saveListing }: CheckFlags, directory: string | undefined): Saved {
  const listing = saveListing === true ? fromHere(join(directory ?? '.', listingFile)) : saveListing;
  return { baseline: saveBaseline, listing };
}

async function termsOf(flags: CheckFlags, directory: string | undefined): Promise<Terms> {
  const { level, requireAll = false, only, skip, against, baseline } = flags;
  return {
    demands: { level, requireAll },
    selects: unwrapped(selector({ only, skip })),
    timeoutMs: unwrapped(millisecondsIn(flags.timeout)),
    baseline: baseline === undefined ? undefined : unwrapped(await readBaseline(baseline)),
    earlier: against === undefined ? await recordedIn(directory) : await listingIn(against),
  };
}

/** What a project has recorded of the list that the marketplace read: the list itself, or its fingerprints. */
async function recordedIn(directory: string | undefined): Promise<Earlier | undefined> {
  if (directory === undefined) return undefined;
  const file = fromHere(join(directory, listingFile));
  if (await exists(file)) return listingIn(file);
  const { listed } = readManifest(directory);
  return {
    file: fromHere(join(directory, manifestFile)),
    changesTo: (tools) => changesSince(listed, tools),
  };
}

async function listingIn(file: string): Promise<Earlier> {
  const before = unwrapped(await readListing(file));
  return { file, changesTo: (tools) => changesBetween(before, tools) };
}

/** A path as an author would write it here. */
function fromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

function millisecondsIn(text: string | undefined): Result<number | undefined> {
  if (text === undefined) return pass(undefined);
  const milliseconds = Number(text);
  return Number.isInteger(milliseconds) && milliseconds > 0 && milliseconds <= 600_000
    ? pass(milliseconds)
    : refuse(fault('--timeout', text, 'is no number of milliseconds up to 600000', 'Write --timeout 5000.'));
}
