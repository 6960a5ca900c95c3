import { setTimeout } from 'node:timers/promises';
import { Probe } from './probe/probe.ts';
import { staysUp } from './rules/endpoint.ts';
import type { Target } from './target.ts';

/** The moment from which on a server answered nothing any more. */
export interface Death {
  /** The rule that found it out; empty where it was found out before the first rule. */
  readonly rule: string;
  /** Rules that ran at the same time. */
  readonly beside: readonly string[];
  /** What a server that we own wrote before its end. */
  readonly output?: string;
}

/** Milliseconds in which a process that ends closes its output. */
const closingMs = 1_000;

/** Follows a server through a run: whether it still answers, and which rules ran when it stopped. */
export class Life {
  readonly #target: Target;
  readonly #signal: AbortSignal | undefined;
  readonly #deaths: Death[] = [];
  readonly #running = new Set<string>();
  #looking: Promise<boolean> | undefined;
  #isOver = false;
  #restarts = 0;

  constructor(target: Target, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#signal = signal;
  }

  /** Whether the server was found to answer nothing any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get deaths(): readonly Death[] {
    return this.#deaths;
  }

  /** Notes that a rule runs for as long as `act` takes. */
  async during<T>(rule: string, act: () => Promise<T>): Promise<T> {
    this.#running.add(rule);
    try {
      return await act();
    } finally {
      this.#running.delete(rule);
    }
  }

  /** Whether the server answers anything, asked because a rule got no answer. Once it does not, it is not asked again. */
  goesOn(rule: string): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    this.#looking ??= this.#look(rule).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /**
   * Starts a server that we own again, once in a run.
   *
   * @returns whether it answers.
   */
  async restart(): Promise<boolean> {
    const { owned } = this.#target;
    if (!owned || this.#restarts > 0) return false;
    this.#restarts += 1;
    const { healthy } = await owned.restart();
    this.#isOver = !healthy;
    return healthy;
  }

  /** Why a rule was not run that got no answer because the server was gone. */
  reasonFor(rule: string): string {
    const death = this.#deaths.at(-1);
    if (death?.rule === rule) return 'the server stopped answering while this rule ran';
    return death === undefined || death.rule === ''
      ? 'the server no longer answers'
      : `the server no longer answers since ${death.rule}`;
  }

  async #look(rule: string): Promise<boolean> {
    const probe = new Probe(this.#target, this.#signal);
    try {
      await staysUp.check(probe);
      return true;
    } catch {
      this.#signal?.throwIfAborted();
      if (probe.isOverdue) return true; // nobody has asked it
      this.#isOver = true;
      const beside = [...this.#running].filter((id) => id !== rule);
      this.#deaths.push({ rule, beside, ...(await this.#output()) });
      return false;
    } finally {
      await probe.close();
    }
  }

  async #output(): Promise<Pick<Death, 'output'>> {
    const instance = this.#target.owned?.instance();
    if (!instance) return {};
    await Promise.race([instance.exit, setTimeout(closingMs, undefined, { ref: false })]);
    return { output: lastError(instance.output()) };
  }
}

/** The message and the place of the error that a Node process printed last, else the last lines it wrote. */
function lastError(output: string): string {
  const [, message, place] = [...output.matchAll(thrown)].at(-1) ?? [];
  if (message !== undefined) return `${message} at ${place}`.slice(0, 300);
  return output.trim().split('\n').slice(-3).join(' | ').slice(-300) || 'it wrote nothing';
}

/** `TypeError: text`, then the first line of its stack. */
const thrown =
  /^((?:[A-Z]\w*)?(?:Error|Exception)\b[^\n]*)(?:\n(?! {4}at )[^\n]*){0,5}\n {4}at (?:[^\n(]*\()?([^\n)]+)/gm;
