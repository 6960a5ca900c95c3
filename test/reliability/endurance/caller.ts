import type { Signer } from '../../../packages/contract/src/wire/signer.ts';
import { pick, type Random } from '../../random.ts';
import { initializeParams } from '../../runtime/support.ts';
import { type Answer, requestText, Wire } from './wire.ts';

/** State that the callers of one server share. */
export interface World {
  readonly port: number;
  readonly signer: Signer;
  /** Valid tokens, more than the server caches. */
  readonly tokens: readonly string[];
  /** Tokens that the server must refuse. */
  readonly forgeries: readonly string[];
  /** Open sessions. */
  readonly sessions: string[];
  readonly tally: Tally;
}

/** Counts requests and answers. */
export class Tally {
  readonly statuses = new Map<number, number>();
  readonly #interval: number;
  readonly #reached: () => void;
  #requests = 0;

  /** @param reached called after every `interval` requests */
  constructor(interval: number, reached: () => void) {
    this.#interval = interval;
    this.#reached = reached;
  }

  get requests(): number {
    return this.#requests;
  }

  sent(count: number): void {
    const passed = Math.floor((this.#requests + count) / this.#interval);
    if (passed > Math.floor(this.#requests / this.#interval)) this.#reached();
    this.#requests += count;
  }

  received(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

/** A JSON-RPC response. */
export interface Rpc {
  readonly jsonrpc: '2.0';
  readonly id: unknown;
  readonly result?: { readonly [name: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface CallResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: { readonly [name: string]: unknown };
  readonly isError?: boolean;
}

/** A text that must not appear in the log. */
export const nonceMark = 'n0nce';

/** One of the concurrent callers: a connection, which is reopened after it closes, and its possible requests. */
export class Caller {
  readonly world: World;
  readonly random: Random;
  readonly #name: string;
  #wire: Wire | undefined;
  #nonces = 0;

  constructor(world: World, name: string, random: Random) {
    this.world = world;
    this.random = random;
    this.#name = name;
  }

  /** A text that no other request contains. */
  nonce(): string {
    this.#nonces += 1;
    return `${nonceMark}-${this.#name}-${this.#nonces}-é🚀`;
  }

  get token(): string {
    return pick(this.random, this.world.tokens);
  }

  get session(): string {
    return pick(this.random, this.world.sessions);
  }

  /** The caller's connection. */
  async wire(): Promise<Wire> {
    if (!this.#wire || this.#wire.closed) this.#wire = await Wire.open(this.world.port);
    return this.#wire;
  }

  /** Drops the connection. */
  drop(): void {
    this.#wire?.destroy();
    this.#wire = undefined;
  }

  /** Detaches the connection without closing it; the next request opens another. */
  leave(): void {
    this.#wire = undefined;
  }

  /** Sends a request and returns its answer. */
  async exchange(bytes: string): Promise<Answer> {
    const wire = await this.wire();
    this.sent();
    wire.send(bytes);
    return this.received(await wire.answer());
  }

  /** Counts requests that are sent with `wire`. */
  sent(count = 1): void {
    this.world.tally.sent(count);
  }

  /** Counts an answer. No request here may cause a server error. */
  received(answer: Answer): Answer {
    this.world.tally.received(answer.status);
    if (answer.status >= 500) throw new Error(`a server error: ${answer.head}\n${answer.body}`);
    if (/\r\nconnection: close/i.test(answer.head)) this.drop();
    return answer;
  }

  /** The headers of a request in an open session. */
  headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { 'content-type': 'application/json', 'mcp-session-id': this.session, ...more };
  }

  paid(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return this.headers({ authorization: `Bearer ${this.token}`, ...more });
  }

  post(body: unknown, headers: Readonly<Record<string, string>>): Promise<Answer> {
    return this.exchange(
      requestText('POST', '/mcp', headers, typeof body === 'string' ? body : JSON.stringify(body)),
    );
  }

  /** Sends a JSON-RPC request whose id is a nonce, and checks that the answer repeats it. */
  async ask(
    method: string,
    params?: object,
    headers = this.headers(),
  ): Promise<{ answer: Answer; rpc: Rpc }> {
    const id = this.nonce();
    const answer = await this.post({ jsonrpc: '2.0', id, method, params }, headers);
    expectStatus(answer, 200);
    return { answer, rpc: responseTo(id, answer) };
  }

  /** Calls a tool with a valid token. */
  async call(name: string, args: unknown): Promise<CallResult> {
    const { answer, rpc } = await this.ask('tools/call', { name, arguments: args }, this.paid());
    return resultOf(rpc, answer);
  }

  /** Opens a session. */
  async open(): Promise<string> {
    const { answer, rpc } = await this.ask('initialize', initializeParams, {
      'content-type': 'application/json',
    });
    const session = /\r\nmcp-session-id: ([!-~]+)/i.exec(answer.head)?.[1];
    if (!rpc.result?.serverInfo || session === undefined) throw unexpected('a session', answer);
    return session;
  }

  /** Ends a session. */
  async close(session: string): Promise<void> {
    expectStatus(await this.exchange(requestText('DELETE', '/mcp', { 'mcp-session-id': session })), 204);
  }
}

/** @throws Error if the answer has another status or, if given, another JSON body */
export function expectStatus(answer: Answer, status: number, body?: object): void {
  const differs = body !== undefined && answer.body !== JSON.stringify(body);
  if (answer.status !== status || differs) {
    throw unexpected(`${status} ${body ? JSON.stringify(body) : ''}`, answer);
  }
}

/** The response to a request id. @throws Error if it belongs to another one */
export function responseTo(id: unknown, answer: Answer): Rpc {
  const rpc: Rpc = JSON.parse(answer.body);
  if (rpc.id !== id) throw unexpected(`the response to ${JSON.stringify(id)}`, answer);
  return rpc;
}

/** The result of a call; its text must equal the structured part (C§2.2). */
export function resultOf({ result }: Rpc, answer: Answer): CallResult {
  const called = result as CallResult | undefined;
  const text = called?.content[0]?.text;
  if (!called || (called.structuredContent && text !== JSON.stringify(called.structuredContent))) {
    throw unexpected('a result whose text is its structuredContent', answer);
  }
  return called;
}

/** @throws Error if members differ from the expected ones */
export function expectMembers(actual: object | undefined, expected: object): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = (actual as Record<string, unknown> | undefined)?.[name];
    if (JSON.stringify(found) !== JSON.stringify(value)) {
      throw new Error(`expected ${name} ${JSON.stringify(value)}, got ${JSON.stringify(actual)}`);
    }
  }
}

export function unexpected(expected: string, { head, body }: Answer): Error {
  return new Error(`expected ${expected}, got ${head.split('\r\n')[0]}\n${body.slice(0, 500)}`);
}
