import { onlyReads } from '../definition/effect.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { isDenied } from '../wire/access.ts';
import { lists, refusesUnpaid } from '../wire/controls.ts';
import { invented } from '../wire/curl-line.ts';
import { NotRun } from '../wire/not-run.ts';
import type { CallParams, Probe } from '../wire/probe.ts';
import { describe, isLimited } from '../wire/rpc.ts';
import { refusedArguments } from '../wire/tool-cases.ts';
import { answerProblems } from './answer-problems.ts';
import { bearerValue, callWith, freshToken, type HeaderValue, tokenDecides } from './gate-attempts.ts';
import { misplacedTokens, runsNothing, type Unpaid } from './gate-request.ts';
import { type LiveRule, must, problemsInParallel, should } from './rule.ts';

/** The maximum number of tools that are asked. */
const mostTools = 100;

/** Authentication stands before every tool, and at every address of the endpoint. */
export const gateAddressRules: readonly LiveRule[] = [
  {
    ...must('gate.every-tool', 'C§1.3, C§5.4, C§7'),
    title: 'every tool refuses a call without a valid token',
    fix: 'Authenticate tools/call before anything that depends on the tool or its arguments.',
    controls: [refusesUnpaid, lists],
    check: async (probe, note) => {
      const tools = await probe.tools();
      const calls: CallParams[] = [];
      const left: string[] = [];
      for (const tool of tools) {
        const name = String(tool.name);
        const args = refusedArguments(tool);
        if (args || (await mayCallUnpaid(probe, tool))) calls.push({ name, arguments: args ?? {} });
        else left.push(name);
      }
      if (left.length > 0)
        note?.(`not asked, because they refuse no arguments and may change something: ${left.join(', ')}`);
      if (calls.length > mostTools) note?.(`asked for the first ${mostTools} of ${calls.length} tools`);
      if (calls.length === 0) throw tools.length === 0 ? NotRun.preventedBy('noTool') : withheld;
      const headers = await untrusted(probe);
      for (const call of calls.slice(0, mostTools)) {
        const [problem] = await problemsInParallel(headers, (header) => openProblems(probe, call, header));
        if (problem) return [problem];
      }
      return [];
    },
  },
  {
    ...must(
      'gate.other-address',
      'C§5.4; RFC 9110 §4.2.3; routers differ in what they take for the same path',
    ),
    title: 'no other spelling of the address runs a tool without a token',
    fix: 'Authenticate in the handler of the request, not by a path that is compared with /mcp.',
    controls: [refusesUnpaid],
    check: (probe) => runsNothing(probe, urlVariants(probe.url)),
  },
  {
    ...should('gate.token-elsewhere', 'C§5.7 leaves the place open; RFC 6750 §2.3 and §5.3'),
    title: 'a token in the query or in a cookie does not pay for a call',
    fix: 'Read the token from the Authorization header alone: addresses are logged, and cookies are sent by any page.',
    controls: tokenDecides,
    check: async (probe) => {
      const problems = await runsNothing(
        probe,
        misplacedTokens(probe, await freshToken(probe), 'a valid token'),
      );
      const invalid = misplacedTokens(probe, invented.token, 'an invalid token');
      if (problems.length > 0 && (await runsNothing(probe, invalid)).length > 0)
        throw NotRun.explained('gate.request-form');
      return problems;
    },
  },
];

const withheld = NotRun.because('withheld', 'every tool takes any arguments and may change something');

/** Whether a tool may be called with arguments that nobody has chosen. */
async function mayCallUnpaid(probe: Probe, tool: JsonObject): Promise<boolean> {
  if (!onlyReads(tool) || probe.target.writing?.has(String(tool.name))) return false;
  return (await probe.callable()).includes(tool);
}

/** Values of the token's header that must be refused; a forged one only if it is refused where every rule tries it. */
async function untrusted(probe: Probe): Promise<readonly HeaderValue[]> {
  const none: HeaderValue = { value: undefined, label: 'no token' };
  if (!probe.target.signer) return [none];
  const forged = bearerValue(
    probe,
    await probe.token({ by: 'untrusted' }),
    'a token signed with another key',
  );
  if (isDenied(await callWith(probe, forged.value))) return [none, forged];
  return [none];
}

async function openProblems(
  probe: Probe,
  { name, arguments: args }: CallParams,
  { value, label }: HeaderValue,
): Promise<readonly Problem[]> {
  const answer = await callWith(probe, value, { name, arguments: args });
  const isRefused = isDenied(answer) || isLimited(answer);
  return answerProblems(isRefused, `tools/call, ${label}`, 'a refusal', answer).map((problem) => ({
    ...problem,
    tool: name,
    arguments: args,
    actual: `at least this tool answers: ${describe(answer)}`,
    fix: 'Verify the token before the arguments. Whoever sends no token gets past this tool to its validation, or further.',
  }));
}

function urlVariants({ origin, pathname, search }: URL): readonly Unpaid[] {
  const targets = [
    `${pathname}/${search}`,
    `${pathname.toUpperCase()}${search}`,
    `/${pathname}${search}`,
    `${pathname}${search === '' ? '?' : `${search}&`}x=1`,
    `${pathname}%2f${search}`,
    `${pathname}/.${search}`,
    `${origin}${pathname}${search}`,
  ];
  return targets
    .filter((target) => target !== `${pathname}${search}`)
    .map((target) => ({ target, as: `POST ${target}` }));
}
