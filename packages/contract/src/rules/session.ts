import type { Problem } from '../model.ts';
import { type Control, initializesAgain, lists, opensSession } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { NoAnswer } from '../wire/receive.ts';
import {
  isLimited,
  type RpcAnswer,
  rpcAnswer,
  rpcRequest,
  sessionOf,
  silentAnswerOrThrow,
} from '../wire/rpc.ts';
import {
  answerProblems,
  carriedOutProblems,
  invalidSessionProblems,
  resultProblems,
} from './answer-problems.ts';
import { type LiveRule, must, problemsInParallel, should, valueProblems } from './rule.ts';

const idHeader = 'initialize, header mcp-session-id';

/** Requests with the same id in two sessions, sent once; a later probe in the same session reuses the answers. */
function twoSessionsProblems(probe: Probe): Promise<readonly Problem[]> {
  return probe.once('two at once', async () => {
    const method = await otherMethod(probe);
    const sessions = [await probe.newSession(), await probe.newSession()] as const;
    const id = 424_242;
    const [tools, otherAnswer] = await Promise.all([
      probe.post(rpcRequest(id, 'tools/list'), { session: sessions[0] }),
      probe.post(rpcRequest(id, method), { session: sessions[1] }),
    ]);
    const [first, second] = [rpcAnswer(tools, id), rpcAnswer(otherAnswer, id)];
    const isListed = Array.isArray(first.result?.tools);
    const path = `${method} in the second session`;
    return [
      ...answerProblems(isListed, 'tools/list in the first session', 'a list of tools', tools),
      ...answerProblems(second.result?.tools === undefined, path, 'no list of tools', otherAnswer),
      ...carriedOutProblems(second, path),
    ];
  });
}

/** A method beside tools/list that the server answers, whatever its other methods do. */
function otherMethod(probe: Probe): Promise<string> {
  return probe.once('answered method', async () => {
    for (const method of ['prompts/list', 'resources/list']) {
      const answer = await probe.rpc(method).catch(silentAnswerOrThrow);
      if (carriedOutProblems(answer, method).length === 0) return method;
    }
    const { http, result, error } = await probe.rpc('ping').catch(silentAnswerOrThrow);
    const isAnsweredWrongly = http.status >= 200 && http.status < 300 && !result && error?.code !== -32_601;
    if (isAnsweredWrongly) throw NotRun.preventedBy('ping');
    return 'ping';
  });
}

/** Two sessions at once get their own answers: otherwise twenty do not, either. */
const keepsTwoApart: Control = async (probe) => {
  const problems = await twoSessionsProblems(probe).catch((error: unknown) =>
    error instanceof NoAnswer ? [error] : [],
  );
  if (problems.length === 0) return undefined;
  return 'disturbed';
};

/** Twenty sessions, opened and used at the same time. */
async function twentySessionsProblems(probe: Probe): Promise<readonly Problem[]> {
  const initializations = await Promise.all(Array.from({ length: 20 }, () => probe.initialize()));
  const refusals = initializations.flatMap((answer) => resultProblems(answer, 'initialize'));
  if (refusals.length > 0) return refusals.slice(0, 1);
  const answers = await Promise.all(
    initializations.map(async (answer) =>
      probe.rpc('tools/list', undefined, { session: await probe.confirmSession(answer), keepsSession: true }),
    ),
  );
  // discovery.same-list compares the lists.
  return answers.flatMap((answer) => resultProblems(answer, 'tools/list')).slice(0, 1);
}

/** The fewest bits of an id that nobody guesses: a random UUID has 122, one of version 7 has 74, a clock in nanoseconds less. */
const fewestBits = 44;

/** The bits that the characters in which these ids differ can hold at most. */
function differingBits(ids: readonly string[]): number {
  const aligned = (reversed: boolean): number => {
    const texts = ids.map((id) => (reversed ? [...id].reverse() : [...id]));
    const length = Math.max(...texts.map((text) => text.length));
    const columns = Array.from({ length }, (_, at) => texts.map((text) => text[at]));
    const differing = columns.filter((column) => new Set(column).size > 1);
    const text = differing.flat().join('');
    const alphabet = [/^\d*$/, /^[\da-f]*$/i, /^[\da-z]*$/i].findIndex((kind) => kind.test(text));
    return differing.length * Math.log2([10, 16, 36][alphabet] ?? 64);
  };
  return Math.min(aligned(false), aligned(true)); // a count gets longer, before what follows it
}

