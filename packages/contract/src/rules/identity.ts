import { isObject, objectOr, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { answerProblems } from './expect.ts';
import { isText, textProblems } from './read.ts';
import { type LiveRule, must, problemsAt, should, valueProblems } from './rule.ts';

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
    ...should('health.ready', 'C§1.5, C§2.3'),
    title: 'GET /health does not answer 200 with a status such as "starting" or "down"',
    fix: 'Answer 503 until the server can take calls. Most monitors read the HTTP status only.',
    controls: [],
    check: async (probe) => {
      const { status, values } = await probe.health();
      const [body] = values;
      const word = isObject(body) ? body.status : undefined;
      if (!isText(word)) throw NotRun.by('health');
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
  {
    ...must('identity.same', 'C§2.3, C§9.2'),
    title: 'health and initialize name the same server and version',
    fix: 'Take name and version from one place.',
    check: async (probe) => {
      const [health] = (await probe.health()).values;
      const { serverInfo } = await initialized(probe);
      if (!isObject(health) || !isObject(serverInfo)) throw NotRun.by('identity');
      return (
        [
          ['server', 'name'],
          ['version', 'version'],
        ] as const
      ).flatMap(([inHealth, inServerInfo]) => {
        const [reported, declared] = [health[inHealth], serverInfo[inServerInfo]];
        const areSame = !isText(reported) || !isText(declared) || reported === declared;
        return valueProblems(areSame, `GET /health ${inHealth}`, shorten(declared), reported);
      });
    },
  },
];

const notReady = /^(un|not|start|init|boot|load|warm|down|degraded|fail|err|stop|maintenance)/i;

async function initialized(probe: Probe): Promise<JsonObject> {
  const { result } = await probe.initialized();
  if (!result) throw NotRun.by('initialize');
  return result;
}
