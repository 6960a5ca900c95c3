import { groupBy, isObject, isWalkable, parseJsonText, shorten } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { lists } from '../wire/controls.ts';
import {
  type Exploration,
  type ExploredCall,
  exploreTools,
  failsAgain,
  shrinkCall,
  stillWorks,
} from '../wire/explored-calls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { CallOutcome, Probe } from '../wire/probe.ts';
import { Unanswered } from '../wire/receive.ts';
import { repeatLines } from '../wire/repeat.ts';
import { describe, describeCall, isDeniedByStatus, isLimited, resultText } from '../wire/rpc.ts';
import { problemOfCall, resultRules } from './result.ts';
import { effectiveLevel, must, problemsAt, should, withSharedMembers } from './rule.ts';
import { isText } from './schema-problems.ts';

/** Calls that are derived from the inputSchema of each tool. */
export const exploreRules = withSharedMembers({ turn: 'last', controls: [lists] }, [
  {
    ...must('explore.answered', 'C§4, C§7'),
    title: 'no generated call makes the server fail',
    fix: 'Answer every call by a result, whatever its arguments are: catch what the handler throws.',
    mustAnswer: true,
    check: async (probe, note) => {
      const problems = [
        ...(await problemsOfTool(probe, unansweredFault, note)),
        ...(await bareProblems(probe)),
      ];
      const { calls } = await exploreTools(probe);
      if (calls.some(({ rpc }) => rpc.http.status === 0)) throw new Unanswered(problems);
      return problems;
    },
  },
  {
    ...must('explore.valid', 'C§2.1, C§2.2, C§4.1'),
    title: 'every call that the inputSchema allows ends in data, an empty result or a stated failure',
    fix: 'Handle every value that the inputSchema allows, or narrow the inputSchema.',
    check: (probe, note) => problemsOfTool(probe, validFault, note),
  },
  {
    ...should('explore.no-crash', 'OWASP, error handling'),
    title: 'no refusal of generated arguments is an exception of the language',
    fix: 'Validate the arguments before the handler runs, and answer with your own code and message.',
    check: (probe, note) => problemsOfTool(probe, crashFault, note),
  },
  {
    ...should('explore.refuses', 'C§2.1, C§7'),
    title: 'a value that the inputSchema does not allow is refused, and the refusal names the argument',
    fix: 'Validate the arguments against the inputSchema, and name the argument: a model corrects what it is told.',
    check: (probe, note) => problemsOfTool(probe, refusalFault, note),
  },
]);

/** What is wrong with the answer to a generated call. */
type Fault = Pick<Problem, 'expected' | 'actual'>;
type FaultOf = (call: ExploredCall, probe: Probe) => Fault | undefined;

/** One problem for each tool and kind of call, each with the smallest call that was found. */
async function problemsOfTool(
  probe: Probe,
  faultOf: FaultOf,
  note?: (text: string) => void,
): Promise<readonly Problem[]> {
  const exploration = await exploreTools(probe);
  if (faultOf === unansweredFault) for (const text of exploration.notes) note?.(text);
  const executedCalls = callsOfExploration(exploration);
  const fails = (call: ExploredCall) => faultOf(call, probe) !== undefined;
  const failed = groupBy(
    executedCalls.filter(fails),
    ({ name, variant }) => `${name} ${variant.changes.map((change) => change.name).join()}`,
  );
  const problems: Problem[] = [];
  for (const [first, ...otherCalls] of failed.values()) {
    const reason = await reasonNotToReport(probe, first, fails);
    if (reason !== undefined) {
      note?.(reason);
      continue;
    }
    const isSilent = first.rpc.http.status === 0; // each smaller call could take as long
    const smallest = isSilent ? first : await shrinkCall(probe, first, fails);
    const fault = faultOf(smallest, probe);
    if (fault) problems.push(exploreProblem(probe, smallest, fault, otherCalls.length));
  }
  return problems;
}

/** The generated calls that neither authentication nor a limit denied. @throws NotRun if there is none, or no ordinary call has a result */
function callsOfExploration({ calls, notes }: Exploration): readonly ExploredCall[] {
  const executedCalls = calls.filter(({ rpc: { http } }) => !isDeniedByStatus(http) && !isLimited(http));
  // The time was over before the first call.
  if (calls.length === 0 && notes.length > 0) throw NotRun.because('unanswered', notes.join('; '));
  if (executedCalls.length === 0) throw NotRun.preventedBy(calls.length > 0 ? 'refused' : 'noSuccess');
  if (!executedCalls.some(({ ordinary }) => ordinary.result)) throw NotRun.preventedBy('noResult');
  return executedCalls;
}

/** Sends the ordinary call and the failed call again. Returns why the failure is not reported; undefined if it is. */
async function reasonNotToReport(
  probe: Probe,
  call: ExploredCall,
  fails: (call: ExploredCall) => boolean,
): Promise<string | undefined> {
  if (!(await stillWorks(probe, call)))
    return `${call.name} is not judged: its ordinary call fails as well by now`;
  if (!(await failsAgain(probe, call, fails)))
    return `${call.name} did not answer a call in time that it answers when nothing else runs`;
  return undefined;
}

/** A tools/call without params: it names no tool. */
async function bareProblems(probe: Probe): Promise<readonly Problem[]> {
  const { http } = await probe.rpc('tools/call', undefined, { token: await probe.payment() });
  return problemsAt(!serverHasFailed(http), 'tools/call without params', 'a JSON-RPC error', describe(http));
}

