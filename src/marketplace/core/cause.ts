import { type EventEmitter, once } from 'node:events';
import { isObject, type JsonObject, objectOr } from 'market-mcp-contract/json';
import { incidentIn } from 'market-mcp-contract/wire';
import { findLoggedCause, type LoggedErrors } from '../../check/failed-call.ts';
import { causeOf } from '../../check/log-causes.ts';
import { printedErrors, ServerLog } from '../../check/log-events.ts';
import { walkableJsonIn, walkableValuesIn } from './answer-values.ts';
import { hasNoMismatch } from './call-verdict.ts';
import type { CallOrder, CallReport } from './caller.ts';
import type { CallCause, MarketplaceOptions } from './marketplace-model.ts';
import { type Exchange, type LogLine, sentTo, type Traffic } from './traffic.ts';

/** Milliseconds to wait for the answer or the log of a call: as long as a busy machine may take to hand over a line. */
const logMs = 5_000;

/** The causes of failed calls, from what the author's server wrote meanwhile. */
export class Causes {
  readonly #own: MarketplaceOptions;
  readonly #traffic: Traffic;
  readonly #changes: EventEmitter;

  /** @param changes emits `change` after each log line */
  constructor(options: MarketplaceOptions, traffic: Traffic, changes: EventEmitter) {
    this.#own = options;
    this.#traffic = traffic;
    this.#changes = changes;
  }

  /** @param id that of the call's exchange */
  async of(
    { endpoint, tool }: Pick<CallOrder, 'endpoint' | 'tool'>,
    id: number,
    { result }: Pick<CallReport, 'result'>,
  ): Promise<CallCause | null> {
    const { directory, sources, state, endpoint: ownEndpoint } = this.#own;
    if (endpoint === ownEndpoint && state) await this.#until(id, ({ logs }) => isLogged(logs));
    return causeIn(resultFailure(result), this.#traffic.get(id)?.logs ?? [], directory, sources?.get(tool));
  }

  /** The cause of a failed call in the traffic, whose answer may still arrive; null if it has not failed. */
  async ofFailed(id: number): Promise<CallCause | null> {
    await this.#until(id, isExchangeOver);
    if (this.#traffic.get(id)?.outcome?.kind === 'failed') return this.#ofAnswered(id);
    return null;
  }

  /** The cause of a tool's last call in a registration. */
  async ofRegistration(tool: string): Promise<CallCause | null> {
    const isCall = ({ purpose, rpc }: Exchange) => purpose === 'registration' && rpc?.tool === tool;
    const [call] = this.#traffic.newest(1, isCall);
    if (call) await this.#until(call.id, isExchangeOver);
    if (call) return this.#ofAnswered(call.id);
    return null;
  }

  /** The cause of a call in the traffic that was answered; null if it was not, or calls no tool. */
  async #ofAnswered(id: number): Promise<CallCause | null> {
    const { response, rpc, [sentTo]: endpoint = '' } = this.#traffic.get(id) ?? {};
    if (rpc?.tool === undefined || !response) return null;
    const { body, headers } = response;
    const answer = walkableValuesIn(body, headers['content-type']).filter(isObject).at(-1);
    const result = isObject(answer?.result) ? answer.result : null;
    return this.of({ endpoint, tool: rpc.tool }, id, { result });
  }

  /** Waits for what another process sends, such as the log of a request, which may arrive after its answer. */
  async #until(id: number, isComplete: (exchange: Exchange) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(logMs);
    for (;;) {
      const exchange = this.#traffic.get(id);
      if (signal.aborted || !exchange || isComplete(exchange)) return;
      // It rejects when the time limit has passed, which the loop reads from the signal.
      await once(this.#changes, 'change', { signal }).catch(() => {});
    }
  }
}

function isExchangeOver({ outcome }: Exchange): boolean {
  return outcome !== null;
}

/** Whether a call did not end as calls should: it has a cause. */
export function wantsCause({ expected, verdict }: CallReport): boolean {
  if (expected) return !expected.met;
  return !['found', 'empty'].includes(verdict.outcome) || !hasNoMismatch(verdict);
}

/** Whether a server has written all about a call: its log line is the last. */
export function isLogged(logs: readonly LogLine[]): boolean {
  return eventsIn(logs).some(({ event }) => event === 'call' || event === 'refused');
}

/** What the answer to a failed call says: the code and the message of the failure, and the id of its incident in the log. */
export interface FailedAnswer {
  readonly code: string | null;
  readonly message: string | null;
  readonly incident: string | undefined;
}

/** The cause that a result states for its failure (C§2.2); a call without a result has none. */
export function resultFailure(result: JsonObject | null): FailedAnswer {
  const { error, message } = objectOr(result?.structuredContent);
  return { code: nonEmptyText(error), message: nonEmptyText(message), incident: incidentIn(result?.content) };
}

/**
 * The cause of a failed call; null if neither the answer nor the log has one.
 *
 * @param directory the project: places are shown relative to it
 * @param file the source of the tool, if it is known
 */
export function causeIn(
  { code, message: answered, incident }: FailedAnswer,
  logs: readonly LogLine[],
  directory: string,
  file: string | undefined,
): CallCause | null {
  const logged = findLoggedCause({ code, incident }, loggedErrors(logs), directory);
  const refusal = nonEmptyText(eventsIn(logs).findLast(({ event }) => event === 'refused')?.reason);
  const message = refusal ?? answered;
  const cause = logged?.cause ?? (message === null ? undefined : causeOf(message, directory));
  if (cause === undefined) return null;
  // Neither wrong arguments nor a refusal is an error of the tool.
  const isOfTool = logged === undefined && refusal === null && code !== 'INVALID_ARGUMENTS';
  const at = cause.at ?? (isOfTool ? file : undefined);
  const advice = logged?.hint ?? fixes.get(refusal === null ? (code ?? '') : 'refused');
  const fix = advice ?? (logged ? correctionAt(at) : elsewhere(logs));
  const lines = logs.flatMap(({ text }) => text.split('\n'));
  const source = logged?.failure?.request ?? null;
  return { ...cause, ...(at !== undefined && { at }), code, source, fix, lines };
}

function correctionAt(at: string | undefined): string | null {
  if (at === undefined) return null;
  return `Correct ${at}.`;
}

function elsewhere(logs: readonly LogLine[]): string | null {
  if (isLogged(logs)) return null;
  return 'Read the log of the server where it runs: it is not here.';
}

/** Reads the errors from the log of one call: those that the runtime logged, and those that the code printed. */
function loggedErrors(logs: readonly LogLine[]): LoggedErrors {
  const log = new ServerLog();
  for (const { text } of logs) log.add(`${text}\n`);
  const errorLines = logs.filter(({ stream }) => stream === 'stderr').map(({ text }) => `${text}\n`);
  return { incidents: [...log.incidents, ...printedErrors(errorLines.join(''))], failures: log.failures };
}

/** What to do where the log has no advice: by the code of the answer, or the event. */
const fixes: ReadonlyMap<string, string> = new Map([
  ['INVALID_ARGUMENTS', 'Send arguments that match the inputSchema.'],
  [
    'DEADLINE_EXCEEDED',
    'Make the tool faster: pass signal to all that it waits for, and let that end earlier.',
  ],
  ['refused', 'Compare the PLATFORM_ variables of the server with those of this marketplace.'],
]);

function nonEmptyText(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value;
  return null;
}

function eventsIn(logs: readonly LogLine[]): readonly JsonObject[] {
  const lines = logs.flatMap(({ text }) => text.split('\n').filter((line) => line.startsWith('{')));
  return lines.flatMap(walkableJsonIn).filter(isObject);
}
