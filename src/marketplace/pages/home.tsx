import { counted } from 'market-mcp-contract/command';
import { writingEffect } from 'market-mcp-contract/definition';
import { isObject, type Json, membersOf, requiredOf, typesOf } from 'market-mcp-contract/json';
import { isServing } from '../../dev/state.ts';
import { packageManagerOf } from '../../system/detect.ts';
import { defaultCategory } from '../core/listing-form.ts';
import type { Listing, MarketplaceOptions } from '../core/marketplace-model.ts';
import { pages } from '../web/layout.tsx';
import {
  CopyButton,
  Empty,
  FieldList,
  Head,
  Labelled,
  LinkButton,
  live,
  Notice,
  Tag,
  Text,
  visibleText,
} from '../web/parts.tsx';
import { EffectTag, OutcomeText, SourceLink } from '../web/references.tsx';
import { jsonPathOf, type Site } from '../web/site.tsx';

export function homeRoutes(site: Site): void {
  site.page('/', 'Your tools', () => homeOf(site), Home);
}

type Data = Awaited<ReturnType<typeof homeOf>>;

async function homeOf({ marketplace, lastCalls, checks }: Site) {
  const { endpoint = null, sources = new Map<string, string>(), check } = marketplace.options;
  const { listings } = await marketplace.store.read();
  const state = await marketplace.state();
  const ownListing = listings.find((listing) => listing.endpoint === endpoint);
  const read = await marketplace.readTools(endpoint);
  const healthy = endpoint !== null && read.problem === null && (await marketplace.isHealthy(endpoint));
  const stored = new Map(ownListing?.tools.filter(isObject).map((tool) => [tool.name, JSON.stringify(tool)]));
  const tools = read.tools.map(({ name, definition }) => {
    const storedDefinition = stored.get(name);
    let listed: keyof typeof listedMarks = 'changed';
    if (storedDefinition === undefined) listed = 'not listed';
    else if (storedDefinition === JSON.stringify(definition)) listed = 'listed';
    const source = sources.get(name) ?? null;
    const last = marketplace.traffic.get(lastCalls.get(name) ?? 0);
    return { name, definition, source, listed, lastOutcome: last?.outcome ?? null };
  });
  const last = await checks.last();
  return {
    endpoint,
    healthy,
    problem: state === null || isServing(state) ? read.problem : null,
    tools,
    listed: ownListing !== undefined,
    refreshNeeded:
      ownListing !== undefined &&
      read.problem === null &&
      (tools.some(({ listed }) => listed !== 'listed') || ownListing.tools.length !== tools.length),
    lastCheck: last?.report
      ? {
          ok: last.report.ok,
          isCurrent: last.isCurrent,
          passed: last.report.summary.passed,
          failed: last.report.summary.failed,
          notRun: last.report.summary.notRun,
          job: last.job.id,
        }
      : null,
    calls: lastCalls.size,
    goLive: goLiveOf(marketplace.options, ownListing),
    canCheck: check !== undefined,
    twins: Object.fromEntries(pages.map(([path, name]) => [name, jsonPathOf(path)])),
  };
}

/** What an author needs for the real marketplace: the command of the project, and the fields of the form. */
function goLiveOf({ directory, draft, profile }: MarketplaceOptions, listing: Listing | undefined) {
  const { name = '', description = '', category, price = '0.01' } = listing ?? draft ?? {};
  return {
    /** Null if there is no project. */
    command: draft ? packageManagerOf(directory).market : null,
    formUrl: profile.listing.url,
    form: { name, description, category: category ?? defaultCategory(profile.listing), price },
  };
}

function Home({ data }: { data: Data }) {
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
              <code>{visibleText(endpoint)}</code>
            </p>
          </div>
          <div class="cards">
            {tools.map((tool) => (
              <ToolCard tool={tool} />
            ))}
          </div>
        </section>
      )}
      {endpoint !== null && <GoLive data={data.goLive} />}
    </div>
  );
}

/** The steps after this rehearsal: deployment, the form of the marketplace, and its refresh after a change. */
function GoLive({ data: { command, formUrl, form } }: { data: Data['goLive'] }) {
  const formName = 'the form of the marketplace';
  return (
    <section class="stack" aria-labelledby="live">
      <h2 id="live">Go live</h2>
      <ol class="panel stack plain-list">
        <li class="stack tight">
          <StepTitle number={1} title="Deploy" />
          {command === null ? (
            <p>Run the server at a public https address that ends with /mcp.</p>
          ) : (
            <p>
              DEPLOY.md says how to run the server at a public https address.{' '}
              <code>{command} deploy add &lt;target&gt;</code> adds the files of a host, such as fly or
              compose.
            </p>
          )}
        </li>
        <li class="stack tight">
          <StepTitle number={2} title="Register" />
          <p>
            Copy the fields into {formUrl === null ? formName : <a href={formUrl}>{formName}</a>}. Its
            endpoint is the public address.
          </p>
          <CopiedField id="live-name" label="Name" value={form.name} />
          <CopiedField id="live-description" label="Description" value={form.description} />
          <CopiedField id="live-category" label="Category" value={form.category} />
          <CopiedField id="live-price" label="Price" value={form.price} />
          {command !== null && (
            <p class="soft small">
              <code>{command} listing</code> validates these fields, and writes the entry of the MCP registry.
            </p>
          )}
        </li>
        <li class="stack tight">
          <StepTitle number={3} title="Refresh Skills" />
          <p>
            Press it on the marketplace after each change of a tool. Until then, buyers see the old tools.
          </p>
        </li>
      </ol>
    </section>
  );
}

