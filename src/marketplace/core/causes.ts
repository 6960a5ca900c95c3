import { type EventEmitter, once } from 'node:events';
import { isObject, objectOr } from '../../contract/json.ts';
import type { CallOrder, CallReport } from './caller.ts';
import { causeIn, isLogged } from './cause.ts';
import type { CallCause } from './model.ts';
import type { Exchange, Traffic } from './traffic.ts';
import { walkableValuesIn } from './values.ts';

/** Milliseconds to wait for the log of a call. */
const logMs = 1_000;

/** The author's server, as far as it is known. */
interface OwnServer {
  /** The project. */
  readonly directory: string;
  readonly endpoint?: string | undefined;
  /** The source of each tool. */
  readonly sources?: ReadonlyMap<string, string> | undefined;
  /** Set if its output arrives here. */
  readonly state?: unknown;
}

/** The causes of failed calls, from what the author's server wrote meanwhile. */
export class Causes {
  readonly #own: OwnServer;
  readonly #traffic: Traffic;
  readonly #changes: EventEmitter;

  /** @param changes emits `change` after each log line */
  constructor(own: OwnServer, traffic: Traffic, changes: EventEmitter) {
    this.#own = own;
    this.#traffic = traffic;
    this.#changes = changes;
  }

  /** @param id that of the call's exchange */
  async of(
    { endpoint, tool }: Pick<CallOrder, 'endpoint' | 'tool'>,
    id: number,
    report: Pick<CallReport, 'result'>,
  ): Promise<CallCause | null> {
    const { directory, sources, state, endpoint: own } = this.#own;
    if (endpoint === own && state) await this.#untilLogged(id);
    return causeIn(report, this.#traffic.get(id)?.logs ?? [], directory, sources?.get(tool));
  }

  /** The cause of a tool's last call in a registration. */
  async ofRegistration(endpoint: string, tool: string): Promise<CallCause | null> {
    const isCall = ({ purpose, rpc }: Exchange) => purpose === 'registration' && rpc?.tool === tool;
    const [call] = this.#traffic.newest(1, isCall);
    if (!call?.response) return null;
    const { body, headers } = call.response;
    const answer = walkableValuesIn(body, headers['content-type']).filter(isObject).at(-1);
    return this.of({ endpoint, tool }, call.id, { result: objectOr(answer?.result) });
  }

  /** Waits for the log of a request, which may arrive after its answer: not at all if another process has it. */
  async #untilLogged(id: number): Promise<void> {
    const signal = AbortSignal.timeout(logMs);
    while (!signal.aborted && !isLogged(this.#traffic.get(id)?.logs ?? [])) {
      await once(this.#changes, 'change', { signal }).catch(() => {});
    }
  }
}
