import { isObject } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import type { CallReport } from '../core/caller.ts';
import { type UnhappyWay, unhappyWays } from '../core/unhappy.ts';
import type { Outcome } from '../core/verdict.ts';
import {
  Csrf,
  Head,
  JsonBlock,
  type Mark,
  Notice,
  Problems,
  SchemaCell,
  shown,
  Text,
  Value,
} from '../web/parts.tsx';

export interface TryData {
  readonly endpoint: string | null;
  readonly tools: readonly { readonly name: string; readonly definition: JsonObject }[];
  readonly selected: string | null;
  /** What the form is filled with. */
  readonly arguments: JsonObject;
  readonly unhappy: UnhappyWay | null;
  readonly examples: readonly { readonly arguments: JsonObject; readonly expect: string }[];
  readonly problem: string | null;
  readonly report: CallReport | null;
  readonly curl: string | null;
}

export function Try({ data, csrf }: { data: TryData; csrf: string }) {
  const { endpoint, tools, selected, problem, report } = data;
  const tool = tools.find(({ name }) => name === selected) ?? tools[0];
  return (
    <>
      <Head title="Try it">
        {endpoint ? (
          <>
            Calls <code>{shown(endpoint)}</code> as the platform does, with a token that this marketplace
            signs.
          </>
        ) : (
          'Calls a tool as the platform does, once a server is known.'
        )}
      </Head>
      {problem && <Notice mark="fail" title="The call could not be made" lines={[problem]} />}
      {!tool && (
        <Notice
          mark="advice"
          title="There is no tool to call"
          lines={['Start the server with npm run dev, or register one.']}
        />
      )}
      {tool && endpoint && (
        <div class="split">
          <section class="panel" aria-label="The call">
            <form method="get" action="/try" class="stack">
              <label>
                <span>Tool</span>
                <select name="tool" data-go>
                  {tools.map(({ name }) => (
                    <option value={name} selected={name === tool.name}>
                      {shown(name)}
                    </option>
                  ))}
                </select>
              </label>
              <noscript>
                <button type="submit">Choose</button>
              </noscript>
            </form>
            <p class="soft small">{shown(tool.definition.description)}</p>
            <CallForm data={data} tool={tool} csrf={csrf} />
          </section>
          <section class="stack" aria-label="The result" aria-live="polite">
            {report ? (
              <Result data={data} report={report} csrf={csrf} />
            ) : (
              <div class="panel empty">
                <h2>No call yet</h2>
                <p class="soft">The result appears here: as a table, as JSON, and judged by the schema.</p>
              </div>
            )}
          </section>
        </div>
      )}
    </>
  );
}

function CallForm({ data, tool, csrf }: { data: TryData; tool: TryData['tools'][number]; csrf: string }) {
  const { inputSchema } = tool.definition;
  const properties = isObject(inputSchema) && isObject(inputSchema.properties) ? inputSchema.properties : {};
  const required = isObject(inputSchema) && Array.isArray(inputSchema.required) ? inputSchema.required : [];
  return (
    <>
      <form method="post" action="/try" class="stack">
        <Csrf token={csrf} />
        <input type="hidden" name="tool" value={tool.name} />
        {Object.entries(properties).map(([name, property]) => (
          <Field
            name={name}
            schema={isObject(property) ? property : {}}
            value={Object.hasOwn(data.arguments, name) ? data.arguments[name] : undefined}
            required={required.includes(name)}
          />
        ))}
        {Object.keys(properties).length === 0 && <p class="soft">This tool takes no arguments.</p>}
        <details>
          <summary>Send other JSON instead</summary>
          <label>
            <span>Arguments as JSON</span>
            <span class="hint">
              Used instead of the fields when it is not empty, even where it does not fit.
            </span>
            <textarea name="json" spellcheck={false} />
          </label>
        </details>
        <label>
          <span>Call as</span>
          <select name="unhappy">
            <option value="">A paying caller</option>
            {Object.entries(unhappyWays).map(([way, title]) => (
              <option value={way} selected={way === data.unhappy}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <span class="hint">
          The contract does not show how a token looks: header, claims and lifetime are those of the profile.
        </span>
        <button type="submit" class="primary">
          Call {shown(tool.name)}
        </button>
      </form>
      {data.examples.length > 0 && (
        <div class="stack tight">
          <span class="label small">Saved examples</span>
          <ul>
            {data.examples.map((example) => (
              <li>
                <a
                  href={`/try?tool=${encodeURIComponent(tool.name)}&arguments=${encodeURIComponent(JSON.stringify(example.arguments))}`}
                >
                  {shown(JSON.stringify(example.arguments))}
                </a>{' '}
                <span class="soft small">expects {example.expect}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly value: Json | undefined;
  readonly required: boolean;
}

function Field({ name, schema, value, required }: FieldProps) {
  const field = `arg.${name}`;
  return (
    <label for={field}>
      <span>
        <code>{shown(name)}</code> {required ? '' : <span class="hint">optional</span>}
      </span>
      {typeof schema.description === 'string' && <span class="hint">{shown(schema.description)}</span>}
      <Control field={field} schema={schema} value={value} required={required} />
    </label>
  );
}

function Control({ field, schema, value, required }: Omit<FieldProps, 'name'> & { field: string }) {
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const choices = Array.isArray(schema.enum)
    ? schema.enum
    : schema.type === 'boolean'
      ? [true, false]
      : undefined;
  if (choices) {
    return (
      <select name={field} id={field}>
        {!required && <option value="">(not sent)</option>}
        {choices.map((choice) => {
          const told = typeof choice === 'string' ? choice : JSON.stringify(choice);
          return (
            <option value={told} selected={told === text}>
              {shown(told)}
            </option>
          );
        })}
      </select>
    );
  }
  if (schema.type === 'number' || schema.type === 'integer') {
    return <input name={field} id={field} inputmode="decimal" value={text} />;
  }
  if (schema.type === 'array' || schema.type === 'object' || schema.type === undefined) {
    return <textarea name={field} id={field} spellcheck={false}>{`\n${text}`}</textarea>;
  }
  return <input name={field} id={field} value={text} spellcheck={false} />;
}

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

/** What a call came to, in two words. */
export function outcomeWords(outcome: Outcome): string {
  return outcomes[outcome][0];
}

function Result({ data, report, csrf }: { data: TryData; report: CallReport; csrf: string }) {
  const { id, verdict, status, ms, result, error, expected } = report;
  const [words, mark] = outcomes[verdict.outcome];
  const problems = [verdict.text, verdict.structuredContent, verdict.same].flatMap((one) => one.problems);
  const value = result?.structuredContent ?? result?.content;
  return (
    <>
      {expected && (
        <Notice
          mark={expected.met ? 'pass' : 'fail'}
          title={expected.met ? 'The server answered as it must' : 'The server did not answer as it must'}
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
          {data.curl && (
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
                <Csrf token={csrf} />
                <input type="hidden" name="tool" value={report.tool} />
                <input type="hidden" name="arguments" value={JSON.stringify(report.arguments)} />
                <input type="hidden" name="expect" value={exampleOf(verdict.outcome)} />
                <button type="submit">Save as example</button>
              </form>
              <form method="post" action="/disputes">
                <Csrf token={csrf} />
                <input type="hidden" name="call" value={String(id)} />
                <button type="submit">Dispute</button>
              </form>
            </>
          )}
        </div>
        {data.curl && (
          <details>
            <summary>curl</summary>
            <Text text={data.curl} id="curl" />
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
