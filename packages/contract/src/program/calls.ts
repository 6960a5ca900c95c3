import { CommandError } from '../command/command-error.ts';
import { spellingHint } from '../command/input-error.ts';
import type { Output } from '../command/terminal-output.ts';
import type { CallPlan, PlannedTool } from '../model.ts';
import { firstLines } from '../report/lines.ts';
import { type SubmissionCall, submissionHarm } from '../wire/safety.ts';

/** A tool that a flag names. */
export interface FlaggedTool {
  readonly flag: string;
  readonly tool: string;
}

/** The maximum number of names in an error. */
const maxNames = 20;

/** @throws CommandError `UNKNOWN_TOOL` if a flag names a tool that is not listed. */
export function requireListed(namedTools: readonly FlaggedTool[], listed: readonly string[]): void {
  const unknown = namedTools.find(({ tool }) => !listed.includes(tool));
  if (!unknown) return;
  const { flag, tool } = unknown;
  const hint = spellingHint(tool, listed, `Its tools are: ${listed.slice(0, maxNames).join(', ')}.`);
  throw new CommandError(
    'UNKNOWN_TOOL',
    `${flag} ${JSON.stringify(tool)}: the server lists no such tool.`,
    hint,
  );
}

/** Asks a person at a terminal which of the tools may also be called. @throws Cancelled */
export type Choose = (withheld: readonly PlannedTool[]) => Promise<readonly string[]>;

/**
 * Prints the plan of calls before the first call, and asks whether further tools may be called.
 *
 * @param namedTools tools that flags name: the server must list each
 * @param choose absent if nobody may be asked
 * @returns the further tools that may be called
 * @throws CommandError `UNKNOWN_TOOL`; Cancelled
 */
export async function decideCalls(
  plan: CallPlan,
  namedTools: readonly FlaggedTool[],
  output: Output,
  choose: Choose | undefined,
): Promise<readonly string[]> {
  const listed = [...plan.called, ...plan.withheld].map(({ tool }) => tool);
  requireListed(
    namedTools.filter(({ tool }) => tool !== '*'),
    listed,
  );
  output.comment(planLines(plan));
  if (plan.withheld.length === 0) return [];
  return (await choose?.(plan.withheld)) ?? [];
}

/** A person reads the first entries of a long list. The JSON report contains all. */
const toolsShown = 20;

/** The plan as text: which tools are called, how often and why, and which tools are not called and why. */
function planLines({ called, withheld }: CallPlan): readonly string[] {
  const lines = [called.length === 0 ? 'No tool will be called.' : 'These tools will be called:'];
  const calledLine = ({ tool, atMost, because }: PlannedTool) =>
    `  ${tool}, at most ${atMost} times: ${because}`;
  const withheldLine = ({ tool, because }: PlannedTool) => `  ${tool}: ${because}`;
  lines.push(...firstLines(called, toolsShown, calledLine, '  '));
  if (withheld.length > 0) lines.push('These will not be called (--call <tool> allows it):');
  lines.push(...firstLines(withheld, toolsShown, withheldLine, '  '));
  return lines;
}

/** Lines about the tools that the submission test of the marketplace may call with an effect. */
export function submissionLines(calls: readonly SubmissionCall[]): readonly string[] {
  const writingCalls = calls.filter(({ writes }) => writes);
  const hiddenCount = writingCalls.length - toolsShown;
  const lines = writingCalls.slice(0, toolsShown).map((call) => {
    const { says: harm, fix } = submissionHarm(call);
    return `${call.tool} may change something: ${harm}. ${fix}`;
  });
  if (hiddenCount > 0) lines.push(`… and ${hiddenCount} more tools that may change something`);
  return lines;
}
