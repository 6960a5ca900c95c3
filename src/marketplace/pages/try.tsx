import { CommandError } from 'market-mcp-contract/command';
import { writingEffect } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, propertiesOf } from 'market-mcp-contract/json';
import { curlCommands } from '../../dev/curl-commands.ts';
import { isServing } from '../../dev/state.ts';
import type { CallOutcome, SchemaVerdict } from '../core/call-verdict.ts';
import type { CallReport } from '../core/caller.ts';
import type { Marketplace } from '../core/marketplace.ts';
import type { DeliberateError } from '../core/marketplace-model.ts';
import { authorEndpoint, callAsPlatform } from '../core/tool-call.ts';
import { argumentsOf, canFillIn, inputText, parseJsonField } from '../web/form-input.ts';
import {
  ChoiceField,
  CopyButton,
  Empty,
  Fact,
  Head,
  LinkButton,
  live,
  type Mark,
  Notice,
  PostButton,
  Problems,
  Text,
  Value,
  visibleText,
} from '../web/parts.tsx';
import { EffectTag, Why, withEffect } from '../web/references.tsx';
import type { FormInput } from '../web/security.ts';
import type { Done, Site } from '../web/site.tsx';
import { CallForm } from './try-form.tsx';

export function tryRoutes(site: Site): void {
  const { marketplace, lastCalls } = site;
  site.page(
    '/try',
    'Try it',
    async (c) => {
      const { tool = null, arguments: givenArguments } = c.req.query();
      return tryData(
        marketplace,
        tool,
        givenArguments === undefined ? undefined : parseJsonField(givenArguments, 'arguments'),
      );
    },
    Try,
  );
  site.post('/try', async (input): Promise<Done> => {
    const report = await callFrom(marketplace, input);
    lastCalls.set(report.tool, report.id);
    marketplace.emit('change', 'calls');
    const view = async () => <Try data={await callData(marketplace, report)} />;
    return { data: report, title: 'Try it', view };
  });
  site.post('/try/save', async (input): Promise<Done> => {
    const endpoint = await authorEndpoint(marketplace);
    const args = parseJsonField(inputText(input, 'arguments'), 'arguments');
    const expect = inputText(input, 'expect');
    const tool = inputText(input, 'tool');
    if (!isObject(args) || (expect !== 'found' && expect !== 'empty' && expect !== 'fail')) {
      const message = 'an example needs arguments (a JSON object) and an expected outcome';
      throw new CommandError('BAD_EXAMPLE', message, 'Set expect to found, empty or fail.');
    }
    await marketplace.saveExample({ endpoint, tool, arguments: args, expect });
    return { data: { tool, arguments: args, expect }, to: `/try?tool=${encodeURIComponent(tool)}` };
  });
}

type Data = Awaited<ReturnType<typeof tryData>>;

function Try({ data }: { data: Data }) {
  const { endpoint, tools, selected, problem, report, state } = data;
  const tool = tools.find(({ name }) => name === selected) ?? tools[0];
  const url = `/try${tool ? `?tool=${encodeURIComponent(tool.name)}` : ''}`;
  return (
    <div class="whole" {...(tool ? { id: 'try' } : live('try', url, 'server'))}>
      <Head title="Try it">
        {endpoint ? (
          <>
            Calls <code>{visibleText(endpoint)}</code> as the platform does, with a token that this
            marketplace signs.
          </>
        ) : (
          'Calls a tool as the platform does, once a server is known.'
        )}
      </Head>
      {problem && <Notice mark="fail" title="The call could not be made" lines={[problem]} />}
      {!tool && (state === null || isServing(state)) && (
        <Notice
          mark="advice"
          title="There is no tool to call"
          lines={[endpoint ? 'Its tools/list is empty or was not read.' : 'Register a server.']}
        />
      )}
      {tool && endpoint && (
        <div class="split">
          <section class="panel" aria-label="The call" {...live('call', url, 'server')}>
            <form method="get" action="/try" class="stack">
              <label>
                <span>Tool</span>
                <select name="tool" data-go>
                  {tools.map(({ name, definition }) => (
                    <ChoiceField value={name} now={tool.name} text={withEffect(name, definition)} />
                  ))}
                </select>
              </label>
              <noscript>
                <button type="submit">Choose</button>
              </noscript>
            </form>
            <p class="soft small">
              <EffectTag effect={writingEffect(tool.definition)} /> {visibleText(tool.definition.description)}
            </p>
            <CallForm data={data} tool={tool} />
          </section>
          <section class="stack" aria-label="The result" aria-live="polite" id="answer">
            {report ? (
              <CallResult report={report} curl={data.curl} canDispute={data.canDispute} />
            ) : (
              <Empty title="No call yet">
                The result appears here: as a table, as JSON, and judged by the schema.
              </Empty>
            )}
          </section>
        </div>
      )}
    </div>
  );
}

