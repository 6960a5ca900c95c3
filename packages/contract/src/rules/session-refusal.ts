import { present, shorten } from '../json/json.ts';
import { answersCalls, initializesAgain, lists, opensSession } from '../wire/controls.ts';
import { invented } from '../wire/curl-line.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { answerProblems, holdsResult, invalidSessionProblems, resultProblems } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { reissuedToken } from './gate-attempts.ts';
import { type LiveRule, must, problemsInParallel, should } from './rule.ts';

const unknownId = invented.unknown;
const longId = 'x'.repeat(4096);
const memberNames = invented.members;
const memberRule = 'session.prototype';
const memberTitle = 'a session id such as "constructor" or "__proto__"';

/** Requests without a session, and with ids that the server never issued. */
export const sessionRefusalRules: readonly LiveRule[] = [
  refusalRule('session.missing-post', 'a POST without a session', 'POST', async () => [undefined]),
  mergeLive({ title: 'a POST with a session that the server has not opened is refused' }, [
    refusalRule('session.unknown-post', 'a POST with an unknown session', 'POST', async () => [unknownId]),
    changesSession(
      refusalRule('session.tampered', 'a session id with one character changed', 'POST', tamperedIds),
    ),
    refusalRule('session.long', 'a session id of 4 kB', 'POST', async () => [longId]),
  ]),
  refusalRule('session.missing-get', 'a GET without a session', 'GET', async () => [undefined]),
  mergeLive({ title: 'a GET with a session that the server has not opened is refused' }, [
    refusalRule('session.unknown-get', 'a GET with an unknown session', 'GET', async () => [unknownId]),
    changesSession(
      refusalRule(
        'session.tampered-get',
        'a session id with one character changed on GET',
        'GET',
        tamperedIds,
      ),
    ),
    refusalRule('session.long-get', 'a session id of 4 kB on GET', 'GET', async () => [longId]),
  ]),
  mergeLive({ title: `${memberTitle} is refused, in a POST and in a GET`, mustAnswer: 'in-time' }, [
    survived(refusalRule(memberRule, memberTitle, 'POST', async () => memberNames)),
    survived(refusalRule('session.prototype-get', `${memberTitle} on GET`, 'GET', async () => memberNames)),
  ]),
  {
    ...must('session.missing-call', 'C§3.1, C§7'),
    title: 'a paid call without a session is refused',
    fix: 'Check the session of every request, paid or not. Only initialize needs none.',
    controls: [opensSession, lists, answersCalls],
    check: async (probe) => {
      const call = await probe.authenticationCall();
      // A server that accepts each token once would refuse the token of another rule for that reason.
      const isPaid = probe.target.signer !== undefined || !(await probe.isUngated());
      const token = isPaid ? await reissuedToken(probe) : undefined;
      const { http } = await probe.rpcOnce('tools/call', call, { token });
      return invalidSessionProblems(http, 'tools/call');
    },
  },
  {
    ...must('session.foreign-initialize', 'C§3.1, C§7'),
    turn: 'opening',
    controls: [opensSession, initializesAgain],
    title: 'initialize with an unknown session id is refused',
    fix: 'Open a session only if the request names none. Only the server chooses ids.',
    check: async (probe) => {
      await probe.session();
      return invalidSessionProblems(
        (await probe.initialize(undefined, { session: unknownId })).http,
        'initialize',
      );
    },
  },
  {
    ...should('session.in-address', 'MCP 2025-11-25, transports: session management'),
    title: 'a session that only the address names is refused',
    fix: 'Read the session from the header Mcp-Session-Id alone: addresses are logged and shared.',
    controls: [opensSession, lists],
    check: async (probe) => {
      const send = async (search = '') => {
        const target = `${probe.url.pathname}${search}`;
        return (await probe.rpcOnce('tools/list', undefined, { target })).http;
      };
      if (holdsResult(await send())) throw NotRun.because('inapplicable', 'a request needs no session');
      const session = encodeURIComponent((await probe.session()) ?? '');
      return problemsInParallel(['sessionId', 'session_id', 'mcp-session-id'], async (name) => {
        const answer = await send(`?${name}=${session}`);
        return answerProblems(!holdsResult(answer), `POST with ?${name}=<a session>`, 'no result', answer);
      });
    },
  },
  {
    ...should('session.delete-unknown', 'MCP 2025-06-18, transports; C§7'),
    title: 'DELETE of an unknown session is refused',
    turn: 'last',
    fix: 'Answer 400 as on POST and GET, or 405.',
    controls: [lists],
    check: async (probe) => {
      const ids = [undefined, unknownId, longId, ...memberNames, ...(await tamperedIds(probe))];
      return problemsInParallel(ids, async (id) => {
        const answer = await probe.http({ method: 'DELETE', headers: present({ 'mcp-session-id': id }) });
        const isRefused = [400, 404, 405].includes(answer.status);
        return answerProblems(isRefused, `DELETE, ${sessionHeaderText(id)}`, 'HTTP 400, 404 or 405', answer);
      });
    },
  },
];

/** A rule that names each of these sessions in a request; each must be refused. */
function refusalRule(
  id: string,
  title: string,
  method: 'GET' | 'POST',
  idsOf: (probe: Probe) => Promise<readonly (string | undefined)[]>,
): LiveRule {
  const isPost = method === 'POST';
  return {
    ...must(id, 'C§3.1, C§7'),
    title: `${title} is refused`,
    fix: 'Answer HTTP 400 {"error":"Invalid session"}. Look ids up in a Map, or verify their signature.',
    controls: [opensSession, lists],
    mustAnswer: isPost ? undefined : 'in-time',
    check: async (probe) =>
      problemsInParallel(await idsOf(probe), async (session) => {
        const answer = isPost
          ? (await probe.rpcOnce('tools/list', undefined, { session })).http
          : await probe.openStream(session, { mayHang: true });
        return invalidSessionProblems(answer, `${method}, ${sessionHeaderText(session)}`);
      }),
  };
}

/** Changes one character of the id in a shell: the eighth that is not A. */
const changedSession = `$(printf %s "$SESSION" | sed 's/[^A]/A/8')`;

/** The rule with requests that a shell repeats with a changed session id. */
function changesSession(rule: LiveRule): LiveRule {
  return {
    ...rule,
    check: async (probe) => {
      const problems = await rule.check(probe);
      return problems.map((problem) => ({
        ...problem,
        request: problem.request?.replace('$SESSION', () => changedSession),
      }));
    },
  };
}

/** The rule, run after the others: it may break a server that stores something under such an id. */
function survived(rule: LiveRule): LiveRule {
  return {
    ...rule,
    turn: 'last',
    check: async (probe) => {
      const worked = (await initializesAgain(probe)) === undefined;
      const problems = await rule.check(probe);
      if (!worked) return problems;
      const afterwards = await probe.initializeWithRetries();
      const broken = resultProblems(afterwards, 'initialize afterwards');
      if (broken.length > 0) probe.ledger.recordFailing(memberRule, afterwards.http);
      return [...problems, ...broken];
    },
  };
}

function sessionHeaderText(session: string | undefined): string {
  return `mcp-session-id: ${session === undefined ? 'absent' : shorten(session, 40)}`;
}

/** The id of a session, changed in its middle: the last character of base64 may contain unused bits. */
async function tamperedIds(probe: Probe): Promise<readonly [string]> {
  const id = await probe.session();
  if (id === undefined) throw NotRun.preventedBy('session');
  const middle = Math.floor(id.length / 2);
  return [`${id.slice(0, middle)}${id[middle] === 'A' ? 'B' : 'A'}${id.slice(middle + 1)}`];
}
