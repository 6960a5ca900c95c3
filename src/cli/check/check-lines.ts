import { counted } from 'market-mcp-contract/command';
import type { SubmissionCall } from 'market-mcp-contract/wire';
import type { ServerToCheck } from '../../check/check-project.ts';
import type { SourceAnswer } from '../../check/log-events.ts';
import { calledLines } from '../../check/read-built-project.ts';
import { marketCommand } from '../../system/command-line.ts';

const origins = {
  network: 'answered by the API',
  recorded: 'recorded from the API',
  document: "examples of the API's document",
} as const;

/**
 * Lines that name the sources of the tools' answers: the number of requests, or the recordings.
 * Empty if no tool calls an API.
 */
export function answerLines(answers: readonly SourceAnswer[]): readonly string[] {
  if (answers.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { from, request } of answers) {
    const line = `  ${request}: ${origins[from]}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const sentCount = answers.filter(({ from }) => from === 'network').length;
  const hasExamples = answers.some(({ from }) => from === 'document');
  return [
    sentCount > 0
      ? `The check made ${counted(sentCount, 'request')} to APIs; equal requests are made once.`
      : `${answers.length} answers of APIs came from test/recordings/; --live calls the real APIs.`,
    ...[...counts].sort().map(([line, count]) => `${line}, ${counted(count, 'time')}`),
    ...(hasExamples ? [`  ${marketCommand('record')} replaces examples by real answers of the API.`] : []),
  ];
}

/** Lines that name the calls that were made for real although they may change something, and the tools without such calls. */
export function realLines(
  { called, withheld }: ServerToCheck['real'] = { called: [], withheld: [] },
): readonly string[] {
  const names = withheld.join(', ');
  return [
    ...called.flatMap(calledLines).map((line) => `Called for real, once: ${line}`),
    ...(withheld.length === 0
      ? []
      : [
          `A call may change something, so these tools answered from recordings: ${names}. --call <tool> calls each example once, for real.`,
        ]),
  ];
}

/** How an author makes a recording without a real call. */
export const byHand =
  'By hand, a recording is {"request": …, "status": 200, "body": …, "from": "recorded"} in the list of a file in test/recordings/; the unit tests print the missing request and its file.';

/** Lines that name the calls of writing tools without a recording, and how to make one. */
export function unrecordedLines(calls: readonly string[]): readonly string[] {
  if (calls.length === 0) return [];
  return [
    'These calls may change something and have no recording, so they were not checked:',
    ...calls.map((call) => `  ${call}`),
    `  ${marketCommand('record', '--call', '<tool>')} makes them for real, each once. ${byHand}`,
  ];
}

/** The maximum number of names in the advice. */
const maxNamed = 20;

/** The line that advises authors of tools that write against replays. */
export function replayLines(calls: readonly SubmissionCall[]): readonly string[] {
  const writing = calls.filter(({ writes }) => writes).map(({ tool }) => tool);
  if (writing.length === 0) return [];
  const restCount = writing.length - maxNamed;
  const names = [...writing.slice(0, maxNamed), ...(restCount > 0 ? [`${restCount} more`] : [])].join(', ');
  return [
    `So that nobody runs a call twice with a token that was used, deploy with TOKEN_ONCE=strict and STATE_URL (${names} may change something). It needs a platform that gives each call a token of its own.`,
  ];
}
