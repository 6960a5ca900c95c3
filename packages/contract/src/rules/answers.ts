import type { Json } from '../json/value.ts';
import { speaksAny, triesMcp } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import type { Property } from '../wire/properties.ts';
import type { PostOptions } from '../wire/requests.ts';
import { nextId, type RpcAnswer, rpcRequest } from '../wire/rpc.ts';
import { mergeLive } from './cases.ts';
import { frameInData } from './result-values.ts';
import { toolWordsOf } from './returned-values.ts';
import { type LiveRule, must, should } from './rule.ts';

/** The rule about requests that fail now and then. */
export const steadyId = 'answers.steady';

/** How often the same request is sent to see whether it always succeeds. */
const repeats = { initialize: 5, list: 30, longList: 5, call: 6 } as const;
/** Calls are also sent in parallel: some servers fail only then. */
const parallel = { rounds: 6, calls: 4 } as const;
/** A list of more characters is not asked for thirty times. */
const longList = 300_000;

const acceptedForm = 'Send only what Accept and Accept-Encoding of the request allow.';
const withoutSecrets = 'Return data of the source only, neither the headers of a request nor process.env.';

/** Tools whose data may be the environment of another process. */
const aboutEnvironments =
  /\b(?:env|environments?|variables?|containers?|process(?:es)?|shells?|docker|pods?|deploy\w*|builds?|images?|sandbox\w*|terminals?)\b/;

/** Properties of every answer of a run. */
export const answerRules: readonly LiveRule[] = [
  propertyRule('utf8', {
    ...must('answers.utf8', 'C§4; RFC 8259 §8.1'),
    title: 'every JSON answer is UTF-8 without a byte order mark',
    fix: 'Write the bytes of JSON.stringify(…) as UTF-8, and declare their number, not that of the characters.',
  }),
  propertyRule('framing', {
    ...must('answers.framing', 'C§4; RFC 9110 §8.6; HTML, server-sent events'),
    title: 'every answer is as long as it says, and each line of an event is a field',
    fix: 'Let the library write the body: Content-Length counts bytes, and each line of an event begins with data:.',
  }),
  mergeLive({ title: 'no answer has a form that its request does not accept' }, [
    propertyRule('coding', {
      ...should('answers.coding', 'RFC 9110 §12.5.3'),
      title: 'no answer is compressed for a client that does not accept it',
      fix: acceptedForm,
    }),
    propertyRule('accepted', {
      ...should('answers.accepted', 'RFC 9110 §12.5.1'),
      title: 'no answer comes as events to a client that accepts only JSON',
      fix: acceptedForm,
    }),
  ]),
  propertyRule('type', {
    ...must('answers.type', 'C§4; MCP 2025-06-18, transports'),
    title: 'every JSON-RPC answer is declared as JSON or as events, and is what it is declared as',
    fix: 'Set Content-Type: application/json, or text/event-stream for events.',
  }),
  propertyRule('numbers', {
    ...must('answers.numbers', 'C§2.2; RFC 8259 §6'),
    title: 'every number in an answer is one that a double holds',
    fix: 'Send a number beyond 1.7e308 as text, or null.',
  }),
  propertyRule('surrogates', {
    ...should('answers.surrogates', 'RFC 8259 §8.2'),
    title: 'no text in an answer contains half of a surrogate pair',
    fix: 'Cut texts between characters, not within: [...text].slice(0, n).join("").',
  }),
  propertyRule('secrets', {
    ...should('answers.no-secrets', 'OWASP, error handling'),
    title: 'no answer contains what looks like a key',
    fix: 'Write your own message for a failed request: the URL of an API contains its key.',
  }),
  mergeLive({ title: 'no answer exposes internals of the server' }, [
    {
      ...propertyRule('insides', {
        ...should('answers.no-stack', 'OWASP, error handling'),
        title: 'no failure exposes internals of the server',
        fix: 'Log the error, and answer with your own code and a short message.',
      }),
      check: async (probe) => {
        await sendMalformedRequests(probe);
        return probe.ledger.problemsOf('insides');
      },
    },
    frameInData,
  ]),
  mergeLive({ title: 'no answer contains the secrets of a caller or the environment of the server' }, [
    propertyRule('credentials', {
      ...must('answers.no-credentials', 'C§5.3; OWASP, secrets management'),
      title: 'no answer contains a token, a key of a request, or a secret of the project',
      fix: withoutSecrets,
    }),
    {
      ...propertyRule('environment', {
        ...must('answers.no-environment', 'OWASP, secrets management'),
        title: 'no answer contains the environment of the server',
        fix: withoutSecrets,
      }),
      check: async (probe) => {
        const tools = await probe.tools().catch(() => []);
        return probe.ledger.problemsOf('environment').filter(({ tool: name }) => {
          const tool = tools.find((listedTool) => listedTool.name === name);
          return !tool || !aboutEnvironments.test(toolWordsOf(tool));
        });
      },
    },
  ]),
  {
    ...must(steadyId, 'C§4'),
    title: 'a request that succeeds once succeeds each time',
    fix: 'Look into the log of the server for the requests that failed: the requests do not differ.',
    turn: 'waiting', // after session.lasting, whose requests count
    controls: [triesMcp],
    check: async (probe) => {
      // Failures before these requests also count, even if a further request gets no answer.
      const obstacle = await repeatRequests(probe).catch((error: unknown) => error);
      const problems = probe.ledger.unsteadyProblems(steadyId);
      if (problems.length === 0 && obstacle !== undefined) throw obstacle;
      return problems;
    },
  },
  {
    ...should('answers.same-identity', 'C§2.4; MCP 2025-11-25, lifecycle'),
    title: 'initialize names the same server, capabilities and version each time',
    fix: 'Take name, version and capabilities from constants. Clients keep what the first answer said.',
    turn: 'last',
    controls: [speaksAny],
    check: async (probe) => probe.ledger.changeProblems('initialize', 'what it named before'),
  },
];

