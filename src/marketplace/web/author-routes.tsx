import { isObject } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import { propertiesOf } from '../../contract/schema/keywords.ts';
import { curlCommands } from '../../dev/curl.ts';
import { isServing } from '../../dev/state.ts';
import type { CallReport } from '../core/caller.ts';
import { Checks } from '../core/checks.ts';
import { type DeliberateError, deliberateErrors } from '../core/deliberate-errors.ts';
import { MarketError } from '../core/errors.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { type NamedTool, namedTools } from '../core/registration.ts';
import { Home, type HomeData, type ToolView } from '../pages/home.tsx';
import { Try, type TryData } from '../pages/try.tsx';
import { checkRoutes } from './check-routes.tsx';
import { argumentsOf, canFillIn, jsonOf, textOf } from './input.ts';
import { pages } from './layout.tsx';
import type { Input } from './security.ts';
import { type Done, jsonPathOf, type Site, wantsJson } from './site.tsx';

/** Home, Try it and Check: the pages for the author's own server. */
export function authorRoutes(site: Site): void {
  const { marketplace } = site;
  const lastCalls = new Map<string, number>();
  const checks = new Checks(marketplace);

  site.page('/', 'Your tools', () => homeOf(marketplace, lastCalls, checks), Home);

  site.page(
    '/try',
    'Try it',
    async (c): Promise<TryData> => {
      const { tool = null, arguments: given } = c.req.query();
      return tryData(marketplace, tool, given === undefined ? undefined : jsonOf(given, 'arguments'));
    },
    Try,
  );
  site.post('/try', async (input, c): Promise<Done> => {
    const report = await callAs(marketplace, input);
    lastCalls.set(report.tool, report.id);
    marketplace.emit('change', 'calls');
    if (wantsJson(c)) return { data: report, to: '/try' };
    const data = await called(marketplace, report);
    return { data: report, title: 'Try it', view: <Try data={data} /> };
  });
  site.post('/try/save', async (input): Promise<Done> => {
    const endpoint = await ownEndpoint(marketplace);
    const args = jsonOf(textOf(input, 'arguments'), 'arguments');
    const expect = textOf(input, 'expect');
    const tool = textOf(input, 'tool');
    if (!isObject(args) || (expect !== 'found' && expect !== 'empty' && expect !== 'fail')) {
      const message = 'an example needs arguments (a JSON object) and an expected outcome';
      throw new MarketError('BAD_EXAMPLE', message, 'Set expect to found, empty or fail.');
    }
    await marketplace.saveExample({ endpoint, tool, arguments: args, expect });
    return { data: { tool, arguments: args, expect }, to: `/try?tool=${encodeURIComponent(tool)}` };
  });

  checkRoutes(site, checks);
}