function StepTitle({ number, title }: { number: number; title: string }) {
  return (
    <b class="row">
      <span class="number" aria-hidden="true">
        {number}
      </span>
      {title}
    </b>
  );
}

function CopiedField({ id, label, value }: { id: string; label: string; value: string }) {
  if (value === '') return null;
  return (
    <div class="stack tight">
      <div class="row between">
        <span class="label small">{label}</span>
        <CopyButton of={id} label={`Copy ${label.toLowerCase()}`} />
      </div>
      <Text text={value} id={id} />
    </div>
  );
}

function NextSteps({ data }: { data: Data }) {
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
      text: listingText({ listed, refreshNeeded, healthy }),
      link: listed ? '/listings' : '/register',
    },
  ];
  // A change is never marked as done; its result is.
  const currentStep = steps.find(({ done }, index) => index > 0 && !done);
  return (
    <section aria-labelledby="next" class="stack">
      <h2 id="next">What to do next</h2>
      <ol class="next">
        {steps.map((step, index) => (
          <li class={`stack ${stepClass(step === currentStep, step.done)}`}>
            <b>
              <span class="number" aria-hidden="true">
                {step.done ? '✓' : index + 1}
              </span>
              {step.link ? <a href={step.link}>{step.title}</a> : step.title}
              {step.done && <span class="sr">, done</span>}
            </b>
            <span class="small">{visibleText(step.text)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function listingText({
  listed,
  refreshNeeded,
  healthy,
}: Pick<Data, 'listed' | 'refreshNeeded' | 'healthy'>): string {
  if (!listed) return 'Fill in the form, and see what the submission finds.';
  if (refreshNeeded) return 'Your tools have changed. Buyers still see the old ones.';
  if (healthy) return 'Listed. Buyers see what your server serves.';
  return 'Listed. Whether your tools have changed is not known until the server answers.';
}

function stepClass(isNext: boolean, isDone: boolean): string {
  if (isNext) return 'now';
  if (isDone) return 'done';
  return '';
}

function checkText(last: Data['lastCheck']): string {
  if (!last) return 'Run every rule of the contract.';
  if (!last.isCurrent) return 'Your tools have changed since the last check.';
  if (last.failed > 0) return `${counted(last.failed, 'rule')} failed.`;
  if (!last.ok) return 'The check is not decided.';
  return `${counted(last.passed, 'rule')} passed${last.notRun > 0 ? `, ${last.notRun} not run` : ''}.`;
}

const listedMarks = { listed: 'pass', changed: 'advice', 'not listed': 'none' } as const;

function ToolCard({
  tool: { name, definition, source, listed, lastOutcome },
}: {
  tool: Data['tools'][number];
}) {
  const { description, inputSchema, outputSchema } = definition;
  return (
    <article class="panel">
      <div class="row between">
        <h3 class="mono">{visibleText(name)}</h3>
        <span class="row">
          <EffectTag effect={writingEffect(definition)} />
          {lastOutcome && <OutcomeText of={lastOutcome} before="last call: " />}
          <Tag mark={listedMarks[listed]}>{listed}</Tag>
        </span>
      </div>
      <p>{visibleText(description)}</p>
      <div class="sides">
        <Labelled label="Takes">
          <Fields schema={inputSchema} none="no arguments" />
        </Labelled>
        <Labelled label="Returns">
          <Fields schema={outputSchema} none="nothing declared" />
        </Labelled>
      </div>
      <div class="row between">
        <LinkButton to={`/try?tool=${encodeURIComponent(name)}`} label={`Try ${visibleText(name)}`} />
        {source && <SourceLink at={source} />}
      </div>
    </article>
  );
}

const signals = new Set(['searchExhausted', 'noResultsReason', 'error', 'message']);

function Fields({ schema, none }: { schema: Json | undefined; none: string }) {
  const required = requiredOf(schema);
  const ownMembers = Object.entries(membersOf(schema)).filter(
    ([name]) => !signals.has(name) || required.includes(name),
  );
  if (ownMembers.length === 0) return <p class="soft small">{none}</p>;
  const list = (some: typeof ownMembers) => (
    <FieldList
      fields={Object.fromEntries(
        some.map(([name, property]) => [
          visibleText(name),
          visibleText(inBrief(property, required.includes(name))),
        ]),
      )}
    />
  );
  return (
    <>
      {list(ownMembers.slice(0, shownFields))}
      {ownMembers.length > shownFields && (
        <details class="small">
          <summary>{counted(ownMembers.length - shownFields, 'more field')}</summary>
          {list(ownMembers.slice(shownFields))}
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
