import { rules } from '../catalogue.ts';
import { CommandError } from '../command/command-error.ts';
import { proxyNote } from '../command/proxy.ts';
import { hasUrlSecret, maskJson, urlMasker } from '../command/url-secrets.ts';
import { present } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { CallPlan, Era, Report, RuleResult } from '../model.ts';
import { effectiveRule, runsUnnamed } from '../rules/rule.ts';
import { type RunOptions, runContract } from '../run.ts';
import type { Target } from '../target.ts';
import { reachOf } from '../wire/address.ts';
import { nowMs } from '../wire/clock.ts';
import { Unreachable } from '../wire/reach.ts';
import type { CallPolicy } from '../wire/safety.ts';
import type { CheckReport, Demands, Drift, ListingChange, OtherError } from './check-report.ts';
import type { Examples } from './examples.ts';
import { type Baseline, evaluateReport } from './verdict.ts';

/** A check of a good server takes seconds. This limit ends the check of a server that hardly answers. */
const standardDeadlineMs = 15 * 60_000;

/** The options of a check. */
export interface ExamineOptions {
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
  readonly calls?: CallPolicy | undefined;
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

/** Adds to a report the causes that the output of an owned server shows, with places in its code. */
export type Locate = (report: Report) => Report & { readonly serverErrors: readonly OtherError[] };

export interface Examination {
  readonly report: CheckReport;
  /** The tool list that the server sent; undefined if it sent none. */
  readonly listed: readonly Json[] | undefined;
}

/** @throws CommandError `UNREACHABLE` in the place of `Unreachable` */
function rejectUnreachable(error: unknown): never {
  if (!(error instanceof Unreachable)) throw error;
  const url = 'it must be that of the MCP endpoint, such as https://tools.example.com/mcp.';
  const hint = error.isOverdue
    ? 'Raise --deadline.'
    : `Start the server, or correct the URL: ${url}${proxyNote()}`;
  throw new CommandError('UNREACHABLE', error.message, hint);
}

/**
 * Runs the contract on a server and decides what counts. The report contains no secret of its URL.
 *
 * @throws CommandError `UNREACHABLE` if nothing answers, `NO_RULES` if there is no rule to run.
 */
export async function examine(
  { target, locate }: { readonly target: Target; readonly locate?: Locate | undefined },
  options: ExamineOptions,
): Promise<Examination> {
  const { demands, selects, era, baseline, earlier, timeoutMs, calls, seed, onRule, signal } = options;
  const isRemote = !target.owned && reachOf(new URL(target.url)) !== 'loopback';
  const explore = options.explore ?? (isRemote ? 0 : undefined);
  const deadlineAt = nowMs() + (options.deadlineMs ?? standardDeadlineMs);
  let listed: readonly Json[] | undefined;
  let plan: CallPlan | undefined;
  const decide = async (planned: CallPlan): Promise<readonly string[]> => {
    plan = planned;
    const allowedTools = (await calls?.decide?.(planned)) ?? [];
    plan = withAllowedTools(planned, allowedTools);
    return allowedTools;
  };
  const contractTarget = {
    ...target,
    deadlineAt,
    ...present({ era, explore, seed, timeoutMs }),
    examples: mergeExamples(target.examples, options.examples),
  };
  if (isRemote) contractTarget.live = true;
  if (calls) contractTarget.calls = { ...calls, decide };
  const onListed = (tools: readonly Json[]) => {
    listed = tools;
  };
  const report = await runContract(contractTarget, { selects, signal, onListed, onRule }).catch(
    rejectUnreachable,
  );
  if (report.rules.length === 0) throw noRules(report, target, selects);
  const drift = listed && earlier && driftFrom(earlier, listed);
  const { serverErrors, ...explained } = locate?.(report) ?? { ...report, serverErrors: [] };
  const evaluated = evaluateReport(explained, demands, baseline, drift);
  const examination = {
    report: { ...evaluated, ...(plan && { calls: plan }), ...(serverErrors.length > 0 && { serverErrors }) },
    listed,
  };
  if (hasUrlSecret(target.url)) return maskJson(examination, urlMasker([target.url]));
  return examination;
}

function noRules(
  { platform, era }: Report,
  { profile }: Target,
  selects: RunOptions['selects'] = runsUnnamed,
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

function mergeExamples(ownExamples: Examples = new Map(), givenExamples: Examples = new Map()): Examples {
  const names = [...new Set([...ownExamples.keys(), ...givenExamples.keys()])];
  return new Map(
    names.map((name) => [name, [...(ownExamples.get(name) ?? []), ...(givenExamples.get(name) ?? [])]]),
  );
}
