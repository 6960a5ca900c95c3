import { type EventEmitter, once } from 'node:events';
import { isObject } from '../../contract/json.ts';
import type { CallOrder, CallReport } from './caller.ts';
import { causeIn, failureIn, isLogged } from './cause.ts';
import type { CallCause, MarketplaceOptions } from './model.ts';
import { type Exchange, sentTo, type Traffic } from './traffic.ts';
import { walkableValuesIn } from './values.ts';

/** Milliseconds to wait for the answer or the log of a call. */
const logMs = 1_000;

/** The causes of failed calls, from what the author's server wrote meanwhile. */
export class Causes {
  readonly #own: MarketplaceOptions;
  readonly #traffic: Traffic;
  readonly #changes: EventEmitter;

  /** @param changes emits `change` after each log line */
  constructor(own: MarketplaceOptions, traffic: Traffic, changes: EventEmitter) {
    this.#own = own;
    this.#traffic = traffic;
    this.#changes = changes;
  }

  /** @param id that of the call's exchange */
  async of(
    { endpoint, tool }: Pick<CallOrder, 'endpoint' | 'tool'>,
    id: number,
    { result }: Pick<CallReport, 'result'>,
  ): Promise<CallCause | null> {
    const { directory, sources, state, endpoint: own } = this.#own;
    if (endpoint === own && state) await this.#until(id, ({ logs }) => isLogged(logs));
    return causeIn(failureIn(result), this.#traffic.get(id)?.logs ?? [], directory, sources?.get(tool));
  }

  /** The cause of a failed call in the traffic, whose answer may still arrive; null if it has not failed. */
  async ofFailed(id: number): Promise<CallCause | null> {
    await this.#until(id, ({ outcome }) => outcome !== null);
    return this.#traffic.get(id)?.outcome?.kind === 'failed' ? this.#ofAnswered(id) : null;
  }

  /** The cause of a tool's last call in a registration. */
  async ofRegistration(tool: string): Promise<CallCause | null> {
    const isCall = ({ purpose, rpc }: Exchange) => purpose === 'registration' && rpc?.tool === tool;
    const [call] = this.#traffic.newest(1, isCall);
    return call ? this.#ofAnswered(call.id) : null;
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
      await once(this.#changes, 'change', { signal }).catch(() => {});
    }
  }
}
