import type { Cause, Problem } from '../model.ts';
import type { ProcessEnding, ProcessExit, Target } from '../target.ts';
import { curlLine } from './curl-line.ts';
import type { SentRequest } from './http.ts';
import { type Ledger, requestName } from './ledger.ts';
import { serverGone } from './not-run.ts';
import { Probe } from './probe.ts';

/**
 * Sends GET /health, and initialize only if that gets no answer: a new session may disturb the others.
 *
 * @throws NoAnswer if neither is answered
 */
export async function requireAnyAnswer(probe: Probe): Promise<void> {
  await probe.health().catch(() => probe.initialize());
}

/** When a server stopped answering. */
export interface Outage {
  /** The rule that detected it; empty if it was detected before the first rule. */
  readonly rule: string;
  /** Rules that ran at the same time. */
  readonly parallelRules: readonly string[];
  /** The requests that it did not answer, the latest first. */
  readonly unansweredRequests: readonly SentRequest[];
  /** How the process of a server that we own ended. */
  readonly ending?: ProcessEnding;
}

/** Tracks during a run whether a server still answers, and which rules were running when it stopped. */
export class LivenessTracker {
  readonly #target: Target;
  readonly #signal: AbortSignal | undefined;
  readonly #ledger: Ledger;
  readonly #outages: Outage[] = [];
  readonly #running = new Set<string>();
  #checking: Promise<boolean> | undefined;
  #hasStopped = false;
  #restarts = 0;

  constructor(target: Target, ledger: Ledger, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#ledger = ledger;
    this.#signal = signal;
  }

  /** Whether the last check found that the server had stopped answering. */
  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  get outages(): readonly Outage[] {
    return this.#outages;
  }

  /** Runs the check of a rule. An outage names the rules that run at that time. */
  async trackRule<T>(rule: string, act: () => Promise<T>): Promise<T> {
    this.#running.add(rule);
    try {
      return await act();
    } finally {
      this.#running.delete(rule);
    }
  }

  /**
   * Sends a request to find out whether the server still answers, after a rule got no answer. Records an outage if it does not. After an
   * outage, no further request is sent.
   */
  checkAnswering(rule: string): Promise<boolean> {
    if (this.#hasStopped) return Promise.resolve(false);
    this.#checking ??= this.#check(rule).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Sends a request as `checkAnswering` does, only to record an outage. */
  async recordOutageIfSilent(rule: string): Promise<void> {
    await this.checkAnswering(rule);
  }

  /**
   * Restarts a server that we own, once in a run.
   *
   * @returns whether it answers.
   */
  async restart(): Promise<boolean> {
    const { owned } = this.#target;
    if (!owned || this.#restarts > 0) return false;
    this.#restarts += 1;
    const { healthy } = await owned.restart();
    this.#hasStopped = !healthy;
    return healthy;
  }

  /** The reason for a rule that was not run because the server was gone. */
  reasonFor(rule: string): string {
    return serverGone(rule, this.#outages.at(-1)?.rule);
  }

  async #check(rule: string): Promise<boolean> {
    const probe = new Probe(this.#target, this.#signal);
    try {
      await requireAnyAnswer(probe);
      return true;
    } catch {
      this.#signal?.throwIfAborted();
      if (probe.isOverdue) return true; // the deadline stopped the request: no outage
      this.#hasStopped = true;
      const parallelRules = [...this.#running].filter((id) => id !== rule);
      const unansweredRequests = this.#ledger.pendingRequests.latestFirst;
      const ending = await this.#target.owned?.ending();
      this.#outages.push({
        rule,
        parallelRules,
        unansweredRequests,
        ...(ending && { ending }),
      });
      return false;
    } finally {
      await probe.close();
    }
  }
}

/** The problems of a server that stopped answering: one for each cause, with the rule that detected it. */
export function outageProblems(outages: readonly Outage[]): readonly Problem[] {
  const byCause = new Map(outages.map((outage) => [outage.ending?.cause?.message ?? outage, outage]));
  return [...byCause.values()].map(outageProblem);
}

/** The maximum number of printed requests: most others were only waiting. */
const maxShownRequests = 3;

function outageProblem(outage: Outage): Problem {
  const { unansweredRequests, ending } = outage;
  const problem: Problem = {
    expected: 'answers from the first request to the last',
    actual: outageText(outage),
    ...requestMembers(unansweredRequests),
  };
  if (!ending) return problem;
  const { exit, cause } = ending;
  if (!exit) return { ...problem, fix: loopFix, ...causeMembers(cause) };
  return { ...problem, ...causeMembers(cause) };
}

const loopFix = 'Look for a loop that never ends. While it runs, Node cannot answer any request.';

/** When the server stopped answering, and how its process ended. */
function outageText({ rule, parallelRules, ending }: Outage): string {
  const parallelText = parallelRules.length === 0 ? '' : `, in parallel with ${parallelRules.join(', ')}`;
  const moment = rule === '' ? 'while its tools were listed' : `while ${rule} ran${parallelText}`;
  const { exit, cause, lastLines } = ending ?? {};
  if (exit) return `the server died ${moment}: ${cause ? causeText(cause) : exitText(exit, lastLines)}`;
  const text = `the server stopped answering ${moment}`;
  return ending ? `${text}; its process still runs, so something in it never ends` : text;
}

/** The requests that the server did not answer, with the commands that send them again. */
function requestMembers(requests: readonly SentRequest[]): Partial<Problem> {
  if (requests.length === 0) return {};
  const names = [...new Set(requests.map(requestName))];
  const [request, ...repeat] = requests.slice(0, maxShownRequests).map(curlLine);
  return {
    path: `not answered: ${names.join(', ')}`,
    ...(request !== undefined && { request }),
    ...(repeat.length > 0 && { repeat }),
  };
}

function causeMembers(cause: Cause | undefined): Partial<Problem> {
  if (!cause) return {};
  return cause.at === undefined ? { cause } : { cause, at: cause.at };
}

function causeText({ message, at }: Cause): string {
  return at === undefined ? message : `${message} at ${at}`;
}

function exitText({ code, signal }: ProcessExit, lastLines = ''): string {
  const exitText = signal === null ? `it exited with code ${code}` : `${signal} ended it`;
  return `${exitText}${lastLines === '' ? ' and wrote nothing' : `; its last lines: ${lastLines}`}`;
}
