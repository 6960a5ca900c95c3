import type { CallReport } from '../core/caller.ts';
import type { Outcome } from '../core/verdict.ts';
import {
  CopyButton,
  Fact,
  LinkButton,
  type Mark,
  Notice,
  PostButton,
  Problems,
  SchemaCell,
  Text,
  Value,
} from '../web/parts.tsx';
import { Why } from './cause.tsx';

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

/** The result of a tool call: the outcome, the verdict by the schema, and the data. */
export function CallResult({ report, curl }: { report: CallReport; curl: string | null }) {
  const { id, verdict, status, ms, result, error, expected, cause } = report;
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
        <Fact title="Outcome" mark={mark} value={words} />
        <SchemaCell title="Text" verdict={verdict.text} />
        <SchemaCell title="structuredContent" verdict={verdict.structuredContent} />
        <SchemaCell title="Same data" verdict={verdict.same} />
        <Fact title="HTTP status" value={status || '–'} />
        <Fact title="Time" value={ms === null ? '–' : `${Math.round(ms)} ms`} />
      </dl>
      {problems.length > 0 && (
        <div class="notice fail" role="alert">
          <strong>The result does not match the outputSchema</strong>
          <Problems problems={problems} />
        </div>
      )}
      {cause && <Why cause={cause} />}
      <div class="panel">
        <h2>Result</h2>
        {result ? (
          <>
            <Value value={value} />
            <details>
              <summary>JSON</summary>
              <Text text={JSON.stringify(result, null, 2)} id="result-json" />
            </details>
          </>
        ) : (
          <Text text={typeof error === 'string' ? error : JSON.stringify(error, null, 2)} />
        )}
        <div class="row">
          {curl && <CopyButton of="curl" label="Copy as curl" />}
          <LinkButton to={`/traffic/${id}`} label="See the request" />
          {result && !expected && (
            <>
              <PostButton
                to="/try/save"
                fields={{
                  tool: report.tool,
                  arguments: JSON.stringify(report.arguments),
                  expect: exampleOf(verdict.outcome),
                }}
                label="Save as example"
              />
              <PostButton to="/disputes" fields={{ call: String(id) }} label="Dispute" />
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
