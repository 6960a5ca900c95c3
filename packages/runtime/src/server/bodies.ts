import type { IncomingMessage } from 'node:http';
import { createHoldings, createTurns, isolatesRequests, type Limits, portions } from './limits.ts';
import type { Report } from './log.ts';
import type { Memory } from './memory.ts';

/** The HTTP status of a refused body: too slow, too large, or over the budget. */
export type BodyRefusal = 408 | 413 | 503;

interface Body {
  readonly owner: string;
  /** Size of its buffers. */
  held: number;
  refuse(): void;
}

const blockBytes = 16_384;
const noBytes = Buffer.alloc(0);
/** Many clients and proxies read no answer before they have sent the whole request. */
const discardMs = 500;
/** Bodies up to this size are parsed at once, which takes at most 0.3 ms and 5 ms. */
const smallBytes = { unpaid: 4_096, paid: 65_536 };

/**
 * Receives the data of a request. A byte in a chunk of its own takes six bytes on the wire, and one read of a socket contains
 * eleven thousand. A request with such chunks is destroyed, because a paused one would make Node queue them.
 */
function onData(request: IncomingMessage, take: (chunk: Buffer) => void): void {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  let chunks = 0;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (isChunked && ++chunks * 6 > bytes + 1_500) request.destroy();
    else take(chunk);
  });
}

/**
 * Discards the rest of an answered request for a moment, then closes the connection if the request is still incomplete. A host that
 * isolates requests does so itself; there, a request without a body is never complete.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || isolatesRequests()) return;
  onData(request, () => {});
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/**
 * Reads bodies. A body that does not come in one piece is copied into a buffer of its declared size, or into blocks, because
 * a chunk of one byte takes two hundred bytes of memory. A body whose buffer exceeds the budget of all bodies is refused before
 * more of it is read. A body counts until it is parsed. The value takes up to twenty times its bytes: what a call with a token takes is
 * weighed and taken from the memory of the calls before it is parsed.
 */
