import type { SourceAnswer } from '../../check/logged.ts';

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
      ? `The check made ${sent} ${sent === 1 ? 'request' : 'requests'} to APIs; equal requests are made once.`
      : `${answers.length} answers of APIs came from test/recordings/; --live calls the real APIs.`,
    ...[...counts].sort().map(([line, count]) => `${line}, ${count} ${count === 1 ? 'time' : 'times'}`),
    ...(hasExamples ? ['  npm run record replaces examples by real answers of the API.'] : []),
  ];
}