/** @param lastCalls the id of each tool's last call in the traffic, by the tool's name. */
async function homeOf(
  marketplace: Marketplace,
  lastCalls: ReadonlyMap<string, number>,
  checks: Checks,
): Promise<HomeData> {
  const { endpoint = null, sources = new Map<string, string>(), check } = marketplace.options;
  const { listings } = await marketplace.store.read();
  const state = await marketplace.state();
  const own = listings.find((listing) => listing.endpoint === endpoint);
  const read = await readTools(marketplace, endpoint);
  const healthy = endpoint !== null && read.problem === null && (await marketplace.isHealthy(endpoint));
  const stored = new Map(own?.tools.filter(isObject).map((tool) => [tool.name, JSON.stringify(tool)]));
  const tools = read.tools.map(({ name, definition }): ToolView => {
    const known = stored.get(name);
    const isSame = known === JSON.stringify(definition);
    const listed = known === undefined ? 'not listed' : isSame ? 'listed' : 'changed';
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
    listed: own !== undefined,
    refreshNeeded:
      own !== undefined &&
      read.problem === null &&
      (tools.some(({ listed }) => listed !== 'listed') || own.tools.length !== tools.length),
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
    canCheck: check !== undefined,
    twins: Object.fromEntries(pages.map(([path, name]) => [name, jsonPathOf(path)])),
  };
}

interface Read {
  readonly tools: readonly NamedTool[];
  readonly problem: string | null;
}

async function readTools(marketplace: Marketplace, endpoint: string | null): Promise<Read> {
  if (endpoint === null) return { tools: [], problem: null };
  const read = marketplace.requireRunning(endpoint).then(() => marketplace.caller.tools(endpoint));
  return read.then(
    (tools) => ({ tools: namedTools(tools), problem: null }),
    (error: Error) => ({ tools: [], problem: error.message }),
  );
}

/** The author's server; if there is none, that of the first listing. */
async function ownEndpoint(marketplace: Marketplace): Promise<string> {
  const { listings } = await marketplace.store.read();
  const endpoint = marketplace.options.endpoint ?? listings[0]?.endpoint;
  if (endpoint !== undefined) return endpoint;
  const hint = 'Run the command in a project, or name a server with --endpoint <url>.';
  throw new MarketError('NO_SERVER', 'no server is known', hint);
}

async function tryData(marketplace: Marketplace, selected: string | null, given?: Json): Promise<TryData> {
  const endpoint = await ownEndpoint(marketplace).catch(() => null);
  const [state, { tools, problem }] = await Promise.all([
    marketplace.state(),
    readTools(marketplace, endpoint),
  ]);
  const tool = tools.find(({ name }) => name === selected) ?? tools[0];
  const { examples } = await marketplace.store.read();
  return {
    endpoint,
    tools,
    selected: tool?.name ?? null,
    arguments: isObject(given) ? given : filled(marketplace, tool?.definition),
    json: given === undefined || canFillIn(given, tool?.definition.inputSchema) ? null : given,
    deliberate: null,
    examples: examples.filter((one) => one.endpoint === endpoint && one.tool === tool?.name),
    problem: state === null || isServing(state) ? problem : null,
    state,
    report: null,
    curl: null,
  };
}

/** The arguments of the submission test, overridden by defaults and examples of all properties. */
function filled(marketplace: Marketplace, definition: JsonObject | undefined): JsonObject {
  const samples = propertiesOf(definition?.inputSchema).flatMap(([name, property]): [string, Json][] => {
    if (property.default !== undefined) return [[name, property.default]];
    const first = Array.isArray(property.examples) ? property.examples[0] : undefined;
    return first === undefined ? [] : [[name, first]];
  });
  return { ...marketplace.sample(definition?.inputSchema), ...Object.fromEntries(samples) };
}

/** Calls a tool, for the page and for `market-mcp call`. */
async function callAs(marketplace: Marketplace, input: Input): Promise<CallReport> {
  const endpoint = textOf(input, 'endpoint') || (await ownEndpoint(marketplace));
  const name = textOf(input, 'tool');
  const way = textOf(input, 'deliberate');
  if (way !== '' && !Object.hasOwn(deliberateErrors, way)) {
    const known = Object.keys(deliberateErrors).join(', ');
    const message = `there is no kind of call ${JSON.stringify(way)}`;
    throw new MarketError('BAD_WAY', message, `Choose one of: ${known}.`);
  }
  const deliberate = way === '' ? undefined : (way as DeliberateError);
  await marketplace.requireRunning(endpoint);
  const { tools } = await readTools(marketplace, endpoint);
  const definition = tools.find((tool) => tool.name === name)?.definition;
  const typed = textOf(input, 'json').trim();
  const given = input.arguments as Json | undefined;
  const fromForm = () =>
    typed === '' ? argumentsOf(input, definition?.inputSchema) : jsonOf(typed, 'Arguments as JSON');
  const args = given === undefined ? fromForm() : given;
  const order = { endpoint, tool: name, arguments: args, definition, deliberate };
  return marketplace.call(order).catch((error: Error) => {
    const hint = 'Correct the URL: it must be that of the MCP endpoint, such as http://localhost:3000/mcp.';
    throw new MarketError('NOT_CALLED', `${endpoint}: ${error.message}`, hint);
  });
}

/** The page after a call. */
async function called(marketplace: Marketplace, report: CallReport): Promise<TryData> {
  const { endpoint, tool, arguments: args, deliberate } = report;
  const token = await (await marketplace.caller.signer(endpoint)).token();
  const curl = isObject(args)
    ? curlCommands({ url: endpoint, tool, arguments: args, token }, marketplace.profile.token)
    : null;
  const data = await tryData(marketplace, tool, args);
  return { ...data, endpoint, deliberate, report, curl };
}
