import type { Problem } from '../model.ts';
import type { Probe } from '../probe/probe.ts';
import { describe, rpcAnswer, rpcRequest, sessionOf } from '../probe/rpc.ts';
import { type LiveRule, NotRun, unless } from '../rule.ts';
import { present, shorten } from '../schema.ts';
import { invalidSessionProblems, resultProblems } from './expect.ts';

/** Sessions: opened by initialize, named in the header mcp-session-id. */
export const sessionRules: readonly LiveRule[] = [
  {
    id: 'session.open',
    level: 'must',
    title: 'initialize returns a session id',
    source: 'C§3.1, C§4',
    mend: 'Return the header mcp-session-id with the answer to initialize.',
    check: async (probe) => {
      const { http, result } = await probe.initialized();
      if (!result) throw new NotRun('initialize gave no result (discovery.initialize)');
      return unless(sessionOf(http) !== undefined, {
        path: 'initialize, header mcp-session-id',
        expected: 'a session id',
        actual: shorten(http.headers['mcp-session-id']),
      });
    },
  },
  {
    id: 'session.id-characters',
    level: 'should',
    title: 'the session id consists of visible ASCII characters',
    source: 'MCP 2025-06-18, transports',
    mend: 'Use base64url or a UUID.',
    check: async (probe) => {
      const id = await probe.newSession();
      return unless(/^[\x21-\x7e]+$/.test(id), {
        path: 'initialize, header mcp-session-id',
        expected: 'characters from 0x21 to 0x7E',
        actual: shorten(id),
      });
    },
  },
  {
    id: 'session.unique',
    level: 'must',
    title: 'every initialize opens a session of its own',
    source: 'C§3.1',
    mend: 'Generate the id from at least 128 random bits.',
    check: async (probe) => {
      const ids = await Promise.all([probe.newSession(), probe.newSession(), probe.newSession()]);
      return unless(new Set(ids).size === ids.length, {
        path: 'initialize, header mcp-session-id',
        expected: 'three different ids',
        actual: shorten(ids),
      });
    },
  },
  {
    id: 'session.lasting',
    level: 'must',
    title: 'a session answers as often as it is asked',
    source: 'C§3.1',
    mend: 'Keep the session until it is deleted or expires.',
    check: async (probe) => {
      const session = await probe.newSession();
      for (let turn = 1; turn <= 5; turn++) {
        const problems = resultProblems(
          await probe.rpc('resources/list', undefined, { session }),
          `request ${turn}`,
        );
        if (problems.length > 0) return problems;
      }
      return [];
    },
  },
  {
    id: 'session.two-at-once',
    level: 'must',
    title: 'two sessions at once each get their own answers',
    source: 'C§3.1; reproduced with SDK 1.32',
    mend: 'Give each session, or each request, a server object of its own.',
    check: async (probe) => {
      const sessions = [await probe.newSession(), await probe.newSession()] as const;
      const id = 424_242;
      const [tools, prompts] = await Promise.all([
        probe.post(rpcRequest(id, 'tools/list'), { session: sessions[0] }),
        probe.post(rpcRequest(id, 'prompts/list'), { session: sessions[1] }),
      ]);
      return [
        ...unless(Array.isArray(rpcAnswer(tools, id).result?.tools), {
          path: 'tools/list in the first session',
          expected: 'a list of tools',
          actual: describe(tools),
        }),
        ...unless(Array.isArray(rpcAnswer(prompts, id).result?.prompts), {
          path: 'prompts/list in the second session',
          expected: 'a list of prompts',
          actual: describe(prompts),
        }),
      ];
    },
  },
  {
    id: 'session.parallel',
    level: 'must',
    title: 'twenty sessions are opened and used in parallel',
    source: 'C§3.1',
    turn: 'last',
    mend: 'Do not limit sessions to one caller; share nothing between them.',
    check: async (probe) => {
      await probe.session();
      const opened = await Promise.all(Array.from({ length: 20 }, () => probe.initialize()));
      const refused = opened.flatMap((answer) => resultProblems(answer, 'initialize'));
      if (refused.length > 0) return refused.slice(0, 1);
      const used = await Promise.all(
        opened.map(async (answer) =>
          probe.rpc('prompts/list', undefined, { session: await probe.enter(answer) }),
        ),
      );
      return used.flatMap((answer) => resultProblems(answer, 'prompts/list')).slice(0, 1);
    },
  },
  refused('session.missing-post', 'a POST without a session', 'POST', async () => undefined),
  refused('session.unknown-post', 'a POST with an unknown session', 'POST', async () => unknownId),
  refused('session.missing-get', 'a GET without a session', 'GET', async () => undefined),
  refused('session.unknown-get', 'a GET with an unknown session', 'GET', async () => unknownId),
  refused('session.tampered', 'a session id with one character changed', 'POST', async (probe) =>
    tampered(await probe.newSession()),
  ),
  refused('session.long', 'a session id of 4 kB', 'POST', async () => 'x'.repeat(4096)),
  refused(
    'session.prototype',
    'a session id that is the name of an object member',
    'POST',
    async () => '__proto__',
  ),
  refused('session.prototype-get', 'such an id on GET', 'GET', async () => 'constructor'),
  {
    id: 'session.get-known',
    level: 'must',
    title: 'GET with a known session is handled',
    source: 'C§3.1, C§4',
    mend: 'Open the event stream of the session, or answer 405.',
    check: async (probe) => {
      const answer = await probe.http({
        headers: { accept: 'text/event-stream', 'mcp-session-id': await probe.newSession() },
      });
      return unless(answer.status === 200 || answer.status === 405, {
        path: 'GET',
        expected: 'HTTP 200 or 405',
        actual: describe(answer),
      });
    },
  },
  {
    id: 'session.foreign-initialize',
    level: 'must',
    title: 'initialize with an unknown session id is refused',
    source: 'C§3.1, C§7',
    mend: "Open a session only where the request names none: an id is the server's to choose.",
    check: async (probe) => {
      await probe.session();
      return invalidSessionProblems(
        (await probe.initialize(undefined, { session: unknownId })).http,
        'initialize',
      );
    },
  },
  {
    id: 'session.delete',
    level: 'should',
    title: 'a deleted session is unknown from then on',
    source: 'MCP 2025-06-18, transports; C§3.1',
    mend: 'Forget the session on DELETE, or answer DELETE with 405.',
    check: async (probe) => {
      const session = await probe.newSession();
      const deleted = await probe.http({ method: 'DELETE', headers: { 'mcp-session-id': session } });
      if (deleted.status === 405) return [];
      const after = await probe.post(rpcRequest(1, 'tools/list'), { session });
      return [
        ...unless(deleted.status >= 200 && deleted.status < 300, {
          path: 'DELETE',
          expected: 'HTTP 2xx or 405',
          actual: describe(deleted),
        }),
        ...invalidSessionProblems(after, 'POST after DELETE'),
      ];
    },
  },
  {
    id: 'session.delete-unknown',
    level: 'should',
    title: 'DELETE of an unknown session is refused',
    source: 'MCP 2025-06-18, transports; C§7',
    mend: 'Answer 400 as on POST and GET, or 405.',
    check: async (probe) => {
      const ids = [undefined, unknownId, '__proto__', 'x'.repeat(4096)];
      const answers = await Promise.all(
        ids.map((id) => probe.http({ method: 'DELETE', headers: present({ 'mcp-session-id': id }) })),
      );
      return answers.flatMap((answer) =>
        unless([400, 404, 405].includes(answer.status), {
          path: 'DELETE',
          expected: 'HTTP 400, 404 or 405',
          actual: describe(answer),
        }),
      );
    },
  },
];

const unknownId = '00000000-0000-4000-8000-000000000000';

function refused(
  id: string,
  what: string,
  method: 'GET' | 'POST',
  idOf: (probe: Probe) => Promise<string | undefined>,
): LiveRule {
  return {
    id,
    level: 'must',
    title: `${what} is refused`,
    source: 'C§3.1, C§7',
    mend: 'Answer HTTP 400 {"error":"Invalid session"}; look ids up in a Map or verify their signature.',
    check: async (probe): Promise<readonly Problem[]> => {
      const session = await idOf(probe);
      const named = present({ 'mcp-session-id': session });
      const answer =
        method === 'POST'
          ? await probe.post(rpcRequest(1, 'tools/list'), { headers: named })
          : await probe.http({ headers: { accept: 'text/event-stream', ...named } });
      return invalidSessionProblems(answer, method);
    },
  };
}

/** Changes the middle of an id: the last character of base64 may hold bits that do not count. */
function tampered(id: string): string {
  const middle = Math.floor(id.length / 2);
  return `${id.slice(0, middle)}${id[middle] === 'A' ? 'B' : 'A'}${id.slice(middle + 1)}`;
}
