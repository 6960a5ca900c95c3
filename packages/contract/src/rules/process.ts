import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { isObject, shorten } from '../json/json.ts';
import type { Problem } from '../model.ts';
import type { Environment, Instance, ProcessExit } from '../target.ts';
import { canInitialize } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import { noSuchTool, type Probe } from '../wire/probe.ts';
import { isDeniedByStatus, sessionOf, silentAnswerOrThrow } from '../wire/rpc.ts';
import { settleMs } from '../wire/timeouts.ts';
import { answerProblems } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import {
  audienceProblems,
  callerOf,
  callOf,
  hostDomains,
  lastOutput,
  production,
  productionInstance,
  readyAnswer,
  secondInstance,
  startsInstances,
  waitForExit,
} from './instance.ts';
import { type LiveRule, must, problemsAt, problemUnless, should, withSharedMembers } from './rule.ts';

const defaultPort = 3000;
/** Enough time to start, or to find the port in use. */
const startMs = 20_000;
const retryMs = 100;

const keyless = refusesToStart(
  'process.no-key',
  'without a key to verify tokens with',
  'PLATFORM_PUBLIC_KEY',
  { PLATFORM_PUBLIC_KEY: undefined },
);

/** More time than a server may take to finish its calls. */
const timeoutMs = 20_000;

/** How the server starts, when it refuses to start, and how it stops. */
export const processRules = withSharedMembers({ turn: 'separate', controls: [startsInstances] }, [
  {
    ...must('process.port', 'C§4.2'),
    title: 'the server listens on PORT',
    controls: [],
    mustAnswer: true,
    fix: 'Read the port from the environment variable PORT.',
    check: async (probe) => {
      const instance = await secondInstance(probe);
      const expected = `GET /health answered at ${new URL(instance.url).origin}`;
      return problemsAt(instance.healthy, 'PORT', expected, lastOutput(instance));
    },
  },
  {
    ...must('process.default-port', 'C§4.2, C§8'),
    title: `the server listens on port ${defaultPort} if PORT is not set`,
    fix: `Use ${defaultPort} as the default of PORT.`,
    check: async (probe) => {
      const { instance, isOurs } = await defaultInstance(probe);
      if (isOurs) return [];
      const { code } = await waitForExit(instance, 0);
      return problemUnless(code !== 0 && instance.output().includes(String(defaultPort)), {
        path: 'PORT unset',
        expected: `GET /health answered on port ${defaultPort}, or an error that the port is in use`,
        actual: lastOutput(instance),
      });
    },
  },
  {
    ...should('process.busy-port', 'C§4.2'),
    title: 'a port in use ends the start with an error',
    fix: 'Report the error and exit with a status other than 0. Never listen on another port.',
    check: async (probe) => {
      const occupiedPort = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
      try {
        await once(occupiedPort, 'listening');
        const address = occupiedPort.address();
        const port = String(typeof address === 'object' && address ? address.port : 0);
        return await endProblems(await probe.launch({ PORT: port }), `PORT=${port}, in use`, port);
      } finally {
        occupiedPort.close();
      }
    },
  },
  {
    ...keyless,
    check: async (probe) => {
      if (probe.profile.token.jwksUrl !== null) {
        throw NotRun.because('inapplicable', 'the platform profile has the URL of the keys');
      }
      return keyless.check(probe);
    },
  },
  refusesToStart('process.production-auth', 'in production with authentication switched off', 'AUTH', {
    ...production,
    AUTH: 'off',
  }),
  mergeLive({ title: 'the server refuses to start in production without an https URL as its audience' }, [
    refusesToStart('process.production-audience', 'in production without an audience', 'PLATFORM_AUDIENCE', {
      ...production,
      PLATFORM_AUDIENCE: undefined,
      ...Object.fromEntries(hostDomains.map((name) => [name, undefined])),
    }),
    refusesToStart(
      'process.production-https',
      'in production with an audience that is not an https URL',
      'PLATFORM_AUDIENCE',
      { ...production, PLATFORM_AUDIENCE: 'http://tools.example.com/mcp' },
    ),
  ]),
  {
    ...must('process.production', 'C§1.4, C§5.1'),
    title: 'the server starts in production behind an https URL and keeps its authentication',
    fix: 'Read the audience from PLATFORM_AUDIENCE. Do not derive it from the address at which the server listens.',
    check: (probe) => audienceProblems(probe),
  },
  {
    ...should('process.terminate', 'common to all container platforms'),
    title: 'SIGTERM shuts the server down gracefully',
    controls: [hasSignals, startsInstances],
    fix: 'On SIGTERM, stop listening, finish the running calls, then exit with status 0.',
    check: async (probe) => {
      await audienceProblems(probe);
      await readyAnswer(probe).catch(() => {});
      const instance = await productionInstance(probe);
      if (!instance.healthy) throw NotRun.preventedBy('production');
      instance.signal('SIGTERM');
      return orderlyProblems(instance, await waitForExit(instance, timeoutMs));
    },
  },
  {
    ...should('process.terminate-during-call', 'common to all container platforms'),
    title: 'a call that runs when SIGTERM arrives is still answered',
    mustAnswer: true,
    controls: [hasSignals, startsInstances, answersOnInstance],
    fix: 'On SIGTERM, stop listening, finish the running calls, then exit with status 0.',
    check: interruptedCallProblems,
  },
  {
    ...should('process.log-secrets', 'OWASP, logging: tokens and data of users are not logged'),
    title: 'the log has neither tokens nor arguments of calls',
    turn: 'last',
    controls: [canInitialize],
    fix: 'Log the tool, the time and the outcome. Never log the Authorization header, the body or the arguments.',
    check: logProblems,
  },
]);

