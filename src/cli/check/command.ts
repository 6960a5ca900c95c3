import {
  CommandError,
  type ExitCode,
  exitCodes,
  type Output,
  reject,
  unwrap,
} from 'market-mcp-contract/command';
import {
  baselineOf,
  type CheckOptions,
  type Conclusion,
  conclusionOf,
  readBaseline,
  readExamples,
  reporters,
  selector,
} from 'market-mcp-contract/report';
import { listingFile, previousListing } from '../../check/files.ts';
import { refuseUnwritable, saveJson } from '../../project/write/save.ts';
import { explainCommand } from '../../system/command-line.ts';
import { rerunCommand } from './format.ts';
import type { CheckFlags } from './options.ts';
import { examineOnce, repeat } from './run.ts';
import { subjectOf } from './subject.ts';

/**
 * `market-mcp check [directory|url]`: runs the contract on a project's server or on any other.
 *
 * @returns 1 if a rule that counts failed, 3 if a MUST could not be judged because the server did not answer.
 */
export async function check(
  target: string | undefined,
  output: Output,
  flags: CheckFlags,
): Promise<ExitCode> {
  const subject = await subjectOf(target, flags);
  const { directory } = subject;
  const options = await optionsOf(flags, directory);
  const { saveBaseline } = flags;
  const saveListing = flags.saveListing === true ? listingFile(directory ?? '.') : flags.saveListing;
  for (const file of [saveBaseline, saveListing]) if (file !== undefined) await refuseUnwritable(file);
  const reporter = reporters[output.json ? 'json' : flags.reporter];
  const save = async (file: string, value: object): Promise<void> => {
    await saveJson(file, value);
    if (reporter === reporters.pretty) output.done(`${file} written`);
  };
  const once = async (): Promise<ExitCode> => {
    const { report, listed } = await examineOnce(subject, options, flags, output);
    const again = (rules: readonly string[]) => rerunCommand(target, flags, rules);
    output.text(
      reporter(report, {
        color: output.hasColors,
        verbose: flags.verbose === true,
        explain: explainCommand,
        again,
      }),
    );
    if (saveBaseline !== undefined) await save(saveBaseline, { known: baselineOf(report) });
    if (saveListing !== undefined && listed) await save(saveListing, { tools: listed });
    if (saveListing === undefined || listed) return conclusions[conclusionOf(report)];
    const hint = 'See the failed rule discovery.tools-list in the report.';
    throw new CommandError('NO_LISTING', 'the server sent no list of tools to save', hint);
  };
  if (!flags.watch || directory === undefined) return once();
  return repeat(directory, output, once);
}

const conclusions: { readonly [conclusion in Conclusion]: ExitCode } = {
  ok: exitCodes.ok,
  failed: exitCodes.checkFailed,
  unanswered: exitCodes.notStarted,
  error: exitCodes.internal,
};

async function optionsOf(flags: CheckFlags, directory: string | undefined): Promise<CheckOptions> {
  const { level, era, requireAll = false, only, skip, against, baseline, examples } = flags;
  return {
    demands: { level, requireAll },
    era,
    selects: unwrap(selector({ only, skip })),
    timeoutMs: millisecondsIn('--timeout', flags.timeout, 600_000),
    deadlineMs: millisecondsIn('--deadline', flags.deadline, 86_400_000),
    examples: examples === undefined ? undefined : unwrap(await readExamples(examples)),
    baseline: baseline === undefined ? undefined : unwrap(await readBaseline(baseline)),
    earlier: await previousListing(against, directory),
  };
}

function millisecondsIn(flag: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = Number(text);
  if (Number.isInteger(milliseconds) && milliseconds > 0 && milliseconds <= most) return milliseconds;
  const message = `is not a number of milliseconds from 1 to ${most}`;
  return unwrap(reject(flag, text, message, `Write ${flag} 5000.`));
}
