import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { nowMs } from './clock.ts';
import { idleMs } from './timeouts.ts';

const options = { keepAlive: true, maxSockets: 32, timeout: idleMs };

/** Connections that are kept alive. Agents of Node, which close idle ones by a timer that does not run while the check computes. */
export class Connections {
  readonly #plain = new PlainAgent(options);
  readonly #secure = new SecureAgent(options);
  readonly #clock: () => number;
  readonly #usedAt = new WeakMap<Duplex, number>();

  constructor(clock = nowMs) {
    this.#clock = clock;
    for (const agent of [this.#plain, this.#secure])
      agent.on('free', (connection: Duplex) => this.#usedAt.set(connection, this.#clock()));
  }

  /** The agent for a URL, without the connections that have been idle for too long. */
  agentFor({ protocol }: URL): PlainAgent {
    const agent = protocol === 'https:' ? this.#secure : this.#plain;
    const oldestUse = this.#clock() - idleMs;
    for (const connection of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []))
      if ((this.#usedAt.get(connection) ?? 0) <= oldestUse) connection.destroy();
    return agent;
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}
