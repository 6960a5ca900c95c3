import { calledLine } from '../../check/built.ts';
import type { SourceAnswer } from '../../check/logged.ts';
import type { HeldServer } from '../../check/project.ts';
import { type SubmissionCall, submissionHarm } from '../../contract/probe/safety.ts';
import { asOperand } from '../../model/shell.ts';
import { counted } from '../../model/text.ts';
import { replayFlags } from '../../questions/model.ts';
import { marketCommand } from '../../system/command-line.ts';
import { type CheckFlags, checkFlags } from './options.ts';

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
  const sent = answers.filter(({ from }) => from === 'network').length;
  const hasExamples = answers.some(({ from }) => from === 'document');
  return [
    sent > 0
      ? `The check made ${counted(sent, 'request')} to APIs; equal requests are made once.`
      : `${answers.length} answers of APIs came from test/recordings/; --live calls the real APIs.`,
    ...[...counts].sort().map(([line, count]) => `${line}, ${counted(count, 'time')}`),
    ...(hasExamples ? [`  ${marketCommand('record')} replaces examples by real answers of the API.`] : []),
  ];
}

/** Lines that name the calls that were made for real although they may change something, and the tools without such calls. */
export function realLines(
  { called, withheld }: HeldServer['real'] = { called: [], withheld: [] },
): readonly string[] {
  const names = withheld.join(', ');
  return [
    ...called.map((one) => `Called for real, once: ${calledLine(one)}`),
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
    'These calls may change something and have no recording, so they were not judged:',
    ...calls.map((call) => `  ${call}`),
    `  ${marketCommand('record', '--call', '<tool>')} makes them for real, each once. ${byHand}`,
  ];
}

/** The most calls that are named. */
const maxNamed = 20;

/** Lines that name what the submission test of the marketplace may change. */
export function submissionLines(calls: readonly SubmissionCall[]): readonly string[] {
  const writing = calls.filter(({ writes }) => writes);
  const more = writing.length - maxNamed;
  return [
    ...writing.slice(0, maxNamed).map((call) => {
      const { says, fix } = submissionHarm(call);
      return `${call.tool} may change something: ${says}. ${fix}`;
    }),
    ...(more > 0 ? [`… and ${more} more tools that may change something`] : []),
  ];
}

/** The line that advises authors of tools that write against replays. */
export function replayLines(calls: readonly SubmissionCall[]): readonly string[] {
  const writing = calls.filter(({ writes }) => writes).map(({ tool }) => tool);
  if (writing.length === 0) return [];
  const more = writing.length - maxNamed;
  const names = [...writing.slice(0, maxNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return [
    `So that nobody runs a call twice with a token that was used, deploy with TOKEN_ONCE=strict and STATE_URL (${names} may change something). It needs a platform that gives each call a token of its own.`,
  ];
}

const repeated = [
  'platform',
  'signingKey',
  'issuer',
  'audience',
  'call',
  'examples',
  'timeout',
  'era',
] as const;

/**
 * The command line that repeats some rules of a check with the same flags. Secrets are left to the shell:
 * a token is printed as "$TOKEN".
 */
export function rerunCommand(
  target: string | undefined,
  flags: CheckFlags,
  rules: readonly string[],
): string {
  const { signingKey, token, header } = flags;
  const isText = signingKey?.includes('-----BEGIN') === true;
  const shown = isText ? { ...flags, signingKey: undefined } : flags;
  const line = marketCommand(
    'check',
    ...(target === undefined ? [] : [asOperand(target)]),
    '--only',
    rules.join(','),
    ...replayFlags(checkFlags, shown, [...repeated, 'level', 'requireAll']),
  );
  const secrets = [
    ...(token === undefined ? [] : ['--token "$TOKEN"']),
    ...(isText ? ['--signing-key "$SIGNING_KEY"'] : []),
    ...header.map((one) => `--header "${/^[\w-]*/.exec(one)?.[0]}: $VALUE"`),
  ];
  return [line, ...secrets].join(' ');
}
