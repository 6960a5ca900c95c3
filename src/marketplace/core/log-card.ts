import { shorten } from 'market-mcp-contract/json';
import { type AskEnding, type AskRun, thresholds } from './ask.ts';
import type { BuyerTool } from './model.ts';
import { redactValue } from './redact.ts';

/** One part of a developer log card (contract, appendix). */
export interface CardPart {
  readonly title: string;
  readonly lines: readonly string[];
}

const endings: { readonly [ending in AskEnding]: string } = {
  answered: 'Answered from the evidence gathered.',
  'explicit-empty': 'Bounded answer: the tool says explicitly that nothing was found.',
  'fan-out': 'Bounded answer: repeated calls of the same endpoint gave no evidence.',
  'upstream-abort': 'Bounded answer: the server did not answer.',
  'capability-miss': 'Bounded answer: no available tool satisfied the request.',
  'call-limit': 'Bounded answer: the limit of calls for one turn was reached.',
};

/** The developer log card of a run, with the parts in the order of the contract's appendix. */
export function logCard(
  { question, ranking, selected, calls, ending, ms }: AskRun,
  tools: readonly BuyerTool[],
): readonly CardPart[] {
  const endpoints = new Set(tools.map(({ endpoint }) => endpoint));
  const images = calls.flatMap(({ report, tool }) =>
    JSON.stringify(report.result ?? {}).includes('data:image/') ? [`${tool}: a data: image`] : [],
  );
  const answers = calls.filter(({ report }) => report.verdict.outcome === 'found').at(-1);
  const final = answers ? shorten(answers.report.result?.structuredContent, 600) : '';
  const limits = Object.entries(thresholds).map(([name, value]) => `${name} ${value}`);
  const parts: { readonly [title: string]: readonly string[] } = {
    'User question': [question.question || '(none)'],
    'Execution summary': [
      `mode ${question.mode} · success ${ending === 'answered'} · ${selected.length} steps · ${calls.length} MCP calls · ${ms} ms`,
      `thresholds: ${limits.join(', ')}`,
    ],
    'Orchestration selection':
      selected.length > 0 ? selected.map((name, i) => `${i + 1}. ${name}`) : ['no tool was selected'],
    'Planner query': [
      question.mode === 'manual'
        ? 'none: the user picked the tools'
        : "lexical: the share of the question's words in name (double) and description; no model is asked",
    ],
    'Tool-registry diagnostics': [
      `${tools.length} tools of ${endpoints.size} endpoints, as stored at the last listing or refresh`,
      ...ranking.map(({ tool, score, words, excluded }) => {
        const why = excluded ? `excluded: ${excluded}` : words.join(', ');
        return `${score.toFixed(2)} ${tool}${why && ` (${why})`}`;
      }),
    ],
    'Tool call history': calls.map(({ tool, report }) => {
      const answer = report.result?.structuredContent ?? report.error;
      return `${tool}(${shorten(redactValue(report.arguments), 200)}) → ${shorten(answer, 300)}`;
    }),
    'Execution trace': calls.map(({ tool, attempt, decision }) => `${tool} #${attempt}: ${decision}`),
    'Verification results': calls.map(({ tool, report: { verdict } }) => {
      const { outcome, text, structuredContent, same } = verdict;
      return `${tool}: ${outcome}; text ${text.status}, structuredContent ${structuredContent.status}, same data ${same.status}`;
    }),
    'Handshake note': ['none: this emulator signs and approves nothing, so the loop never pauses'],
    'Sandbox image artifacts': images,
    'Final result': [endings[ending], ...(final === '' ? [] : [final])],
  };
  return Object.entries(parts).map(([title, lines]) => ({
    title,
    lines: lines.length > 0 ? lines : ['none'],
  }));
}

/** The card as text, for "Copy all". */
export function cardText(parts: readonly CardPart[]): string {
  return parts.map(({ title, lines }) => `## ${title}\n${lines.join('\n')}`).join('\n\n');
}
