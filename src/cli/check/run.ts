import { type NamedTool, requireListed } from '../../check/built.ts';
import { type CheckOptions, type Examination, examine } from '../../check/examine.ts';
import { type CallPlan, type PlannedTool, submissionCalls } from '../../contract/probe/safety.ts';
import { changesOf } from '../../dev/watch.ts';
import type { ExitCode } from '../../model/command-error.ts';
import { canAsk } from '../answers.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';
import { answerLines, realLines, replayLines, submissionLines, unrecordedLines } from './format.ts';
import type { CheckFlags } from './options.ts';
import type { Subject } from './subject.ts';

/** Examines a subject once, and prints what it answered from, what was called for real, and what a submission may change. */
export async function examineOnce(
  subject: Subject,
  options: CheckOptions,
  flags: CheckFlags,
  output: Output,
): Promise<Examination> {
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
  const calls = submissionCalls(examined.listed ?? [], held.target.profile.smoke);
  output.comment([
    ...answerLines(held.answers?.() ?? []),
    ...realLines(held.real),
    ...unrecordedLines(held.unrecorded?.() ?? []),
    ...submissionLines(calls),
    ...(subject.directory === undefined ? [] : replayLines(calls)),
  ]);
  return examined;
}

/** The tools that the flags name. */
function namedIn({ call, examples: file }: CheckFlags, { examples }: CheckOptions): readonly NamedTool[] {
  return [
    ...call.map((tool) => ({ flag: '--call', tool })),
    ...[...(examples?.keys() ?? [])].map((tool) => ({ flag: `--examples ${file}`, tool })),
  ];
}

/** A person reads the first entries of a long list. The JSON report contains all. */
const toolsShown = 20;

/**
 * Prints the plan of calls before the first call, and asks a person at a terminal whether further tools may be called.
 *
 * @param named tools that flags name: the server must list each.
 * @param asks whether a person may be asked.
 * @returns the tools that the person allows.
 * @throws CommandError `UNKNOWN_TOOL`, and `Cancelled`.
 */
async function decideCalls(
  plan: CallPlan,
  named: readonly NamedTool[],
  output: Output,
  asks: boolean,
): Promise<readonly string[]> {
  const listed = [...plan.called, ...plan.withheld].map(({ tool }) => tool);
  requireListed(
    named.filter(({ tool }) => tool !== '*'),
    listed,
  );
  output.comment(planLines(plan));
  if (plan.withheld.length === 0 || !asks || output.json || !canAsk()) return [];
  const { Asker } = await import('../prompts/asker.ts');
  return new Asker().chooseAny(
    'Call any of these tools, too? Each call really runs the tool. (Space selects, Enter continues)',
    plan.withheld.map(({ tool, because }) => ({ value: tool, label: tool, hint: because })),
  );
}

/** The plan as text: which tools are called, how often, and why; which are not, and why. */
function planLines({ called, withheld }: CallPlan): readonly string[] {
  return [
    called.length === 0 ? 'No tool will be called.' : 'These tools will be called:',
    ...shown(called, ({ tool, atMost, because }) => `  ${tool}, at most ${atMost} times: ${because}`),
    ...(withheld.length === 0 ? [] : ['These will not be called (--call <tool> allows it):']),
    ...shown(withheld, ({ tool, because }) => `  ${tool}: ${because}`),
  ];
}

function shown(tools: readonly PlannedTool[], lineOf: (tool: PlannedTool) => string): readonly string[] {
  const more = tools.length - toolsShown;
  return [...tools.slice(0, toolsShown).map(lineOf), ...(more > 0 ? [`  … and ${more} more`] : [])];
}

/** Runs a check, then repeats it after each change of the project's sources or `.env`, until the process is ended. */
export async function repeat(
  directory: string,
  output: Output,
  check: () => Promise<ExitCode>,
): Promise<ExitCode> {
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
    const { done } = await change;
    if (done) return exitCode;
  }
}