/** Windows has no signal that a process can handle: SIGTERM from another process ends it at once. */
async function hasSignals(): Promise<undefined> {
  if (process.platform === 'win32') throw NotRun.because('inapplicable', 'Windows has no SIGTERM');
}

function refusesToStart(
  id: string,
  circumstances: string,
  variable: string,
  environment: Environment,
): LiveRule {
  return {
    ...must(id, 'C§5.4, C§5.5'),
    title: `the server refuses to start ${circumstances}`,
    fix: `Check ${variable} at the start. If it is missing or unsafe, exit with a message that names it.`,
    check: async (probe) => endProblems(await probe.launch(environment), shorten(environment), variable),
  };
}

/** A start that must fail, with a status other than 0 and an explanation. */
async function endProblems(instance: Instance, path: string, mentions: string): Promise<readonly Problem[]> {
  if (instance.healthy) return [{ path, expected: 'no start', actual: 'a running server' }];
  const { code, signal } = await instance.exit;
  return [
    ...problemUnless(code !== null && code !== 0, {
      path,
      expected: 'an exit status other than 0',
      actual: code === null ? `ended by ${signal}` : `exit status ${code}`,
    }),
    ...problemUnless(instance.output().includes(mentions), {
      path,
      expected: `a message that mentions ${mentions}`,
      actual: lastOutput(instance),
    }),
  ];
}

/** The instance without PORT, and whether it answers at the default port, and not another server there. */
function defaultInstance(probe: Probe): Promise<{ readonly instance: Instance; readonly isOurs: boolean }> {
  return probe.once('default port', async () => {
    const instance = await probe.launch({ PORT: undefined });
    return { instance, isOurs: instance.healthy && (await acceptsTokenInTime(probe, instance)) };
  });
}

/** An instance with the settings of the target, for the rule that ends it: the one at the default port, if it answers there. */
function ordinaryInstance(probe: Probe): Promise<Instance> {
  return probe.once('ordinary instance', async () => {
    const { instance, isOurs } = await defaultInstance(probe);
    return isOurs ? instance : probe.launch({});
  });
}

/**
 * Whether the server at an instance's address is that instance, at once or later: another one may answer there and
 * leave the port to ours when it ends.
 */
async function acceptsTokenInTime(probe: Probe, instance: Instance): Promise<boolean> {
  let waiting = true;
  const end = Promise.race([instance.exit, setTimeout(startMs, undefined, { ref: false })]);
  end.then(() => {
    waiting = false;
  });
  while (waiting) {
    if (await instanceAcceptsToken(probe, instance)) return true;
    await Promise.race([end, setTimeout(retryMs)]);
  }
  return false;
}

/**
 * Whether this instance answers there, and not another program on the same port, which would refuse the token at once. The
 * call names no tool of the server, since one may hang or end the process.
 */
async function instanceAcceptsToken(probe: Probe, instance: Instance): Promise<boolean> {
  const token = await probe.token();
  const url = new URL(instance.url);
  const { http, result } = await probe.initialize(undefined, { url }).catch(silentAnswerOrThrow);
  if (!result) return false;
  const call = { name: noSuchTool, arguments: {} };
  const answer = await probe
    .rpcOnce('tools/call', call, { url, session: sessionOf(http), token })
    .catch(silentAnswerOrThrow);
  return !isDeniedByStatus(answer.http);
}

/** A call that nothing interrupts is answered: one that ends the process proves nothing. */
async function answersOnInstance(probe: Probe): Promise<undefined> {
  await callOf(probe, await ordinaryInstance(probe), await probe.token());
}

/** The call is running as soon as its headers have arrived; its body is sent after the signal. */
async function interruptedCallProblems(probe: Probe): Promise<readonly Problem[]> {
  const instance = await ordinaryInstance(probe);
  const answer = await callOf(probe, instance, await probe.token(), {
    onHeadersRead: () => instance.signal('SIGTERM'),
  });
  const [value] = answer.values;
  const hasResult = answer.status === 200 && isObject(value) && value.result !== undefined;
  return [
    ...answerProblems(hasResult, 'tools/call', 'a result', answer),
    ...orderlyProblems(instance, await waitForExit(instance, timeoutMs)),
  ];
}

/** An argument that no tool declares: its value reaches the server, and changes nothing. */
const marker = 'zq7-argument-4kx';

/** What the server writes about a paid call, and about one with a forged token. */
async function logProblems(probe: Probe): Promise<readonly Problem[]> {
  const instance = probe.target.owned?.instance() ?? (await probe.launch({}));
  const { name, arguments: args } = await probe.authenticationCall();
  const valid = await probe.token({ claims: { jti: randomUUID() } });
  const forged = await probe.token({ by: 'untrusted' });
  const call = await callerOf(probe, instance);
  for (const token of [valid, forged])
    await call({ name, arguments: { ...args, 'undeclared 4kx': marker } }, { token });
  await setTimeout(settleMs);
  const log = instance.output();
  const parts = { 'a valid token': valid, 'a forged token': forged, 'an argument': marker };
  return Object.entries(parts).flatMap(([partName, secret]) => {
    const found = log.includes(secret.split('.').at(-1) ?? secret);
    return problemsAt(
      !found,
      'standard output and error',
      `a log without ${partName}`,
      `${partName} in the log`,
    );
  });
}

function orderlyProblems(instance: Instance, { code, signal }: ProcessExit): readonly Problem[] {
  const actual = code === null ? `ended by ${signal}` : `exit status ${code}: ${lastOutput(instance)}`;
  return problemsAt(code === 0, 'SIGTERM', 'exit status 0', actual);
}
