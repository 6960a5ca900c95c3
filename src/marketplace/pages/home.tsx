import { writingEffect } from '../../contract/effect.ts';
import { isObject } from '../../contract/json.ts';
import type { Json } from '../../contract/model.ts';
import { membersOf, requiredOf, typesOf } from '../../contract/schema/keywords.ts';
import { counted } from '../../model/text.ts';
import type { ExchangeOutcome } from '../core/outcome.ts';
import type { NamedTool } from '../core/registration.ts';
import { Empty, FieldList, Head, Labelled, LinkButton, live, Notice, shown, Tag } from '../web/parts.tsx';
import { EffectTag, SourceLink } from '../web/references.tsx';
import { Outcome } from './outcome.tsx';

/** A summary of one tool of the author's server. */
export interface ToolView extends NamedTool {
  /** Path of its source in the project. */
  readonly source: string | null;
  /** Its state in the listing. */
  readonly listed: 'listed' | 'changed' | 'not listed';
  /** How its last call ended. */
  readonly lastOutcome: ExchangeOutcome | null;
}

export interface HomeData {
  readonly endpoint: string | null;
  readonly healthy: boolean;
  readonly problem: string | null;
  readonly tools: readonly ToolView[];
  readonly listed: boolean;
  readonly refreshNeeded: boolean;
  readonly lastCheck: {
    readonly ok: boolean;
    /** Whether the tools are still those that it has judged. */
    readonly isCurrent: boolean;
    readonly passed: number;
    readonly failed: number;
    readonly notRun: number;
    readonly job: string;
  } | null;
  readonly calls: number;
  readonly canCheck: boolean;
  /** URLs of the tool list and of every page as JSON. */
  readonly twins: { readonly [page: string]: string };
}

