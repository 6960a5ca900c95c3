import { speaksAny } from '../wire/controls.ts';
import type { Property } from '../wire/ledger.ts';
import { type LiveRule, must, should } from './rule.ts';

/** Properties of everything that the server said in a run, whatever was asked. */
export const answerRules: readonly LiveRule[] = [
  always('utf8', {
    ...must('answers.utf8', 'C§4; RFC 8259 §8.1'),
    title: 'every JSON answer is UTF-8 without a byte order mark',
    fix: 'Write the bytes of JSON.stringify(…) as UTF-8, and declare their number, not that of the characters.',
  }),
  always('type', {
    ...must('answers.type', 'C§4; MCP 2025-06-18, transports'),
    title: 'every JSON-RPC answer is declared as JSON or as events',
    fix: 'Set Content-Type: application/json, or text/event-stream for events.',
  }),
  always('numbers', {
    ...must('answers.numbers', 'C§2.2; RFC 8259 §6'),
    title: 'every number in an answer is one that a double holds',
    fix: 'Send a number beyond 1.7e308 as text, or null.',
  }),
  always('surrogates', {
    ...should('answers.surrogates', 'RFC 8259 §8.2'),
    title: 'no text in an answer contains half of a surrogate pair',
    fix: 'Cut texts between characters, not within: [...text].slice(0, n).join("").',
  }),
  always('secrets', {
    ...should('answers.no-secrets', 'OWASP, error handling'),
    title: 'no answer contains what looks like a key',
    fix: 'Write your own message for a failed request: the URL of an API contains its key.',
  }),
];

/** A rule about all answers of an MCP server, judged when the others have been. */
function always(property: Property, text: Omit<LiveRule, 'check'>): LiveRule {
  return {
    ...text,
    turn: 'last',
    controls: [speaksAny],
    check: async (probe) => probe.ledger.problemsOf(property),
  };
}