async function tryData(marketplace: Marketplace, selected: string | null, givenArguments?: Json) {
  const endpoint = await authorEndpoint(marketplace).catch(() => null);
  const [state, { tools, problem }] = await Promise.all([
    marketplace.state(),
    marketplace.readTools(endpoint),
  ]);
  const tool = tools.find(({ name }) => name === selected) ?? tools[0];
  const { examples } = await marketplace.store.read();
  return {
    endpoint,
    tools,
    selected: tool?.name ?? null,
    arguments: isObject(givenArguments) ? givenArguments : formArguments(marketplace, tool?.definition),
    json:
      givenArguments === undefined || canFillIn(givenArguments, tool?.definition.inputSchema)
        ? null
        : givenArguments,
    deliberate: null as DeliberateError | null,
    examples: examples.filter((example) => example.endpoint === endpoint && example.tool === tool?.name),
    problem: state === null || isServing(state) ? problem : null,
    state,
    report: null as CallReport | null,
    curl: null as string | null,
    canDispute: false,
  };
}

/** The arguments of the submission test, overridden by defaults and examples of all properties. */
function formArguments(marketplace: Marketplace, definition: JsonObject | undefined): JsonObject {
  const samples = propertiesOf(definition?.inputSchema).flatMap(([name, property]): [string, Json][] => {
    if (property.default !== undefined) return [[name, property.default]];
    const first = Array.isArray(property.examples) ? property.examples[0] : undefined;
    if (first === undefined) return [];
    return [[name, first]];
  });
  return { ...marketplace.sample(definition?.inputSchema), ...Object.fromEntries(samples) };
}

/** Calls a tool with the arguments of a JSON request, of the field for JSON, or of the fields of the form. */
function callFrom(marketplace: Marketplace, input: FormInput): Promise<CallReport> {
  const typed = inputText(input, 'json').trim();
  return callAsPlatform(marketplace, {
    endpoint: inputText(input, 'endpoint'),
    tool: inputText(input, 'tool'),
    deliberate: inputText(input, 'deliberate'),
    argumentsFor(inputSchema) {
      if (input.arguments !== undefined) return input.arguments as Json;
      if (typed === '') return argumentsOf(input, inputSchema);
      return parseJsonField(typed, 'Arguments as JSON');
    },
  });
}

/** The page after a call. */
async function callData(marketplace: Marketplace, report: CallReport): Promise<Data> {
  const { endpoint, tool, arguments: args, deliberate } = report;
  const token = await (await marketplace.caller.signer(endpoint)).token();
  const curl = isObject(args)
    ? curlCommands({ url: endpoint, tool, arguments: args, token }, marketplace.profile.token)
    : null;
  const data = await tryData(marketplace, tool, args);
  const canDispute = await marketplace.canDispute(report.id);
  return { ...data, endpoint, deliberate, report, curl, canDispute };
}

const outcomes: { readonly [outcome in CallOutcome]: readonly [string, Mark] } = {
  found: ['found', 'pass'],
  empty: ['empty', 'pass'],
  'empty-unsigned': ['empty, no signal', 'advice'],
  fail: ['failed', 'advice'],
  refused: ['refused', 'none'],
  error: ['JSON-RPC error', 'fail'],
  'http-error': ['HTTP error', 'fail'],
  'no-answer': ['no answer', 'fail'],
};

const schemaWords = { pass: 'matches', fail: 'mismatch', 'not-run': 'not checked' } as const;

const factOf = ({ status }: SchemaVerdict) => ({ mark: status, value: schemaWords[status] });

/** The result of a tool call: the outcome, the verdict by the schema, and the data. */
function CallResult({
  report,
  curl,
  canDispute,
}: {
  report: CallReport;
  curl: string | null;
  canDispute: boolean;
}) {
  const { id, verdict, status, ms, result, error, expected, cause } = report;
  const [words, mark] = outcomes[verdict.outcome];
  const problems = [verdict.text, verdict.structuredContent, verdict.same].flatMap((check) => check.problems);
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
        <Fact title="Text" {...factOf(verdict.text)} />
        <Fact title="structuredContent" {...factOf(verdict.structuredContent)} />
        <Fact title="Same data" {...factOf(verdict.same)} />
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
            <PostButton
              to="/try/save"
              fields={{
                tool: report.tool,
                arguments: JSON.stringify(report.arguments),
                expect: exampleKind(verdict.outcome),
              }}
              label="Save as example"
            />
          )}
          {canDispute && <PostButton to="/disputes" fields={{ call: String(id) }} label="Dispute" />}
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

function exampleKind(outcome: CallOutcome): string {
  if (outcome === 'fail') return 'fail';
  return outcome === 'found' ? 'found' : 'empty';
}