export function Home({ data }: { data: HomeData }) {
  const { endpoint, healthy, problem, tools } = data;
  return (
    <div class="whole" {...live('home', '/', 'server', 'calls', 'check', 'listings')}>
      <Head title="Your tools">
        The marketplace as your server will meet it: try, check and register before anything is at stake.
      </Head>
      {endpoint === null && (
        <Empty title="No server is known yet" register="Register a server">
          Run this in your project, or start it with <code>--endpoint http://localhost:3000/mcp</code>. You
          can also register any server.
        </Empty>
      )}
      {problem !== null && (
        <Notice mark="fail" title={`The server does not answer at ${endpoint}`} lines={[problem]} />
      )}
      {endpoint !== null && <NextSteps data={data} />}
      {tools.length > 0 && (
        <section class="stack" aria-labelledby="tools">
          <div class="row between">
            <h2 id="tools">
              {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
            </h2>
            <p class="row small soft">
              <Tag mark={healthy ? 'pass' : 'fail'}>{healthy ? 'healthy' : 'no answer'}</Tag>
              <code>{shown(endpoint)}</code>
            </p>
          </div>
          <div class="cards">
            {tools.map((tool) => (
              <ToolCard tool={tool} />
            ))}
          </div>
        </section>
      )}
    </div>
  );
}

function NextSteps({ data }: { data: HomeData }) {
  const { tools, calls, lastCheck, listed, refreshNeeded, canCheck, healthy } = data;
  const source = tools.find((tool) => tool.source !== null)?.source;
  const steps = [
    {
      title: 'Change',
      done: false,
      text: source
        ? `Edit ${source}. The server restarts when you save.`
        : `Edit your tools${canCheck ? '. The server restarts when you save.' : ' and restart the server.'}`,
      link: null,
    },
    {
      title: 'Try',
      done: calls > 0,
      text: 'Call a tool as a paying caller, and as one who does not pay.',
      link: '/try',
    },
    {
      title: 'Check',
      done: lastCheck?.ok === true && lastCheck.isCurrent,
      text: checkText(lastCheck),
      link: canCheck ? '/check' : null,
    },
    {
      title: listed ? 'Refresh Skills' : 'Register',
      done: listed && !refreshNeeded && healthy,
      text: listed
        ? refreshNeeded
          ? 'Your tools have changed. Buyers still see the old ones.'
          : healthy
            ? 'Listed. Buyers see what your server serves.'
            : 'Listed. Whether your tools have changed is not known until the server answers.'
        : 'Fill in the form, and see what the submission finds.',
      link: listed ? '/listings' : '/register',
    },
  ];
  // A change is never marked as done; its result is.
  const now = steps.find(({ done }, index) => index > 0 && !done);
  return (
    <section aria-labelledby="next" class="stack">
      <h2 id="next">What to do next</h2>
      <ol class="next">
        {steps.map((step, index) => (
          <li class={step === now ? 'now' : step.done ? 'done' : ''}>
            <b>
              <span class="number" aria-hidden="true">
                {step.done ? '✓' : index + 1}
              </span>
              {step.link ? <a href={step.link}>{step.title}</a> : step.title}
              {step.done && <span class="sr">, done</span>}
            </b>
            <span class="small">{shown(step.text)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function checkText(last: HomeData['lastCheck']): string {
  if (!last) return 'Run every rule of the contract.';
  if (!last.isCurrent) return 'Your tools have changed since the last check.';
  if (!last.ok) return last.failed > 0 ? `${counted(last.failed, 'rule')} failed.` : 'The check failed.';
  return `${counted(last.passed, 'rule')} passed${last.notRun > 0 ? `, ${last.notRun} not run` : ''}.`;
}

const listedMarks = { listed: 'pass', changed: 'advice', 'not listed': 'none' } as const;

function ToolCard({ tool: { name, definition, source, listed, lastOutcome } }: { tool: ToolView }) {
  const { description, inputSchema, outputSchema } = definition;
  return (
    <article class="panel">
      <div class="row between">
        <h3 class="mono">{shown(name)}</h3>
        <span class="row">
          <EffectTag effect={writingEffect(definition)} />
          {lastOutcome && <Outcome of={lastOutcome} before="last call: " />}
          <Tag mark={listedMarks[listed]}>{listed}</Tag>
        </span>
      </div>
      <p>{shown(description)}</p>
      <div class="sides">
        <Labelled label="Takes">
          <Fields schema={inputSchema} none="no arguments" />
        </Labelled>
        <Labelled label="Returns">
          <Fields schema={outputSchema} none="nothing declared" />
        </Labelled>
      </div>
      <div class="row between">
        <LinkButton to={`/try?tool=${encodeURIComponent(name)}`} label={`Try ${shown(name)}`} />
        {source && <SourceLink at={source} />}
      </div>
    </article>
  );
}

const signals = new Set(['searchExhausted', 'noResultsReason', 'error', 'message']);

function Fields({ schema, none }: { schema: Json | undefined; none: string }) {
  const required = requiredOf(schema);
  const own = Object.entries(membersOf(schema)).filter(
    ([name]) => !signals.has(name) || required.includes(name),
  );
  if (own.length === 0) return <p class="soft small">{none}</p>;
  const list = (some: typeof own) => (
    <FieldList
      fields={Object.fromEntries(
        some.map(([name, property]) => [shown(name), shown(inBrief(property, required.includes(name)))]),
      )}
    />
  );
  return (
    <>
      {list(own.slice(0, shownFields))}
      {own.length > shownFields && (
        <details class="small">
          <summary>{counted(own.length - shownFields, 'more field')}</summary>
          {list(own.slice(shownFields))}
        </details>
      )}
    </>
  );
}

const shownFields = 10;

function inBrief(property: Json, required: boolean): string {
  if (!isObject(property)) return 'any value';
  const types = typesOf(property).map(String).join(' or ') || 'any type';
  const sample = property.default !== undefined ? ` = ${JSON.stringify(property.default)}` : '';
  return `${types}${sample}${required ? '' : ', optional'}`;
}
