import { rules } from '../catalogue.ts';
import { CommandError } from '../command/command-error.ts';
import { proxyNote } from '../command/proxy.ts';
import { hasUrlSecret, maskJson, urlMasker } from '../command/url-secrets.ts';
import { present } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { CallPlan, Era, Report, RuleResult } from '../model.ts';
import { effectiveRule, runsByDefault } from '../rules/rule.ts';
import { type RunOptions, runContract } from '../run.ts';
import type { Target } from '../target.ts';
import { addressScope } from '../wire/address.ts';
import { nowMs } from '../wire/clock.ts';
import { Unreachable } from '../wire/require-reachable.ts';
import type { CallPolicy } from '../wire/safety.ts';
import type { CheckReport, Demands, Drift, ListingChange, OtherError } from './check-report.ts';
import type { Examples } from './examples.ts';
import { type Baseline, evaluateReport } from './verdict.ts';

/** A check of a good server takes seconds. This limit ends the check of a server that hardly answers. */
const standardDeadlineMs = 15 * 60_000;

/** The options of a check. */
export interface TargetCheckOptions {
  readonly demands: Demands;
  /** As in `RunOptions`. */
  readonly selects?: RunOptions['selects'];
  /** The eras of MCP to check; by default those that the platform's servers speak. */
  readonly era?: Era;
  readonly baseline?: Baseline | undefined;
  /** An earlier tool list to compare with. */
  readonly earlier?: PreviousListing | undefined;
  /** Timeout of each request in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Timeout of the whole check in milliseconds. */
  readonly deadlineMs?: number | undefined;
  /** Calls in addition to those of the target's own examples. */
  readonly examples?: Examples | undefined;
  /** Which tools may be called if the server is not ours. */
  readonly callPolicy?: CallPolicy | undefined;
  /** Generated calls for each tool. By default 12; none for a server on another machine, whose tools may ask live APIs. */
  readonly explore?: number | undefined;
  /** Chooses the generated calls. */
  readonly seed?: number | undefined;
  /** Ends the check: it rejects with the reason. */
  readonly signal?: AbortSignal;
  readonly onRule?: (result: RuleResult, completedCount: number, total: number) => void;
}

/** An earlier tool list, and how to compare with it. */
export interface PreviousListing {
  readonly file: string;
  changesTo(tools: readonly Json[]): readonly ListingChange[];
}

/** The changes from the tool list that was read last to the one that a server sends. */
export function driftFrom({ file, changesTo }: PreviousListing, tools: readonly Json[]): Drift {
  const changes = changesTo(tools);
  return { against: file, changes, refreshNeeded: changes.length > 0 };
}

/** Adds to a report the errors in the output of an owned server, with their locations in its code. */
export type LocateCauses = (report: Report) => Report & { readonly serverErrors: readonly OtherError[] };

export interface TargetCheckResult {
  readonly report: CheckReport;
  /** The tool list that the server sent; undefined if it sent none. */
  readonly tools: readonly Json[] | undefined;
}

/** The message of an unreachable server for a user, with the fix. Any other error is returned unchanged. */
function unreachableError(error: unknown): unknown {
  if (!(error instanceof Unreachable)) return error;
  if (error.isOverdue) return new CommandError('UNREACHABLE', error.message, 'Raise --deadline.');
  const example = 'it must be that of the MCP endpoint, such as https://tools.example.com/mcp.';
  const hint = `Start the server, or correct the URL: ${example}${proxyNote()}`;
  return new CommandError('UNREACHABLE', error.message, hint);
}

/**
 * Runs the contract on a server and decides what counts. The report contains no secret of its URL.
 *
 * @throws CommandError `UNREACHABLE` if nothing answers, `NO_RULES` if there is no rule to run.
 */