/** A rule about all answers of an MCP server, checked when the others have been. */
function propertyRule(property: Property, text: Omit<LiveRule, 'check'>): LiveRule {
  return {
    ...text,
    turn: 'last',
    controls: [triesMcp],
    check: async (probe) => probe.ledger.problemsOf(property),
  };
}

/** Sends ordinary requests several times: initialize, tools/list and a call. @throws NotRun if tools/list got no result */
async function repeatRequests(probe: Probe): Promise<void> {
  const first = await probe.firstInitialize();
  await repeatInitialize(probe, first);
  // Only the reset of a new connection proves that the request was lost.
  const newConnection = probe.ledger.hasReset;
  const lists = await repeatToolsList(probe, newConnection);
  if (await probe.hasCases()) await repeatCalls(probe, newConnection);
  if (!lists.some((answer) => answer?.result)) throw NotRun.preventedBy(first.result ? 'list' : 'initialize');
}

/** Counts a failed first initialize, and repeats initialize if it ever failed. */
async function repeatInitialize(probe: Probe, first: RpcAnswer): Promise<void> {
  const { ledger } = probe;
  if (!first.result) ledger.countAnswer('initialize', undefined, first);
  for (let count = 0; ledger.hasFailed('initialize') && count < repeats.initialize; count++) {
    const answer = await probe.initialize().catch(ignoreError);
    if (answer) ledger.countAnswer('initialize', undefined, answer);
  }
}

/** Stops after the first missing answer, but sends at least three requests. */
async function repeatToolsList(
  probe: Probe,
  newConnection: boolean,
): Promise<readonly (RpcAnswer | undefined)[]> {
  const send = () => probe.rpc('tools/list', undefined, { newConnection }).catch(ignoreError);
  const answers = [await send()];
  const length = answers[0]?.http.body.length ?? 0;
  const rounds = length > longList ? repeats.longList : repeats.list;
  while (answers.length < rounds && (answers.at(-1) || answers.length < 3)) answers.push(await send());
  return answers;
}

/** Repeats failed calls twice, then an ordinary call in series and in parallel. */
async function repeatCalls(probe: Probe, newConnection: boolean): Promise<void> {
  const [{ name, arguments: args }] = await probe.cases();
  const token = await probe.payment().catch(ignoreError);
  const failedCalls = (await probe.outcomes()).filter(({ result }) => !result).slice(0, 3);
  for (const failedCall of [...failedCalls, ...failedCalls])
    await probe.call(failedCall.name, failedCall.arguments, { token }).catch(ignoreError);
  const call = () => probe.call(name, args, { token, newConnection }).catch(ignoreError);
  for (let count = 0; count < repeats.call; count++) if (!(await call())) break;
  const callsAtOnce = probe.target.mayCallLiveApis ? 1 : parallel.calls;
  for (let round = 0; round < parallel.rounds; round++) {
    const calls = await Promise.all(Array.from({ length: callsAtOnce }, call));
    if (calls.includes(undefined)) break;
  }
}

function ignoreError(): undefined {
  return undefined;
}

/** Sends requests that careless servers answer with their stack. */
async function sendMalformedRequests(probe: Probe): Promise<void> {
  const session = await probe.session().catch(() => undefined);
  const bodies: readonly (readonly [Json, PostOptions])[] = [
    ['{', { session }],
    ['', { session }],
    ['[[[]]]', { session }],
    [rpcRequest(nextId(), 'tools/call', null), { session }],
    [rpcRequest(nextId(), 'initialize', { protocolVersion: 5 }), {}],
    [rpcRequest(nextId(), 'tools/list', 5), { session }],
  ];
  await Promise.all([
    ...bodies.map(([body, options]) => probe.post(body, options).catch(ignoreError)),
    probe.http({ path: '/%00' }).catch(ignoreError),
  ]);
}