const requestsOfSession = 50;

/** Milliseconds from the start of a session to its first use. */
const ageMs = 5_000;

/** The session that an initialize has opened, when it is old enough. */
async function agedSession(probe: Probe, initialized: RpcAnswer): Promise<string> {
  const session = await probe.confirmSession(initialized);
  if (session === undefined) throw NotRun.preventedBy('sessionAgain');
  // The sessions of a project are those of the runtime, which keeps them longer than a check lasts.
  if (!probe.target.owned) await probe.pause(ageMs - (probe.ageOf(session) ?? 0));
  return session;
}

/** A session that is old enough: one of the run, or a new one if other sessions have replaced that. */
async function lastingSession(probe: Probe, method: string): Promise<string> {
  const session = await agedSession(probe, await probe.secondInitialize());
  const answer = await probe.rpc(method, undefined, { session, keepsSession: true });
  if (carriedOutProblems(answer, method).length === 0 || isLimited(answer.http)) return session;
  return agedSession(probe, await probe.initializeWithRetries());
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Sessions: opened by initialize, named in the header mcp-session-id. */
export const sessionRules: readonly LiveRule[] = [
  {
    ...must('session.open', 'C§3.1, C§4'),
    title: 'initialize returns a session id',
    fix: 'Return the header mcp-session-id with the answer to initialize.',
    check: async (probe) => {
      const { http, result } = await probe.firstInitialize();
      if (!result) throw NotRun.preventedBy('initialize');
      const isNamed = sessionOf(http) !== undefined;
      return valueProblems(isNamed, idHeader, 'a session id', http.headers['mcp-session-id']);
    },
  },
  {
    ...should('session.id-characters', 'MCP 2025-06-18, transports'),
    title: 'the session id consists of visible ASCII characters',
    fix: 'Use base64url or a UUID.',
    check: async (probe) => {
      const id = sessionOf((await probe.firstInitialize()).http);
      if (id === undefined) throw NotRun.preventedBy('session');
      return valueProblems(/^[\x21-\x7e]+$/.test(id), idHeader, 'characters from 0x21 to 0x7E', id);
    },
  },
  {
    ...should('session.unguessable', 'MCP 2025-06-18, transports'),
    title: 'the ids of sessions neither count up nor tell the time',
    fix: 'Use crypto.randomUUID(), or a signature: who guesses the id of a session gets into it.',
    turn: 'opening',
    controls: [opensSession, initializesAgain],
    check: async (probe) => {
      const answers = [await probe.firstInitialize(), await probe.secondInitialize()];
      for (let count = 0; count < 2; count++) answers.push(await probe.initializeWithRetries());
      const ids = answers.flatMap(({ http }) => sessionOf(http) ?? []);
      if (new Set(ids).size < answers.length) throw NotRun.preventedBy('sessionAgain');
      const expected = `ids that differ in characters for ${fewestBits} random bits`;
      return valueProblems(differingBits(ids) >= fewestBits, idHeader, expected, ids);
    },
  },
  {
    ...should('session.header-case', 'RFC 9110 §5.1'),
    title: 'the header with the session id may be spelled in any case',
    fix: 'Compare the names of headers case-insensitively, as most servers do by themselves.',
    controls: [opensSession, lists],
    check: async (probe) => {
      const id = await probe.session();
      const names = ['Mcp-Session-Id', 'MCP-SESSION-ID'];
      return problemsInParallel(names, async (name) => {
        const headers = { 'mcp-session-id': undefined, [name]: id };
        return resultProblems(
          await probe.rpc('tools/list', undefined, { headers }),
          `tools/list, header ${name}`,
        );
      });
    },
  },
  {
    ...must('session.unique', 'C§3.1'),
    title: 'every initialize opens its own session',
    fix: 'Create a transport and a server object for each initialize, with an id of at least 128 random bits.',
    turn: 'opening',
    controls: [opensSession],
    mustAnswer: true,
    check: async (probe) => {
      const answers = [await probe.secondInitialize()];
      for (let count = 0; count < 2; count++) answers.push(await probe.initializeWithRetries());
      const refusals = answers.flatMap((answer) => resultProblems(answer, 'initialize, after the first one'));
      if (refusals.length > 0) return refusals.slice(0, 1);
      const ids = answers.map(({ http }) => sessionOf(http));
      const areDistinct = !ids.includes(undefined) && new Set(ids).size === ids.length;
      return valueProblems(areDistinct, idHeader, 'three different ids', ids);
    },
  },
  {
    ...must('session.lasting', 'C§3.1'),
    title: `a session answers ${requestsOfSession} requests, also when it is ${ageMs / 1_000} seconds old`,
    fix: 'Keep the session until it is deleted or has been idle for long. Do not count its requests.',
    turn: 'waiting',
    controls: [initializesAgain, lists],
    mustAnswer: true,
    check: async (probe, note) => {
      const method = await otherMethod(probe);
      const session = await lastingSession(probe, method);
      const send = () => probe.rpc(method, undefined, { session, keepsSession: true });
      const { lostSessions } = probe.ledger;
      if (lostSessions.length > 0)
        note?.(`the server lost a session after ${lostSessions.slice(0, 3).map(inSeconds).join(', ')}`);
      for (let turn = 1; turn <= requestsOfSession; turn++) {
        const age = inSeconds(probe.ageOf(session) ?? 0);
        const answer = await send();
        const problems = carriedOutProblems(answer, `${method}, request ${turn} of a session, after ${age}`);
        if (problems.length === 0) continue;
        if (isLimited(answer.http)) return [];
        const repeatedAnswer = await send();
        if (carriedOutProblems(repeatedAnswer, method).length === 0) {
          probe.ledger.countAnswer(method, undefined, answer);
          probe.ledger.countAnswer(method, undefined, repeatedAnswer);
          continue; // answers.steady reports it
        }
        if (/session/i.test(answer.http.body)) probe.ledger.recordFailing('session.lasting', answer.http);
        return problems;
      }
      return [];
    },
  },
  {
    ...must('session.two-at-once', 'C§3.1; reproduced with SDK 1.32'),
    title: 'two sessions at once each get their own answers',
    fix: 'Create a server object for each session or each request.',
    turn: 'isolated',
    controls: [initializesAgain, lists],
    mustAnswer: true,
    check: twoSessionsProblems,
  },
  {
    ...must('session.parallel', 'C§3.1'),
    title: 'twenty sessions are opened and used in parallel',
    turn: 'isolated',
    measures: true,
    fix: 'Allow several sessions at once, and share no state between them.',
    controls: [initializesAgain, lists, keepsTwoApart],
    mustAnswer: true,
    check: async (probe) => {
      const problems = await twentySessionsProblems(probe);
      const isLost = problems.some(({ actual }) => /session/i.test(actual));
      return isLost ? twentySessionsProblems(probe) : problems; // a server that was restarted has lost them once
    },
  },
  {
    ...must('session.get-known', 'C§3.1, C§4'),
    title: 'GET with a known session is handled',
    fix: 'Open the event stream of the session, or answer 405.',
    turn: 'opening',
    controls: [initializesAgain, lists],
    mustAnswer: true,
    check: async (probe) => {
      const answer = await probe.openStream(await probe.newSession());
      return answerProblems(answer.status === 200 || answer.status === 405, 'GET', 'HTTP 200 or 405', answer);
    },
  },
  {
    ...should('session.delete', 'MCP 2025-06-18, transports; C§3.1'),
    title: 'a deleted session is refused afterwards',
    fix: 'Remove the session on DELETE, or answer DELETE with 405.',
    turn: 'opening',
    controls: [initializesAgain, lists],
    check: async (probe) => {
      const session = await probe.newSession();
      const deleted = await probe.http({ method: 'DELETE', headers: { 'mcp-session-id': session } });
      if (deleted.status === 405) return [];
      const [posted, streamed] = await Promise.all([
        probe.rpcOnce('tools/list', undefined, { session }),
        probe.openStream(session),
      ]);
      const isDone = deleted.status >= 200 && deleted.status < 300;
      return [
        ...answerProblems(isDone, 'DELETE', 'HTTP 2xx or 405', deleted),
        ...invalidSessionProblems(posted.http, 'POST after DELETE'),
        ...invalidSessionProblems(streamed, 'GET after DELETE'),
      ];
    },
  },
];
