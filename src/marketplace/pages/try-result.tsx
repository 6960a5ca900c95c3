import type { CallReport } from '../core/caller.ts';
import type { Outcome } from '../core/verdict.ts';
import { JsonBlock, type Mark, Notice, Problems, SchemaCell, Text, Value } from '../web/parts.tsx';

const outcomes: { readonly [outcome in Outcome]: readonly [string, Mark] } = {
  found: ['data', 'pass'],
  empty: ['explicitly empty', 'pass'],
  'empty-unsigned': ['empty, no signal', 'advice'],
  fail: ['failure of the tool', 'advice'],
  refused: ['refused', 'none'],
  error: ['JSON-RPC error', 'fail'],
  'http-error': ['HTTP error', 'fail'],
  'no-answer': ['no answer', 'fail'],
};

const colours: { readonly [mark in Mark]: string } = {
  pass: 'good',
  advice: 'warn',
  fail: 'bad',
  none: '',
  running: '',
};

/** An outcome in two words. */
export function outcomeWords(outcome: Outcome): string {
  return outcomes[outcome][0];
}

/** The result of a tool call: the outcome, the verdict by the schema, and the data. */
export function Result({ report, curl }: { report: CallReport; curl: string | null }) {
  const { id, verdict, status, ms, result, error, expected } = report;
  const [words, mark] = outcomes[verdict.outcome];
  const problems = [verdict.text, verdict.structuredContent, verdict.same].flatMap((one) => one.problems);
  const value = result?.structuredContent ?? result?.content;
  return (
    <>
      {expected && (
        <Notice
          mark={expected.met ? 'pass' : 'fail'}
          title={expected.met ? 'The server answered correctly' : 'The server did not answer correctly'}
          lines={[`expected ${expected.what}`, `got ${expected.actual}`]}
        />
      )}
      <dl class="verdicts">
        <div>
          <dt>Outcome</dt>
          <dd class={colours[mark]}>{words}</dd>
        </div>
        <SchemaCell title="Text" verdict={verdict.text} />
        <SchemaCell title="structuredContent" verdict={verdict.structuredContent} />
        <SchemaCell title="Same data" verdict={verdict.same} />
        <div>
          <dt>HTTP status</dt>
          <dd>{status || '–'}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>{ms === null ? '–' : `${Math.round(ms)} ms`}</dd>
        </div>
      </dl>
      {problems.length > 0 && (
        <div class="notice fail" role="alert">
          <strong>The result does not match the outputSchema</strong>
          <Problems problems={problems} />
        </div>
      )}
      <div class="panel">
        <h2>Result</h2>
        {result ? (
          <Value value={value} />
        ) : (
          <Text text={typeof error === 'string' ? error : JSON.stringify(error, null, 2)} />
        )}
        {result && (
          <details>
            <summary>JSON</summary>
            <JsonBlock value={result} id="result-json" />
          </details>
        )}
        <div class="row">
          {curl && (
            <button type="button" data-copy="curl">
              Copy as curl
            </button>
          )}
          <a class="button" href={`/traffic/${id}`}>
            See the request
          </a>
          {result && !expected && (
            <>
              <form method="post" action="/try/save">
                <input type="hidden" name="tool" value={report.tool} />
                <input type="hidden" name="arguments" value={JSON.stringify(report.arguments)} />
                <input type="hidden" name="expect" value={exampleOf(verdict.outcome)} />
                <button type="submit">Save as example</button>
              </form>
              <form method="post" action="/disputes">
                <input type="hidden" name="call" value={String(id)} />
                <button type="submit">Dispute</button>
              </form>
            </>
          )}
        </div>
        {curl && (
          <details>
            <summary>curl</summary>
            <Text text={curl} id="curl" />
          </details>
        )}
      </div>
    </>
  );
}

function exampleOf(outcome: Outcome): string {
  if (outcome === 'fail') return 'fail';
  return outcome === 'found' ? 'found' : 'empty';
}
