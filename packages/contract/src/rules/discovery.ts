import { isObject, objectOr, shorten } from '../json/json.ts';
import { bounds } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { isDenied } from '../wire/access.ts';
import { clientListing, initializesAgain, ListRejected, lists, listsAll } from '../wire/controls.ts';
import { toolListProblems } from '../wire/fetch-tool-list.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import {
  answerProblems,
  carriedOutProblems,
  rejectedProblems,
  resultProblems,
  withRefusalFix,
} from './answer-problems.ts';
import { fact, type LiveRule, must, problemsAt, problemsInParallel, problemUnless, should } from './rule.ts';

const denied = 'initialize was denied; give the header that the server requires with --header';

/** Information that an agent or the marketplace reads before it pays. */
export const discoveryRules: readonly LiveRule[] = [
  {
    ...must('discovery.initialize', 'C§4.1, C§5.2'),
    title: 'initialize works without a token',
    fix: 'Answer initialize with HTTP 200 and a JSON-RPC result, with or without a token.',
    controls: [],
    mustAnswer: true,
    check: async (probe) => {
      const answer = await probe.firstInitialize();
      const { overrides } = probe.profile.rules;
      // MCP, authorization: a server may require a token for every request.
      if (overrides.gate === 'off' && isDenied(answer.http)) throw NotRun.because('unanswered', denied);
      const fix =
        'Check that the URL is that of the MCP endpoint, and that it answers initialize with a JSON-RPC result.';
      return resultProblems(answer, 'initialize').map((problem) => ({ fix, ...problem }));
    },
  },
  {
    ...fact('discovery.in-time', 'must', 'profile limits.initializeMs; app cron/validate-tools'),
    title: 'initialize is answered in time',
    fix: 'Do slow work (connections, downloads) at the start of the server, not during the first request.',
    controls: [],
    mustAnswer: true,
    check: async (probe) => {
      const { initializeMs } = probe.profile.limits;
      const { http, result } = await probe.firstInitialize();
      if (!result) throw NotRun.preventedBy('initialize');
      const actual = `${Math.round(http.ms)} ms`;
      return problemsAt(http.ms <= initializeMs, 'initialize', `an answer within ${initializeMs} ms`, actual);
    },
  },
  listRule('tools', 'C§1.3, C§4.1, C§5.2'),
  listRule('resources', 'C§4.1, C§5.2'),
  listRule('prompts', 'C§4.1, C§5.2'),
  {
    ...must('discovery.tools', 'C§1.1; app contribute/actions.ts'),
    title: 'the server lists at least one tool, on a limited number of pages',
    fix: 'Add a tool and return it from tools/list.',
    check: async (probe) => {
      const { tools, isComplete: isEnded, loop } = await probe.toolList();
      if (loop)
        return [
          {
            path: 'tools/list result.nextCursor',
            expected: 'a cursor of further tools, or none',
            actual: `page ${loop.page}, for the cursor ${shorten(loop.cursor)}, repeats page ${loop.repeats}`,
            fix: 'Send nextCursor only when another page follows, and use the cursor of the request.',
          },
        ];
      return [
        ...problemsAt(tools.some(isObject), 'tools/list result.tools', 'at least one tool', '[]'),
        ...problemUnless(isEnded || tools.length > bounds.tools, {
          path: 'tools/list result.nextCursor',
          expected: `no nextCursor on page ${bounds.pages}`,
          actual: 'a nextCursor for one more page',
          fix: 'Send nextCursor only when another page follows, and put all tools on a few pages.',
        }),
      ];
    },
  },
  {
    ...must('discovery.invalid-token', 'C§4.1, C§5.2'),
    title: 'the open methods work with an invalid token, too',
    fix: 'Look at the token of tools/call only. A client sends the token it has with every request, after it has expired, too.',
    turn: 'opening',
    controls: [initializesAgain, lists],
    mustAnswer: true,
    check: async (probe) => {
      const { header, scheme } = probe.profile.token;
      const headers = { [header]: `${scheme} e30.e30.invalid` };
      const methods = ['tools/list', 'resources/list', 'prompts/list'];
      const session = await probe.newSession();
      const found = await problemsInParallel(methods, async (method) => {
        const problems = carriedOutProblems(await probe.rpc(method, undefined, { headers, session }), method);
        if (problems.length === 0) return [];
        const withoutToken = await probe.rpc(method, undefined, { session });
        if (carriedOutProblems(withoutToken, method).length > 0) return [];
        return problems; // see discovery.*-list
      });
      return [...resultProblems(await probe.initialize(undefined, { headers }), 'initialize'), ...found];
    },
  },
  {
    ...should('discovery.same-list', 'C§3.2, C§9.3: the platform keeps the list until it is refreshed'),
    title: 'tools/list returns the same definitions each time, in each session',
    fix: 'Build the list once, at the start. The platform judges calls by the list it has read.',
    turn: 'last',
    controls: [lists],
    check: async (probe) => {
      const isRenewed = (await initializesAgain(probe)) === undefined;
      const session = isRenewed ? await probe.newSession().catch(() => undefined) : undefined;
      for (let time = 0; time < 2; time++) await probe.rpc('tools/list', undefined, { session });
      return [
        ...(await clientListProblems(probe)),
        ...probe.ledger.changeProblems('tools/list', 'the same list'),
      ];
    },
  },
  {
    ...should('discovery.bad-cursor', 'MCP 2025-11-25, pagination'),
    title: 'a cursor that the server never issued is refused',
    fix: 'Answer the JSON-RPC error -32602 to a cursor that you do not know, also if all tools are on one page.',
    controls: [lists],
    check: async (probe) => {
      const answer = await probe.rpc('tools/list', { cursor: 'no-such-cursor-4kx' });
      const isRefused = answer.error !== undefined || rejectedProblems(answer.http).length === 0;
      const path = 'tools/list with {"cursor":"no-such-cursor-4kx"}';
      return answerProblems(isRefused, path, 'the JSON-RPC error -32602', answer.http);
    },
  },
  {
    ...must('discovery.client', 'C§1.2, C§4.1'),
    title: 'the client of the MCP SDK connects and lists the tools',
    fix: 'Change the definitions as the message says: the SDK cannot read them.',
    turn: 'opening',
    controls: [initializesAgain, listsAll],
    mustAnswer: true,
    check: async (probe) => {
      const tools = await probe.tools();
      const listed = await clientListing(probe);
      if (listed instanceof ListRejected) return listProblems(listed.message);
      const expected = `${tools.length} tools`;
      const actual = `${listed.length} tools`;
      return problemsAt(listed.length > 0 === tools.length > 0, 'tools/list', expected, actual);
    },
  },
];

