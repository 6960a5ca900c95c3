import { randomUUID } from 'node:crypto';
import {
  type Problem,
  type RehearsalStep,
  type RuleResult,
  type WritingEffect,
  writingEffect,
} from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, shorten } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { groupsOf, inspectToolList } from 'market-mcp-contract/report';
import {
  type Probe,
  permissionOf,
  submissionCalls,
  submissionHarm,
  submissionTest,
  verdictsOf,
} from 'market-mcp-contract/wire';
import type { ToolCaller } from './caller.ts';
import { formProblems } from './listing-form.ts';
import {
  type CallCause,
  type FieldProblem,
  findingOf,
  type ListingForm,
  type RegistrationStep,
  type StepFinding,
  type Submission,
} from './marketplace-model.ts';

/** Called when a step starts and when it ends; the label identifies the step. */
type OnStep = (step: RegistrationStep) => void;

/** Finds why the last call of a tool failed; null if that is not known. */
type CauseOf = (tool: string) => Promise<CallCause | null>;

/**
 * Tests a filled form as the marketplace does: validates it, lists the tools without a token, checks their
 * definitions against the rules, checks that unpaid calls are refused if the tool has a price, and replays the
 * submission test (C§2.5, C§3.2; public source: app contribute/actions.ts). Stores nothing.
 *
 * @param usedEndpoints endpoints that are listed already.
 */
export async function submit(
  form: ListingForm,
  usedEndpoints: readonly string[],
  caller: ToolCaller,
  causeOf: CauseOf,
  onStep: OnStep = () => {},
): Promise<Submission> {
  const { profile } = caller;
  const fields = formProblems(form, profile.listing, usedEndpoints);
  const rejected = fields.filter(({ advice }) => !advice);
  onStep({ label: 'The form', status: stepStatus(rejected, fields), details: fields.map(fieldProblemText) });
  if (rejected.length > 0) return refusalWith(fields, rejected.map(fieldProblemText));
  return caller
    .probing(form.endpoint, { purpose: 'registration', calls: { named: [...harmless] } }, (probe) =>
      examineForm(form, fields, probe, causeOf, onStep),
    )
    .catch((error: Error) => {
      const reason = `The marketplace could not talk to the server. ${error.message}`;
      onStep({ label: 'Discovery', status: 'fail', details: [reason] });
      return refusalWith(fields, [reason]);
    });
}

async function examineForm(
  form: ListingForm,
  fields: readonly FieldProblem[],
  probe: Probe,
  causeOf: CauseOf,
  onStep: OnStep,
): Promise<Submission> {
  const tell = (label: string, status: RegistrationStep['status'], ...details: readonly string[]) =>
    onStep({ label, status, details });
  const fail = (label: string, reasons: readonly string[], findings?: readonly StepFinding[]) => {
    onStep({ label, status: 'fail', details: reasons, ...(findings && { findings }) });
    return refusalWith(fields, reasons);
  };
  tell('Discovery', 'running');
  await probe.firstInitialize();
  const { tools } = await probe.toolList();
  if (tools.length === 0) {
    return fail('Discovery', ['tools/list is empty: there is nothing to list. Serve at least one tool.']);
  }
  const count = tools.length === 1 ? 'One tool' : `${tools.length} tools`;
  tell('Discovery', 'pass', `${count}: ${listedToolNames(tools).join(', ')}`);

  const failed = inspectToolList(tools, probe.profile).filter(({ status }) => status === 'fail');
  const broken = failed.filter(({ level }) => level === 'must');
  const definitions = 'Tool definitions';
  if (broken.length > 0) return fail(definitions, broken.flatMap(ruleReasons), broken.map(findingOf));
  onStep({
    label: definitions,
    status: stepStatus([], failed),
    details: failed.flatMap(ruleReasons),
    findings: failed.map(findingOf),
  });

  if (Number(form.price) > 0) {
    tell('Unpaid calls', 'running');
    if (await probe.isUngated()) {
      const reason =
        'The server did not refuse a call without a token. With a price above 0 it must answer HTTP 401 {"error":"Unauthorized"} (C§5.4).';
      return fail('Unpaid calls', [reason]);
    }
    tell('Unpaid calls', 'pass', 'refused, as they must be');
  }

  const plan = plannedCalls(tools, probe.profile.smoke);
  const uncalled = plan.filter(({ isCalled }) => !isCalled);
  tell(callsStep, stepStatus([], uncalled), ...plan.map(({ says }) => says));
  tell('Submission test', 'running');
  const rehearsal = verdictsOf(
    await submissionTest(probe, (name) => tell('Submission test', 'running', `calling ${name}`)),
  );
  const failures = rehearsal.filter(({ status }) => status === 'fail');
  if (failures.length > 0) {
    const explained = await Promise.all(
      failures.map(async (step) => withCause(step, await causeOf(step.tool))),
    );
    const refusal = fail('Submission test', explained.flatMap(stepReasons), explained.map(callFinding));
    return { ...refusal, rehearsal };
  }
  const withheld = listedToolNames(tools).filter((name) => rehearsal.every(({ tool }) => tool !== name));
  const results = [
    ...rehearsal.map(({ tool, ms }) => `${tool}: ${Math.round(ms)} ms`),
    ...withheld.map((tool) => `${tool}: not called`),
  ];
  tell('Submission test', stepStatus([], withheld), ...results);
  const at = new Date().toISOString();
  const listed = { id: randomUUID(), state: 'listed', registeredAt: at, refreshedAt: at, tools } as const;
  return { accepted: true, listing: { ...form, ...listed }, rehearsal, withheld };
}