export async function checkTarget(
  { target, locateCauses }: { readonly target: Target; readonly locateCauses?: LocateCauses | undefined },
  options: TargetCheckOptions,
): Promise<TargetCheckResult> {
  const { demands, selects, baseline, earlier, signal, onRule } = options;
  const policyWithPlan = policyKeepingPlan(options.callPolicy);
  let tools: readonly Json[] | undefined;
  const report = await runContract(targetOfRun(target, options, policyWithPlan.callPolicy), {
    selects,
    signal,
    onRule,
    onListed(toolList) {
      tools = toolList;
    },
  }).catch((error: unknown) => {
    throw unreachableError(error);
  });
  if (report.rules.length === 0) throw noRules(report, target, selects);
  const drift = tools && earlier && driftFrom(earlier, tools);
  const { serverErrors, ...reportWithCauses } = locateCauses?.(report) ?? { ...report, serverErrors: [] };
  const plan = policyWithPlan.plan();
  const checkReport: CheckReport = {
    ...evaluateReport(reportWithCauses, demands, baseline, drift),
    ...(plan && { calls: plan }),
    ...(serverErrors.length > 0 && { serverErrors }),
  };
  const checkResult = { report: checkReport, tools };
  if (hasUrlSecret(target.url)) return maskJson(checkResult, urlMasker([target.url]));
  return checkResult;
}

/** The target with the options of a check. A server on another machine gets no generated calls unless the user asks for them. */
function targetOfRun(
  target: Target,
  options: TargetCheckOptions,
  callPolicy: CallPolicy | undefined,
): Target {
  const { era, seed, timeoutMs, deadlineMs = standardDeadlineMs } = options;
  const isOnOtherMachine = !target.owned && addressScope(new URL(target.url)) !== 'loopback';
  const explore = options.explore ?? (isOnOtherMachine ? 0 : undefined);
  return {
    ...target,
    ...present({ era, explore, seed, timeoutMs }),
    deadlineAt: nowMs() + deadlineMs,
    examples: mergeExamples(target.examples, options.examples),
    mayCallLiveApis: target.mayCallLiveApis === true || isOnOtherMachine,
    callPolicy: callPolicy ?? target.callPolicy,
  };
}

/** A policy, and the plan of calls that it decided on, with the tools that the user allowed. */
interface PolicyWithPlan {
  readonly callPolicy: CallPolicy | undefined;
  /** Undefined until a tool may be called. */
  plan(): CallPlan | undefined;
}

function policyKeepingPlan(policy: CallPolicy | undefined): PolicyWithPlan {
  let plan: CallPlan | undefined;
  if (!policy) return { callPolicy: undefined, plan: () => undefined };
  const decide = async (proposedPlan: CallPlan): Promise<readonly string[]> => {
    plan = proposedPlan;
    const allowedTools = (await policy.decide?.(proposedPlan)) ?? [];
    plan = withAllowedTools(proposedPlan, allowedTools);
    return allowedTools;
  };
  return { callPolicy: { ...policy, decide }, plan: () => plan };
}

function noRules(
  { platform, era }: Report,
  { profile }: Target,
  selects: RunOptions['selects'] = runsByDefault,
): CommandError {
  const isOn = rules.some((rule) => effectiveRule(rule, profile, selects) !== undefined);
  if (isOn)
    return new CommandError(
      'NO_RULES',
      `no selected rule belongs to the era ${era} of MCP`,
      'Change --only, --skip or --era.',
    );
  return new CommandError(
    'NO_RULES',
    `the platform ${platform} asks for none of the selected rules`,
    'Change --platform, --only or --skip.',
  );
}

/** The plan after the user has allowed further tools. */
function withAllowedTools({ called, withheld }: CallPlan, allowedTools: readonly string[]): CallPlan {
  const allowedCalls = withheld.filter(({ tool }) => allowedTools.includes(tool));
  return {
    called: [
      ...called,
      ...allowedCalls.map(({ tool, atMost }) => ({ tool, atMost, because: 'you chose it' })),
    ],
    withheld: withheld.filter((call) => !allowedCalls.includes(call)),
  };
}

function mergeExamples(ownExamples: Examples = new Map(), furtherExamples: Examples = new Map()): Examples {
  const names = [...new Set([...ownExamples.keys(), ...furtherExamples.keys()])];
  return new Map(
    names.map((name) => [name, [...(ownExamples.get(name) ?? []), ...(furtherExamples.get(name) ?? [])]]),
  );
}