function listRule(kind: 'tools' | 'resources' | 'prompts', source: string): LiveRule {
  const method = `${kind}/list`;
  return {
    id: `discovery.${kind}-list`,
    level: 'must',
    title: `${method} works without a token${kind === 'tools' ? ', to the last page' : ''}`,
    source,
    fix: `Let ${method} pass without authentication and return ${kind === 'tools' ? 'the list of tools' : `{"${kind}": []}`}.`,
    mustAnswer: true,
    check: async (probe) => {
      if (kind === 'tools') {
        if (await hasNoTools(probe)) throw NotRun.preventedBy('noTools');
        const pages = await probe.fetchedToolList();
        const { answer } = pages.fault ?? {};
        const problems = toolListProblems(pages);
        if (answer) return problems.map(withRefusalFix(answer));
        return problems;
      }
      const { result, http } = await probe.rpc(method);
      return answerProblems(Array.isArray(result?.[kind]), method, `a result with ${kind}`, http);
    },
  };
}

/** The problem of a list with other tools for the client of the SDK, which reads the first page. */
async function clientListProblems(probe: Probe): Promise<readonly Problem[]> {
  const clientTools = await clientListing(probe).catch(() => new ListRejected());
  if (clientTools instanceof ListRejected) return []; // see discovery.client
  const [expected, actual] = [probe.ledger.firstPage(), clientTools].map(toolNames);
  const path = 'tools/list of the client of the MCP SDK';
  return problemsAt(expected === actual, path, `the same tools: ${shorten(expected)}`, shorten(actual));
}

function toolNames(tools: readonly unknown[]): string {
  return tools
    .map((tool) => (isObject(tool) ? shorten(tool.name) : ''))
    .toSorted()
    .join(', ');
}

/** A server of only resources or prompts: it declares no tools, and does not know the method. */
async function hasNoTools(probe: Probe): Promise<boolean> {
  const { result } = await probe.firstInitialize();
  if (!result || objectOr(result.capabilities).tools !== undefined) return false;
  return (
    (await probe.fetchedToolList()).fault !== undefined &&
    (await probe.rpc('tools/list')).error?.code === -32_601
  );
}

/** The problem of a list that the SDK's client rejects. */
export function listProblems(message: string): readonly Problem[] {
  return [{ path: 'tools/list', expected: 'a list of tools', actual: shorten(message, 300) }];
}