function stepStatus(failures: readonly unknown[], advice: readonly unknown[]): RegistrationStep['status'] {
  if (failures.length > 0) return 'fail';
  return advice.length > 0 ? 'advice' : 'pass';
}

/** The verdict on an accepted form, in the words of a check. */
export function acceptance(accepted: Submission & { readonly accepted: true }): string {
  const { listing, rehearsal, withheld } = accepted;
  if (withheld.length === 0) return 'Accepted';
  const count = rehearsal.length === 0 ? 'no tool' : `${rehearsal.length} of ${listing.tools.length} tools`;
  return `Nothing failed, ${count} called`;
}

/** The step that lists the calls. */
export const callsStep = 'Calls';

/** A rehearsal calls the tools that only read, by their hints or names. */
const harmless: ReadonlySet<string> = new Set(['*']);

/** A call of the submission test, and whether the rehearsal makes it. */
export interface PlannedCall {
  readonly isCalled: boolean;
  /** What the tool does beyond reading; null if it only reads. */
  readonly effect: WritingEffect | null;
  /** The call in words. */
  readonly says: string;
}

/** The calls that the marketplace's submission test makes, and which of them the rehearsal makes for real. */
export function plannedCalls(
  tools: readonly Json[],
  smoke: PlatformProfile['smoke'],
): readonly PlannedCall[] {
  const definitions = tools.filter(isObject);
  return submissionCalls(definitions, smoke).map((call, at) => {
    const definition = definitions[at] ?? {};
    const { isCalled, because } = permissionOf(definition, harmless);
    const { says, fix } = submissionHarm(call);
    return {
      isCalled,
      effect: writingEffect(definition) ?? null,
      says: isCalled
        ? `${call.tool} is called for real with ${shorten(call.arguments)}`
        : `${call.tool} is not called here: ${because}. But ${says}. ${fix}`,
    };
  });
}

function refusalWith(
  fields: readonly FieldProblem[],
  reasons: readonly string[],
): Submission & { readonly accepted: false } {
  return { accepted: false, fields, reasons, rehearsal: [] };
}

function fieldProblemText({ field, message }: FieldProblem): string {
  return `${field}: ${message}`;
}

/** A failed rule as text for the author: the tool, the place, the expected value, and the fix. Equal problems are one text. */
function ruleReasons({ title, fix, problems }: RuleResult): readonly string[] {
  return groupsOf(problems).map(({ problem, paths: [path = title, ...otherPaths] }) => {
    const { tool, expected, actual } = problem;
    const location = otherPaths.length === 0 ? path : `${path} and ${otherPaths.length} more`;
    const requirement =
      location === 'outputSchema.type'
        ? `outputSchema.type must be "object" at the root, got ${actual}`
        : `${location}: expected ${expected}, got ${actual}`;
    return `${tool === undefined ? '' : `${tool}: `}${requirement}. ${problem.fix ?? fix}`;
  });
}

/** A failed call whose problems name what its server logged. */
function withCause(step: RehearsalStep, cause: CallCause | null): RehearsalStep {
  if (!cause) return step;
  const { message, stack, at, code, fix } = cause;
  // The test sends its own arguments: only the definition of the tool changes them.
  const isFixed = fix !== null && code !== 'INVALID_ARGUMENTS';
  const knownParts = {
    cause: { message, stack },
    ...(at !== undefined && { at }),
    ...(isFixed && { fix }),
  };
  const hasFailed = ({ failed, path }: Problem) => failed === true || path === 'tools/call';
  const problems = step.problems.map((problem) =>
    hasFailed(problem) ? { ...problem, ...knownParts } : problem,
  );
  return { ...step, problems };
}

function callFinding({ tool, arguments: args, problems }: RehearsalStep): StepFinding {
  const calledProblems = problems.map((problem) => ({ ...problem, tool, arguments: args }));
  return { title: `${tool} called with ${shorten(args)}`, fix: '', problems: calledProblems };
}

function stepReasons({ tool, arguments: args, problems }: RehearsalStep): readonly string[] {
  return problems.map(({ path, expected, actual, cause, at, fix = '' }) => {
    const position = at === undefined ? '' : `, at ${at}`;
    const reason = cause ? ` ${cause.message}${position}.` : '';
    const problemText = `${path}: expected ${expected}, got ${actual}.${reason} ${fix}`.trimEnd();
    return `${tool} called with ${JSON.stringify(args)}: ${problemText}`;
  });
}

/** A step of the author's own server: its problems name the source of their tool, where it is known. */
export function withSources(step: RegistrationStep, sources: ReadonlyMap<string, string>): RegistrationStep {
  if (!step.findings) return step;
  const located = (problem: Problem): Problem => {
    const at = problem.at ?? sources.get(problem.tool ?? '');
    if (at === undefined) return problem;
    return { ...problem, at };
  };
  return {
    ...step,
    findings: step.findings.map((finding) => ({ ...finding, problems: finding.problems.map(located) })),
  };
}

/** The names of the elements of a tools/list result. */
export function listedToolNames(tools: readonly Json[]): readonly string[] {
  return toolsWithNames(tools).map(({ name }) => name);
}

/** The elements of a tools/list result that have a name. */
export function toolsWithNames(tools: readonly Json[]): readonly ToolWithName[] {
  return tools
    .filter(isObject)
    .flatMap((definition) =>
      typeof definition.name === 'string' ? [{ name: definition.name, definition }] : [],
    );
}

export interface ToolWithName {
  readonly name: string;
  readonly definition: JsonObject;
}
