import type { Problem } from '../model.ts';
import type { Environment } from '../target.ts';
import type { HttpAnswer } from '../wire/http.ts';
import { answerProblems } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { hostDomains, production, readyAnswer, startsInstances } from './instance.ts';
import { type LiveRule, should, withSharedMembers } from './rule.ts';

/** Nothing listens there. */
const unreachable = 'http://127.0.0.1:9/jwks.json';

const source = 'common to all container platforms';

/** `GET /ready`, where a host asks whether a new version may take the place of the one before: it may if its calls can be paid. */
export const readinessRules = withSharedMembers({ turn: 'separate', controls: [startsInstances] }, [
  {
    ...should('health.ready-paid', source),
    title: 'GET /ready answers 200 while calls can be paid',
    mustAnswer: true,
    fix: 'Answer GET /ready with status 200 once the server has a key and an audience.',
    check: async (probe) => readyProblems(await readyAnswer(probe), 'a key and an audience', true),
  },
  mergeLive({ title: 'GET /ready does not answer 200 while no call can be paid' }, [
    notReady('health.ready-key', 'without a key to verify tokens with', 'the key set is unreachable', {
      PLATFORM_PUBLIC_KEY: undefined,
      PLATFORM_JWKS_URL: unreachable,
    }),
    notReady('health.ready-audience', 'while the audience is pending', 'PLATFORM_AUDIENCE=pending', {
      ...production,
      PLATFORM_AUDIENCE: 'pending',
      ...Object.fromEntries(hostDomains.map((name) => [name, undefined])),
    }),
  ]),
]);

/** An instance that refuses to start takes no other's place, either. */
function notReady(id: string, circumstances: string, path: string, environment: Environment): LiveRule {
  return {
    ...should(id, source),
    title: `GET /ready does not answer 200 ${circumstances}`,
    fix: 'Answer GET /ready with status 503 and the reason until a call can be paid: every call is refused until then.',
    check: async (probe) => {
      const instance = await probe.launch(environment);
      if (!instance.healthy) return [];
      try {
        const answer = await probe.http({ path: '/ready', url: new URL(instance.url) });
        return readyProblems(answer, path, false);
      } finally {
        await instance.stop();
      }
    },
  };
}

function readyProblems(answer: HttpAnswer, path: string, isExpected: boolean): readonly Problem[] {
  const expected = isExpected ? 'HTTP 200' : 'HTTP 503';
  return answerProblems((answer.status === 200) === isExpected, `GET /ready, ${path}`, expected, answer);
}
