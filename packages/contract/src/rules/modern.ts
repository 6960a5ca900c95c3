import { isObject, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { speaksAny, speaksModern } from '../wire/controls.ts';
import { toolListProblems } from '../wire/fetch-tool-list.ts';
import { base64Header, metaKey, modernRpc, modernVersion } from '../wire/modern-request.ts';
import { type CallParams, noSuchTool, type Probe } from '../wire/probe.ts';
import { type RpcAnswer, sessionOf } from '../wire/rpc.ts';
import { answerProblems, resultProblems } from './answer-problems.ts';
import { problemOfCall, resultRules } from './result.ts';
import { must, problemsAt, problemsOfCalls, should, valueProblems, withSharedMembers } from './rule.ts';

/** The maximum number of tools whose results are checked again. */
const mostTools = 20;

/** What the stateless revision of MCP must provide. A server without it fails the first rule; the others are not checked. */
export const modernRules = withSharedMembers({ controls: [speaksModern] }, [
  {
    id: 'modern.served',
    level: 'should',
    levelOf: ({ era }) => (era === 'modern' ? 'must' : 'should'),
    title: `the server speaks MCP ${modernVersion}, which has no sessions`,
    source: 'MCP 2026-07-28, discovery: servers MUST implement server/discover',
    fix: 'Serve the stateless revision beside the sessions; with an SDK, by a version that has it. Until then, newer hosts lose one request for each connection, and no call. A project of create-market-mcp gets it by market-mcp upgrade.',
    controls: [speaksAny],
    check: async (probe) => resultProblems(await probe.discovered(), 'server/discover'),
  },
  {
    ...must('modern.discover', 'MCP 2026-07-28, discovery'),
    title: `server/discover names ${modernVersion} and the capabilities of the server`,
    fix: 'Answer with supportedVersions, a list that contains 2026-07-28, and capabilities, an object.',
    check: async (probe) => {
      const { supportedVersions: versions, capabilities } = (await probe.discovered()).result ?? {};
      const at = 'server/discover result';
      const isNamed = Array.isArray(versions) && versions.includes(modernVersion);
      const expected = `a list that holds ${shorten(modernVersion)}`;
      return [
        ...valueProblems(isNamed, `${at}.supportedVersions`, expected, versions),
        ...valueProblems(isObject(capabilities), `${at}.capabilities`, 'an object', capabilities),
      ];
    },
  },
  {
    ...must('modern.tools', 'C§4.1, C§5.2; MCP 2026-07-28, listing tools'),
    title:
      'tools/list works without a session and without a token, to the last page, and lists the same tools',
    fix: 'Serve the same list of tools in both eras, without a token.',
    mustAnswer: true,
    check: async (probe) => {
      const first = resultProblems(await modernList(probe), 'tools/list');
      const pages = await probe.fetchedModernToolList();
      const problems = first.length > 0 ? first : toolListProblems(pages);
      if (problems.length > 0) return problems;
      const names = (tools: readonly unknown[]) =>
        shorten([...new Set(tools.filter(isObject).map(({ name }) => String(name)))].toSorted(), 2_000);
      const sessionNames = names((await probe.toolList()).tools);
      const expected = `the tools that a session lists: ${sessionNames}`;
      const actual = names(pages.tools);
      return problemsAt(names(pages.tools) === sessionNames, 'tools/list result.tools', expected, actual);
    },
  },
  {
    ...must('modern.result-type', 'MCP 2026-07-28, result responses'),
    title: 'the results of server/discover and tools/list say resultType "complete"',
    fix: 'Add resultType: "complete" to each result of this revision.',
    check: (probe) =>
      eachResult(probe, ({ resultType }, method) =>
        valueProblems(resultType === 'complete', `${method} result.resultType`, '"complete"', resultType),
      ),
  },
  {
    ...should('modern.server-info', 'MCP 2026-07-28, per-response protocol fields'),
    title: 'every result names the server and its version in _meta',
    fix: `Add _meta["${metaKey('serverInfo')}"] with name and version.`,
    check: (probe) =>
      eachResult(probe, ({ _meta }, method) => {
        const info = isObject(_meta) ? _meta[metaKey('serverInfo')] : undefined;
        const isWhole = isObject(info) && typeof info.name === 'string' && typeof info.version === 'string';
        const expected = `${metaKey('serverInfo')} with name and version`;
        return valueProblems(isWhole, `${method} result._meta`, expected, _meta);
      }),
  },
  {
    ...must('modern.cache', 'MCP 2026-07-28, caching'),
    title: 'server/discover and tools/list say how long they are fresh, and for whom',
    fix: 'Add ttlMs, a whole number from 0, and cacheScope, "public" or "private".',
    check: (probe) =>
      eachResult(probe, ({ ttlMs, cacheScope }, method) => {
        const isTime = Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0;
        const isScope = cacheScope === 'public' || cacheScope === 'private';
        return [
          ...valueProblems(isTime, `${method} result.ttlMs`, 'a whole number from 0', ttlMs),
          ...valueProblems(isScope, `${method} result.cacheScope`, '"public" or "private"', cacheScope),
        ];
      }),
  },
  {
    ...must('modern.stateless', 'MCP 2026-07-28, Streamable HTTP: earlier revisions'),
    title: 'a request is answered whatever session it names, and opens no session',
    fix: 'Ignore Mcp-Session-Id in requests of this revision, and do not send it.',
    check: async (probe) => {
      await modernList(probe);
      const answer = await modernRpc(probe, 'tools/list', {}, { session: 'no-such-session' });
      return [
        ...resultProblems(answer, 'tools/list with an unknown Mcp-Session-Id'),
        ...[answer, await probe.discovered()]
          .map(({ http }) => sessionOf(http))
          .flatMap((id) => valueProblems(id === undefined, 'Mcp-Session-Id of the answer', 'none', id)),
      ];
    },
  },
  {
    ...must('modern.call', 'C§4.1, C§5.1; MCP 2026-07-28, calling tools'),
    title: 'a paid call is carried out without a session',
    fix: 'Accept a call with a valid token, whether or not it has a session.',
    check: async (probe) => resultProblems(await firstCall(probe), 'tools/call'),
  },
  {
    ...must(
      'modern.call-type',
      'MCP 2026-07-28, result responses; no call of this contract asks for more input',
    ),
    title: 'the result of a call says resultType "complete"',
    fix: 'Add resultType: "complete" to the result of each call, a failed one included.',
    controls: [speaksModern, callsModern],
    check: async (probe) => {
      const { resultType } = (await firstCall(probe)).result ?? {};
      return valueProblems(
        resultType === 'complete',
        'tools/call result.resultType',
        '"complete"',
        resultType,
      );
    },
  },
  {
    ...must('modern.failure', 'C§2.2, C§4.1, C§7'),
    title: 'a call that fails says isError true without a session, too',
    fix: 'Build the result of a call in one place for both eras.',
    controls: [speaksModern, callsModern],
    check: async (probe) => {
      const call = await failedCall(probe);
      const { http, result } = await modernCall(probe, {}, call);
      const path = `tools/call with ${shorten(call)} without a session`;
      const tool = call.name !== noSuchTool && { tool: call.name };
      return answerProblems(result?.isError === true, path, 'a result with isError: true', http).map(
        (problem) => ({ ...problem, ...tool }),
      );
    },
  },
  {
    ...must('modern.results', 'C§2.2, C§4.1'),
    title: 'the result of every tool is right without a session, too',
    fix: 'Build the result of a call in one place for both eras.',
    controls: [speaksModern, callsModern],
    check: async (probe) => {
      const byTool = new Map((await probe.cases()).toReversed().map((example) => [example.name, example]));
      const inSession = probe.target.era === 'modern' ? [] : await probe.outcomes();
      const resultChecks = resultRules.filter(({ level }) => level === 'must');
      return problemsOfCalls([...byTool.values()].slice(0, mostTools), async (example) => {
        const rpc = await modernCall(probe, {}, { name: example.name, arguments: example.arguments });
        const outcome = { ...example, rpc, result: rpc.result };
        const sessionCall = inSession.find(
          ({ tool, arguments: args }) => tool === example.tool && args === example.arguments,
        );
        // Errors that also occur in a session have their own finding.
        return resultChecks
          .filter((rule) => !sessionCall || rule.problemsOf(sessionCall, probe.profile).length === 0)
          .flatMap((rule) => rule.problemsOf(outcome, probe.profile))
          .map((problem) => problemOfCall(outcome, problem));
      });
    },
  },
  {
    ...must('modern.encoded-name', 'MCP 2026-07-28, Streamable HTTP: value encoding'),
    title: 'Mcp-Name may contain the name as base64',
    fix: 'Decode =?base64?…?= before you compare the name.',
    controls: [speaksModern, callsModern],
    check: async (probe) => {
      const { name } = await probe.authenticationCall();
      const header = base64Header(String(name));
      const answer = await modernCall(probe, { 'mcp-name': header });
      return resultProblems(answer, `tools/call with Mcp-Name: ${header}`);
    },
  },
]);

/** The tools/list of the stateless revision, requested once for a probe. */
export function modernList(probe: Probe): Promise<RpcAnswer> {
  return probe.once('modern list', () => modernRpc(probe, 'tools/list'));
}

/** A call that a tool answered with a failure in a session; if there is none, a call of an unknown tool. */
async function failedCall(probe: Probe): Promise<CallParams> {
  const inSession = probe.target.era !== 'modern' && (await probe.hasCases());
  const outcomes = inSession ? await probe.outcomes() : [];
  const { name, arguments: args } = outcomes.find(({ result }) => result?.isError === true) ?? {
    name: noSuchTool,
    arguments: {},
  };
  return { name, arguments: args };
}

/** A paid call of the stateless revision; of the first tool, unless another is given. */
export async function modernCall(
  probe: Probe,
  headers: Readonly<Record<string, string | undefined>> = {},
  call?: CallParams,
): Promise<RpcAnswer> {
  const params = call ?? (await probe.authenticationCall());
  const token = await probe.payment();
  return probe.modernCall(params, { token, headers });
}

/** A call with correct headers succeeds: otherwise the refusal of wrong headers proves nothing. */
export async function callsModern(probe: Probe): Promise<'modernCall' | undefined> {
  if ((await firstCall(probe)).result) return undefined;
  return 'modernCall';
}

/** The first paid call of the stateless revision. */
function firstCall(probe: Probe): Promise<RpcAnswer> {
  return probe.once('modern call', () => modernCall(probe));
}

async function eachResult(
  probe: Probe,
  findProblems: (result: JsonObject, method: string) => readonly Problem[],
): Promise<readonly Problem[]> {
  const answers = [
    ['server/discover', await probe.discovered()],
    ['tools/list', await modernList(probe)],
  ] as const;
  return answers.flatMap(([method, { result }]) => (result ? findProblems(result, method) : []));
}