export function createBodies(limits: Limits, memory: Memory, report: Report) {
  const { maxBodyBytes, unpaidBodyBytes, unpaidBodyMs, maxMemoryBytes } = limits;
  const unfinishedOf = (portion: number) =>
    createHoldings<Body>(
      maxMemoryBytes * portion,
      // Equal bodies of one network do not displace each other: each would be read before it is refused.
      (body, other) => body.owner !== other.owner || body.held > other.held,
      (body) => body.refuse(),
    );
  /** Bodies without a valid token take nothing from those with one. One whose token is not yet verified counts as paid. */
  const unfinished = {
    unpaid: unfinishedOf(portions.unpaidBodies),
    paid: unfinishedOf(portions.paidBodies),
  };
  const turns = { unpaid: createTurns(), paid: createTurns() };
  /** Refuses bodies without a valid token that wait for their turn. */
  const waiting = new Set<() => void>();
  return {
    /**
     * Resolves with the value of a body, or with the HTTP status of a refusal. Rejects with an error of `parse`.
     *
     * @param owner the caller's network
     * @param isPaying whether the request has a valid token; may resolve while the body arrives
     * @param parse is called for one body at a time, small ones excepted
     * @param weigh the memory of a paid body's value, in bytes. The caller gives it back when the body is done
     */
    read<Value extends object>(
      request: IncomingMessage,
      owner: string,
      isPaying: boolean | Promise<boolean>,
      parse: (bytes: Buffer, weight: number) => Value,
      weigh: (bytes: Buffer) => number = () => 0,
    ): Promise<Value | BodyRefusal> {
      const declared = Number(request.headers['content-length'] ?? 0);
      return new Promise((resolve, reject) => {
        let most = maxBodyBytes;
        let blocks: Buffer[] = [];
        let free = noBytes;
        let size = 0;
        let deadline: NodeJS.Timeout | undefined;
        let isRefused = false;
        let kind: keyof typeof unfinished = isPaying === false ? 'unpaid' : 'paid';
        const release = () => {
          clearTimeout(deadline);
          unfinished[kind].remove(owner, body);
          waiting.delete(giveUp);
          blocks = [];
        };
        const finish = (outcome: Value | BodyRefusal) => {
          release();
          resolve(outcome);
        };
        const refuse = (status: BodyRefusal, variable?: string) => {
          isRefused = true;
          if (variable) report(variable);
          finish(status);
        };
        const giveUp = () => refuse(503);
        const refuseSoon = () => {
          isRefused = true;
          release();
          setTimeout(finish, request.complete ? 0 : discardMs, 413).unref();
        };
        const body: Body = { owner, held: 0, refuse: () => refuse(503, 'MAX_MEMORY_BYTES') };
        const hold = (bytes: number) => {
          body.held += bytes;
          unfinished[kind].add(owner, body, bytes);
        };
        const keep = (chunk: Buffer) => {
          for (let from = 0; from < chunk.length; ) {
            if (free.length === 0) {
              const bytes = declared || blockBytes;
              hold(bytes);
              if (isRefused) return;
              free = Buffer.allocUnsafeSlow(bytes);
              blocks.push(free);
            }
            const copied = chunk.copy(free, 0, from);
            free = free.subarray(copied);
            from += copied;
          }
        };
        const limitUnpaid = () => {
          unfinished.paid.remove(owner, body);
          kind = 'unpaid';
          if (body.held > 0 && !isRefused) unfinished.unpaid.add(owner, body, body.held);
          most = Math.min(maxBodyBytes, unpaidBodyBytes);
          if (isRefused) return;
          if (Math.max(declared, size) > most) refuseSoon();
          else if (!request.complete) {
            deadline = setTimeout(refuse, unpaidBodyMs, 408, 'UNPAID_BODY_MS').unref();
          }
        };
        const parseWhole = (bytes: Buffer, weight: number) => {
          try {
            finish(parse(bytes, weight));
          } catch (error) {
            memory.give(weight);
            release();
            reject(error);
          }
        };
        const parseNow = (): void | Promise<void> => {
          const [first] = blocks;
          const bytes = first?.length === size ? first : Buffer.concat(blocks, size);
          const weight = kind === 'paid' ? weigh(bytes) : 0;
          const taken = weight === 0 || memory.take(weight);
          if (taken === true) return parseWhole(bytes, weight);
          return Promise.resolve(taken).then((isTaken) => {
            if (!isTaken) return finish(503);
            if (!request.socket.destroyed && !isRefused) return parseWhole(bytes, weight);
            memory.give(weight);
            finish(408);
          });
        };
        const parseInTurn = async () => {
          if (size > smallBytes.unpaid && body.held === 0) hold(size);
          await isPaying;
          clearTimeout(deadline);
          if (size > smallBytes[kind] && !isRefused) {
            if (kind === 'unpaid') waiting.add(giveUp);
            await turns[kind]();
          }
          if (request.socket.destroyed) finish(408);
          else if (!isRefused) await parseNow();
        };
        if (declared > most) refuseSoon();
        if (isPaying === false) limitUnpaid();
        else if (isPaying !== true) void isPaying.then((isPaying) => isPaying || limitUnpaid());
        onData(request, (chunk) => {
          if (isRefused) return;
          size += chunk.length;
          if (size > most) refuseSoon();
          else if (chunk.length === declared) blocks = [chunk];
          else keep(chunk);
        });
        request.on('end', () => {
          if (isRefused) finish(413);
          else if (isPaying === true && size <= smallBytes.paid) void parseNow();
          else void parseInTurn();
        });
        request.on('error', () => finish(408)); // the caller disconnected
      });
    },
    /** Refuses the bodies that wait to be parsed and are not paid. */
    stop(): void {
      for (const giveUp of waiting) giveUp();
    },
  };
}