function exploreProblem(probe: Probe, call: ExploredCall, fault: Fault, otherCount: number): Problem {
  const { name, arguments: args, variant, rpc } = call;
  const suffix = otherCount === 0 ? '' : ` (and ${otherCount} more such calls)`;
  const problem = problemOfCall(
    { name, arguments: args ?? {}, ...(rpc.result && { result: rpc.result }) },
    { ...fault, actual: `${fault.actual}${suffix}` },
  );
  const [request, ...repeat] = repeatLines(probe.target, { name, arguments: args, meta: variant.meta });
  return { ...problem, path: callPath(call), ...(request !== undefined && { request }), repeat };
}

function callPath({ arguments: args, variant: { meta } }: ExploredCall): string {
  if (args === undefined) return 'tools/call without arguments';
  return `tools/call with ${shorten(args)}${meta ? ` and _meta ${shorten(meta)}` : ''}`;
}

/** A server that says when to come back is busy, not broken. */
function serverHasFailed({ status, headers }: ExploredCall['rpc']['http']): boolean {
  return status === 0 || (status >= 500 && headers['retry-after'] === undefined);
}

/** Calls that fail as the ordinary call of the tool does say nothing about their arguments. */
function unansweredFault({ rpc: { http }, ordinary }: ExploredCall): Fault | undefined {
  if (!serverHasFailed(http) || serverHasFailed(ordinary.rpc.http)) return undefined;
  return { expected: 'a JSON-RPC response', actual: describe(http) };
}

function validFault(call: ExploredCall, probe: Probe): Fault | undefined {
  const { rpc, ordinary, isValid, variant } = call;
  if (!isValid || serverHasFailed(rpc.http) || !ordinary.result) return undefined;
  if (rpc.result === undefined)
    return variant.expectedEnding === 'result'
      ? { expected: 'data, an empty result or a failure with isError: true', actual: describe(rpc.http) }
      : undefined;
  if (rpc.result.isError === true) {
    if (!isText(resultText(rpc.result.content)))
      return { expected: 'a failure with a text', actual: describeCall(rpc) };
    return exceptionFault(call);
  }
  const outcome: CallOutcome = { ...call, arguments: call.arguments ?? {}, result: rpc.result };
  return resultFault(outcome, ordinary, probe);
}

/** What a rule about results says, unless the ordinary call breaks it as well. */
function resultFault(outcome: CallOutcome, ordinary: CallOutcome, { profile }: Probe): Fault | undefined {
  const [found] = resultRules
    .filter((rule) => effectiveLevel(rule, profile) === 'must')
    .filter((rule) => rule.problemsOf(ordinary, profile).length === 0)
    .flatMap((rule) => rule.problemsOf(outcome, profile));
  return found && { expected: `${found.expected} at ${found.path ?? 'result'}`, actual: found.actual };
}

function crashFault(call: ExploredCall): Fault | undefined {
  const { isValid, rpc } = call;
  if (serverHasFailed(rpc.http) || (isValid && rpc.result !== undefined)) return undefined;
  return internalErrorFault(call) ?? exceptionFault(call);
}

/** The code with which the libraries of MCP answer an exception that the handler of a tool has thrown. */
const internalError = -32603;

function internalErrorFault({ isValid, variant, ordinary, rpc }: ExploredCall): Fault | undefined {
  if (!isValid || variant.omitsArguments || variant.expectedEnding === 'result' || !ordinary.result)
    return undefined;
  if (rpc.error?.code !== internalError) return undefined;
  return { expected: 'data, or a failure in words of the tool', actual: describeCall(rpc) };
}

function exceptionFault({ rpc, ordinary }: ExploredCall): Fault | undefined {
  if (!exceptions.test(rpc.http.body) || exceptions.test(ordinary.rpc.http.body)) return undefined;
  return { expected: 'a failure in words of the tool', actual: describeCall(rpc) };
}

/** The messages of JavaScript, Python, Go and Java for an error in a program that nothing caught. */
const exceptions =
  /\b(?:Type|Reference|Key|Attribute|Index|UnboundLocal|ZeroDivision|Recursion|UnicodeEncode|UnicodeDecode)Error\b|Cannot (?:read|set) propert|\bis not a function\b|\bis not iterable\b|\bobject (?:has no attribute|is not subscriptable)\b|NullPointerException|nil pointer dereference|index out of range/;

/** The fault of a call with one invalid argument that succeeded, or whose refusal does not name the argument. */
function refusalFault(call: ExploredCall): Fault | undefined {
  const { rpc, isValid, variant, ordinary } = call;
  const { changes, expectedEnding } = variant;
  const [change, ...otherChanges] = changes;
  if (!ordinary.result || isValid || expectedEnding !== 'refusal') return undefined;
  if (!change || otherChanges.length > 0 || serverHasFailed(rpc.http)) return undefined;
  const fault = { expected: `a refusal that names ${change.name}`, actual: describeCall(rpc) };
  const hasSucceeded = rpc.result !== undefined && rpc.result.isError !== true;
  if (hasSucceeded) return fault;
  const refusals = [rpc.result, rpc.error].filter((refusal) => refusal !== undefined);
  const isNamed = refusals.some((refusal) => isWalkable(refusal) && isNamedIn(refusal, change.name));
  return isNamed ? undefined : fault;
}

/** Whether a text in a value contains a name, also a text that is JSON. */
function isNamedIn(value: Json, name: string): boolean {
  if (typeof value === 'string') return value.includes(name) || isNamedInJsonText(value, name);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => key === name || isNamedIn(member, name));
}

function isNamedInJsonText(text: string, name: string): boolean {
  const values = parseJsonText(text).filter(isObject);
  return values.some((value) => isWalkable(value) && isNamedIn(value, name));
}
