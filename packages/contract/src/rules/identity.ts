import { isObject, objectOr, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import { initializesAgain, reportsHealth } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { healthMs } from '../wire/timeouts.ts';
import { answerProblems, withRequestCommand } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { type LiveRule, must, problemsAt, problemsInParallel, should, valueProblems } from './rule.ts';
import { isText, textProblems } from './schema-problems.ts';

const declaredFix =
  'Declare what the server does and no more: {"tools": {}} for a server of tools, and {"logging": {}} only if it sends log messages.';

/** The name and version of the server. */
export const identityRules: readonly LiveRule[] = [
  {
    ...must('health.status', 'C§1.5, C§2.3, C§4'),
    title: 'GET /health answers 200',
    fix: 'Answer GET /health with status 200 as soon as the server can take calls.',
    controls: [],
    mustAnswer: true,
    check: async (probe) => {
      const health = await probe.health();
      return answerProblems(health.status === 200, 'GET /health', 'HTTP 200', health);
    },
  },
  {
    ...should('health.in-time', 'C§1.5; monitors wait a few seconds'),
    title: `GET /health is answered within ${healthMs / 1_000} seconds`,
    fix: 'Answer GET /health from memory: ask no database and no API meanwhile.',
    controls: [],
    check: async (probe) => {
      const health = await probe.health();
      const isInTime = health.ms <= healthMs;
      if (isInTime && !saysStatus(health)) throw NotRun.preventedBy('health');
      const actual = `${Math.round(health.ms)} ms`;
      return problemsAt(isInTime, 'GET /health', `an answer within ${healthMs} ms`, actual);
    },
  },
  {
    ...should('health.query', 'C§4; RFC 3986 §3.4'),
    title: 'GET /health answers the same with a query',
    fix: 'Compare the path alone: monitors add a query so that no cache answers.',
    controls: [reportsHealth],
    check: async (probe) => {
      const health = await probe.health();
      if (!saysStatus(health)) throw NotRun.preventedBy('health');
      const { status } = health;
      const answer = await probe.http({ path: '/health?t=1' });
      return answerProblems(answer.status === status, 'GET /health?t=1', `HTTP ${status}`, answer);
    },
  },
  {
    ...must('health.fields', 'C§2.3'),
    title: 'GET /health returns status, server and version',
    fix: 'Answer with {"status": "ok", "server": <name>, "version": <version>}, all strings.',
    controls: [],
    check: async (probe) => {
      const [body] = (await probe.health()).values;
      return ['status', 'server', 'version'].flatMap((field) =>
        textProblems(objectOr(body), field, `GET /health ${field}`),
      );
    },
  },
  {
    ...should('health.type', 'C§2.3, C§4; RFC 8259 §11'),
    title: 'GET /health declares its JSON as JSON',
    fix: 'Set Content-Type: application/json.',
    controls: [],
    check: async (probe) => {
      const health = await probe.health();
      if (!saysStatus(health)) throw NotRun.preventedBy('health');
      const type = health.headers['content-type'];
      const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(type ?? '');
      return valueProblems(isJson, 'GET /health, header content-type', 'application/json', type).map(
        withRequestCommand(health),
      );
    },
  },
  {
    ...should('health.ready', 'C§1.5, C§2.3'),
    title: 'GET /health does not answer 200 with a status such as "starting" or "down"',
    fix: 'Answer 503 until the server can take calls. Most monitors read the HTTP status only.',
    controls: [],
    check: async (probe) => {
      const { status, values } = await probe.health();
      const [body] = values;
      const word = isObject(body) ? body.status : undefined;
      if (!isText(word)) throw NotRun.preventedBy('health');
      const expected = '"ok", or HTTP 503';
      const actual = `HTTP 200 with ${shorten(word)}`;
      return problemsAt(status !== 200 || !notReady.test(word), 'GET /health status', expected, actual);
    },
  },
  {
    ...must('identity.name', 'C§2.4, C§9.2'),
    title: 'initialize returns the name and version of the server',
    fix: 'Declare serverInfo.name and serverInfo.version.',
    check: async (probe) => {
      const { serverInfo } = await initialized(probe);
      return ['name', 'version'].flatMap((field) =>
        textProblems(objectOr(serverInfo), field, `serverInfo.${field}`),
      );
    },
  },
  {
    ...must('identity.tools', 'C§2.4'),
    title: 'initialize declares the tools capability',
    fix: 'Declare capabilities.tools.',
    check: async (probe) => {
      const { capabilities } = await initialized(probe);
      const tools = isObject(capabilities) ? capabilities.tools : capabilities;
      return valueProblems(
        isObject(capabilities) && isObject(tools),
        'capabilities.tools',
        'an object',
        tools,
      );
    },
  },
  // The notifications come until the last request.
  mergeLive({ title: 'the server declares the capabilities that it has, and no others', turn: 'last' }, [
    {
      ...should('identity.capabilities', 'C§2.4; MCP 2025-11-25, lifecycle: capability negotiation'),
      title: 'the server has the methods of every capability that it declares',
      fix: declaredFix,
      controls: [initializesAgain],
      check: async (probe) => {
        const capabilities = objectOr((await initialized(probe)).capabilities);
        const subscribes = objectOr(capabilities.resources).subscribe === true;
        const capabilityMethods: readonly (readonly [name: string, method: string, params?: JsonObject])[] = [
          ['resources', 'resources/list'],
          ...(subscribes
            ? [['resources.subscribe', 'resources/subscribe', { uri: 'file:///none' }] as const]
            : []),
          ['prompts', 'prompts/list'],
          ['logging', 'logging/setLevel', { level: 'info' }],
          ['completions', 'completion/complete', completion],
        ];
        const declaredMethods = capabilityMethods.filter(([name]) =>
          isObject(capabilities[name.replace(/\..*/, '')]),
        );
        if (declaredMethods.length === 0) return [];
        const session =
          (await probe.confirmSession(await probe.initializeWithRetries())) ?? (await probe.session());
        return problemsInParallel(declaredMethods, async ([name, method, params]) => {
          const { error, http } = await probe.rpc(method, params, { session });
          return answerProblems(error?.code !== -32_601, method, `what capabilities.${name} declares`, http);
        });
      },
    },
    {
      ...should('identity.logging', 'MCP 2025-11-25, logging'),
      title: 'a server that sends log messages declares the capability logging',
      fix: declaredFix,
      check: async (probe) => {
        const { logging } = objectOr((await initialized(probe)).capabilities);
        if (isObject(logging)) return [];
        return probe.ledger.problemsOf('log messages');
      },
    },
  ]),
  {
    ...must('identity.same', 'C§2.3, C§9.2'),
    title: 'health and initialize name the same server and version',
    fix: 'Take name and version from one place.',
    check: async (probe) => {
      const [health] = (await probe.health()).values;
      const { serverInfo } = await initialized(probe);
      if (!isObject(health) || !isObject(serverInfo)) throw NotRun.preventedBy('identity');
      return (
        [
          ['server', 'name'],
          ['version', 'version'],
        ] as const
      ).flatMap(([inHealth, inServerInfo]) => {
        const [reported, serverInfoValue] = [health[inHealth], serverInfo[inServerInfo]];
        const areSame = !isText(reported) || !isText(serverInfoValue) || reported === serverInfoValue;
        return valueProblems(areSame, `GET /health ${inHealth}`, shorten(serverInfoValue), reported);
      });
    },
  },
];

const completion: JsonObject = {
  ref: { type: 'ref/prompt', name: 'none' },
  argument: { name: 'none', value: '' },
};

const notReady = /^(un|not|start|init|boot|load|warm|down|degraded|fail|err|stop|maintenance)/i;

async function initialized(probe: Probe): Promise<JsonObject> {
  const { result } = await probe.firstInitialize();
  if (!result) throw NotRun.preventedBy('initialize');
  return result;
}

function saysStatus({ values: [body] }: { readonly values: readonly unknown[] }): boolean {
  return isText(objectOr(body).status);
}
