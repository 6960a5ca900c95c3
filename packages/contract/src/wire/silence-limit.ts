import { isObject } from '../json/json.ts';
import { nowMs } from './clock.ts';
import type { HttpAnswer } from './http.ts';
import { NotSent } from './receive.ts';
import { bodyMs } from './timeouts.ts';

/** A kind of request is stopped after this time without a result, or after twice its timeout if that is shorter. In milliseconds. */
const maxSilenceMs = bodyMs;

interface Silence {
  readonly since: number;
  until: number;
  count: number;
  limitMs: number;
}

/** Stops the requests of one kind (a method, or the calls of one tool) that got no result for too long. */
export class SilenceLimit {
  readonly #silences = new Map<string, Silence>();

  /** @throws NotSent if requests of this kind got no result for too long. */
  admit(body: unknown): void {
    const kind = requestKind(body);
    const { since: startedAt = 0, until = 0, count = 0, limitMs = 0 } = this.#silences.get(kind) ?? {};
    if (count < 2 || until - startedAt < limitMs) return;
    const seconds = Math.round((until - startedAt) / 1000);
    throw new NotSent(`not sent: ${count} requests (${kind}) got no answer for ${seconds} s`);
  }

  /** Records a request without an answer. @param sentAt the time by `nowMs()` */
  recordTimeout(body: unknown, sentAt: number): void {
    const kind = requestKind(body);
    if (kind === '') return;
    const silence = this.#silences.get(kind) ?? { since: sentAt, until: 0, count: 0, limitMs: 0 };
    silence.count += 1;
    silence.until = nowMs();
    silence.limitMs = Math.min(maxSilenceMs, 2 * (silence.until - sentAt));
    this.#silences.set(kind, silence);
  }

  /** Records an answer. A result ends the silence of its kind; a refusal or a failure does not. */
  recordAnswer(body: unknown, { values }: Pick<HttpAnswer, 'values'>): void {
    if (this.#silences.size === 0) return;
    const isResult = values.some(
      (value) => isObject(value) && isObject(value.result) && value.result.isError !== true,
    );
    if (isResult) this.#silences.delete(requestKind(body));
  }
}

/** The method of a JSON-RPC request, with the tool of a call; empty for anything else. */
function requestKind(body: unknown): string {
  if (typeof body !== 'string') return '';
  const method = /"method":"([\w/]{1,80})"/.exec(body.slice(0, 1_000))?.[1] ?? '';
  const tool = method === 'tools/call' ? /"name":"([^"]{1,80})"/.exec(body.slice(0, 1_000))?.[1] : undefined;
  return tool === undefined ? method : `${method} of ${tool}`;
}
