import { initializesAgain, lists } from '../controls.ts';
import { isObject, shorten } from '../json.ts';
import { NotRun } from '../not-run.ts';
import { silenceOf } from '../probe/client.ts';
import { describe } from '../probe/rpc.ts';
import { type LiveRule, unless } from '../rule.ts';
import { bounds } from '../walk.ts';
import { resultProblems } from './expect.ts';

/** What an agent or the marketplace reads before anything is paid. */
export const discoveryRules: readonly LiveRule[] = [
  {
    id: 'discovery.initialize',
    level: 'must',
    title: 'initialize works without a token',
    source: 'C§4.1, C§5.2',
    fix: 'Let initialize pass without authentication.',
    controls: [],
    silence: 'breaks',
    check: async (probe) => resultProblems(await probe.initialized(), 'initialize'),
  },
  {
    id: 'discovery.in-time',
    level: 'must',
    title: 'initialize is answered in time',
    source: 'profile limits.initializeMs; app cron/validate-tools',
    fact: true,
    fix: 'Do slow work (connections, downloads) after the server listens, not on the first request.',
    controls: [],
    silence: 'breaks',
    check: async (probe) => {
      const { initializeMs } = probe.profile.limits;
      const { http, result } = await probe.initialized();
      if (!result) throw new NotRun('initialize gave no result (discovery.initialize)');
      return unless(http.ms <= initializeMs, {
        path: 'initialize',
        expected: `an answer within ${initializeMs} ms`,
        actual: `${Math.round(http.ms)} ms`,
      });
    },
  },
  listRule('tools', 'C§1.3, C§4.1, C§5.2'),
  listRule('resources', 'C§4.1, C§5.2'),
  listRule('prompts', 'C§4.1, C§5.2'),
  {
    id: 'discovery.tools',
    level: 'must',
    title: 'the server lists at least one tool, and its list ends',
    source: 'C§1.1; app contribute/actions.ts',
    fix: 'List the tool in src/tools.',
    check: async (probe) => {
      const { tools, ended } = await probe.listing();
      return [
        ...unless(tools.some(isObject), {
          path: 'tools/list result.tools',
          expected: 'at least one tool',
          actual: '[]',
        }),
        ...unless(ended || tools.length > bounds.tools, {
          path: 'tools/list result.nextCursor',
          expected: `none on page ${bounds.pages}`,
          actual: 'one more page',
          fix: 'Send nextCursor only where another page follows, and all tools on few pages.',
        }),
      ];
    },
  },
  {
    id: 'discovery.client',
    level: 'must',
    title: 'the client of the MCP SDK connects and lists the tools',
    source: 'C§1.2, C§4.1',
    fix: 'See the message: the definitions are not what the SDK understands.',
    controls: [initializesAgain, lists],
    silence: 'breaks',
    check: async (probe) => {
      const tools = await probe.tools();
      try {
        const session = await probe.client();
        const listed = await session.client.listTools().finally(session.close);
        return unless(listed.tools.length > 0 === tools.length > 0, {
          path: 'tools/list',
          expected: `${tools.length} tools`,
          actual: `${listed.tools.length} tools`,
        });
      } catch (error) {
        const silence = silenceOf(error);
        if (silence) throw silence;
        return [{ path: 'tools/list', expected: 'a list of tools', actual: shorten(messageOf(error), 300) }];
      }
    },
  },
];

function listRule(kind: 'tools' | 'resources' | 'prompts', source: string): LiveRule {
  const method = `${kind}/list`;
  return {
    id: `discovery.${kind}-list`,
    level: 'must',
    title: `${method} works without a token`,
    source,
    fix: `Let ${method} pass without authentication and answer a list${kind === 'tools' ? '' : ', [] where there are none'}.`,
    silence: 'breaks',
    check: async (probe) => {
      const { result, http } = await probe.rpc(method);
      return unless(Array.isArray(result?.[kind]), {
        path: method,
        expected: `a result with ${kind}`,
        actual: describe(http),
      });
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
