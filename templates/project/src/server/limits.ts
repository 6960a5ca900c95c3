import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Report } from './log.ts';

/** What bounds the memory and the work that callers can cause; sizes in bytes, times in milliseconds. */
export interface Limits {
  /** A body whose request carries what looks like a token. */
  readonly maxBodyBytes: number;
  /** Any other body, and the time in which it must have come. */
  readonly unpaidBodyBytes: number;
  readonly unpaidBodyMs: number;
  /** All unfinished bodies together. */
  readonly bodyBudgetBytes: number;
  /** All answers together that wait for their readers. */
  readonly answerBudgetBytes: number;
  /** Time without progress after which an answer is given up. */
  readonly answerStallMs: number;
  readonly maxStreams: number;
  readonly maxCalls: number;
  readonly maxCallsPerToken: number;
}

/**
 * At most so many items, each held by an address. One too many ends an item of the address that holds most, the oldest
 * that may end; where none of its items may, the new one. So nobody can push others out by holding much.
 */
export function createHoldings<Item>(
  most: number,
  mayEnd: (item: Item) => boolean,
  end: (item: Item) => void,
) {
  const owners = new Map<Item, string>();
  const held = new Map<string, Set<Item>>();
  const remove = (item: Item) => {
    const owner = owners.get(item);
    if (owner === undefined) return;
    owners.delete(item);
    const items = held.get(owner);
    items?.delete(item);
    if (items?.size === 0) held.delete(owner);
  };
  const victim = (newest: Item): Item => {
    let most: Set<Item> = new Set();
    for (const items of held.values()) if (items.size > most.size) most = items;
    for (const item of most) if (item !== newest && mayEnd(item)) return item;
    return newest;
  };
  return {
    /** Whether nothing had to end for it. */
    add(owner: string, item: Item): boolean {
      owners.set(item, owner);
      const items = held.get(owner) ?? new Set();
      held.set(owner, items.add(item));
      if (owners.size <= most) return true;
      const ended = victim(item);
      remove(ended);
      end(ended);
      return false;
    },
    remove,
    items: () => owners.keys(),
  };
}

const sweepMs = 250;

/** Starts a timer that runs until `sweep` returns false. */
function createSweep(sweep: () => boolean): () => void {
  let timer: NodeJS.Timeout | undefined;
  const run = () => {
    if (sweep()) return;
    clearInterval(timer);
    timer = undefined;
  };
  return () => {
    timer ??= setInterval(run, sweepMs).unref();
  };
}

/** The status with which a body is refused: too slow, too large, or one too many. */
export type BodyRefusal = 408 | 413 | 503;

interface Body {
  held: number;
  readonly until: number;
  refuse(status: BodyRefusal): void;
}

const blockBytes = 16_384;
/** Many senders, and proxies between, take no answer before they have sent everything. */
const discardMs = 500;

/**
 * Takes for a moment what still comes of a request that has its answer, then closes the connection: a sender that never
 * ends would hold up whatever comes after.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/**
 * Reads bodies. What has come of an unfinished one is copied into blocks: kept as they come, chunks of a byte would take
 * two hundred times their size. Where the blocks of all bodies exceed the budget, the body that holds most is refused.
 */
export function createBodies(limits: Limits, report: Report) {
  const { maxBodyBytes, unpaidBodyBytes, unpaidBodyMs, bodyBudgetBytes } = limits;
  const unfinished = new Set<Body>();
  let held = 0;
  const startSweep = createSweep(() => {
    const now = Date.now();
    for (const body of unfinished) {
      if (now < body.until) continue;
      report('UNPAID_BODY_MS');
      body.refuse(408);
    }
    return unfinished.size > 0;
  });
  const hold = (body: Body, bytes: number) => {
    body.held += bytes;
    held += bytes;
    if (held <= bodyBudgetBytes) return;
    let largest = body;
    for (const other of unfinished) if (other.held > largest.held) largest = other;
    report('BODY_BUDGET_BYTES');
    largest.refuse(503);
  };
  return {
    /**
     * The whole body, or the status with which it is refused.
     *
     * @param isPaid whether the request carries what looks like a token
     * @throws Error where the caller goes away before the body is complete.
     */
    read(request: IncomingMessage, isPaid: boolean): Promise<Buffer | BodyRefusal> {
      const most = isPaid ? maxBodyBytes : Math.min(maxBodyBytes, unpaidBodyBytes);
      const declared = Number(request.headers['content-length']);
      return new Promise((resolve, reject) => {
        let blocks: Buffer[] = [];
        let size = 0;
        let refusal: NodeJS.Timeout | undefined;
        const release = () => {
          held -= body.held;
          body.held = 0;
          blocks = [];
        };
        const finish = (outcome: Buffer | BodyRefusal) => {
          clearTimeout(refusal);
          unfinished.delete(body);
          release();
          resolve(outcome);
        };
        const body: Body = {
          held: 0,
          until: isPaid ? Number.POSITIVE_INFINITY : Date.now() + unpaidBodyMs,
          refuse: finish,
        };
        const refuseSoon = () => {
          release();
          refusal ??= setTimeout(finish, discardMs, 413).unref();
        };
        const keep = (chunk: Buffer) => {
          const used = size % blockBytes;
          const last = blocks.at(-1);
          const fitting = used > 0 && last ? chunk.copy(last, used) : 0;
          const rest = chunk.subarray(fitting);
          for (let at = 0; at < rest.length; at += blockBytes) {
            const block = Buffer.allocUnsafeSlow(blockBytes);
            rest.copy(block, 0, at, at + blockBytes);
            blocks.push(block);
            hold(body, blockBytes);
            if (!unfinished.has(body)) return;
          }
        };
        unfinished.add(body);
        startSweep();
        if (declared > most) refuseSoon();
        request.on('data', (chunk: Buffer) => {
          if (!unfinished.has(body)) return;
          if (size + chunk.length > most) refuseSoon();
          else if (size === 0 && chunk.length === declared) blocks = [chunk];
          else keep(chunk);
          size += chunk.length;
        });
        request.on('end', () => {
          if (unfinished.has(body)) finish(size <= most ? joined(blocks, size) : 413);
        });
        request.on('error', (error) => {
          finish(408);
          reject(error);
        });
      });
    },
    /** Refuses every body that has not come whole a moment from now: a call that is being sent is still answered. */
    refuseSoon(): void {
      setTimeout(() => {
        for (const body of unfinished) body.refuse(503);
      }, discardMs).unref();
    },
  };
}

function joined(blocks: readonly Buffer[], size: number): Buffer {
  return blocks.length === 1 ? (blocks[0] as Buffer).subarray(0, size) : Buffer.concat(blocks, size);
}

const pieceBytes = 65_536;

/**
 * Sends answers. Those whose reader does not keep up are sent in pieces and counted: where they exceed the budget, or one
 * makes no progress for too long, the connection that has stood still for longest ends.
 */
export function createAnswers({ answerBudgetBytes, answerStallMs }: Limits, report: Report) {
  const unread = new Map<ServerResponse, { readonly bytes: number; movedAt: number }>();
  let held = 0;
  const giveUp = (response: ServerResponse) => {
    forget(response);
    (response.socket ?? response.req.socket).destroy();
  };
  const forget = (response: ServerResponse) => {
    held -= unread.get(response)?.bytes ?? 0;
    unread.delete(response);
  };
  const startSweep = createSweep(() => {
    const stale = Date.now() - answerStallMs;
    for (const [response, entry] of unread) {
      if (response.socket === null) entry.movedAt = Date.now(); // waits for the answers before it
      if (entry.movedAt > stale) continue;
      report('ANSWER_STALL_MS');
      giveUp(response);
    }
    return unread.size > 0;
  });
  /** Puts an answer last in the order of standing still. */
  const move = (response: ServerResponse, bytes: number) => {
    const known = unread.delete(response);
    unread.set(response, { bytes, movedAt: Date.now() });
    if (known) return;
    response.once('close', () => forget(response));
    held += bytes;
    startSweep();
    for (const [oldest] of unread) {
      if (held <= answerBudgetBytes || oldest === response) break;
      report('ANSWER_BUDGET_BYTES');
      giveUp(oldest);
    }
  };
  return {
    /** Sends the text of an answer whose head is written. */
    send(response: ServerResponse, text: string): void {
      if (text.length <= pieceBytes) {
        response.end(text);
        if (response.socket?.writableLength !== 0) move(response, text.length);
        return;
      }
      const bytes = Buffer.from(text);
      let at = 0;
      const sendOn = () => {
        const piece = bytes.subarray(at, at + pieceBytes);
        at += pieceBytes;
        if (!response.destroyed) move(response, bytes.length);
        if (at >= bytes.length) response.end(piece);
        else if (response.write(piece)) sendOn();
        else response.once('drain', sendOn);
      };
      sendOn();
    },
  };
}

/** Runs calls, so many at once in all and for each token. */
export function createCalls({ maxCalls, maxCallsPerToken }: Limits, report: Report) {
  const running = new Map<string, number>();
  let all = 0;
  return {
    /** What a call resolves to; undefined where one too many would run. */
    async run<T>(token: string, call: () => Promise<T>): Promise<T | undefined> {
      const own = running.get(token) ?? 0;
      if (all >= maxCalls || own >= maxCallsPerToken) {
        report(all >= maxCalls ? 'MAX_CALLS' : 'MAX_CALLS_PER_TOKEN');
        return undefined;
      }
      all++;
      running.set(token, own + 1);
      try {
        return await call();
      } finally {
        all--;
        const others = (running.get(token) ?? 1) - 1;
        if (others > 0) running.set(token, others);
        else running.delete(token);
      }
    },
  };
}

/** What a stream hangs on. */
type StreamResponse = Pick<ServerResponse, 'write' | 'end' | 'once'>;

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`: one a session and one a connection, the newest. A tools-only server has nothing
 * to say there: they only stay open, and a comment now and then keeps proxies from closing them.
 */
export function createStreams({ maxStreams }: Pick<Limits, 'maxStreams'>, report: Report) {
  const bySession = new Map<string, StreamResponse>();
  const bySocket = new Map<Socket, StreamResponse>();
  const streams = createHoldings<StreamResponse>(
    maxStreams,
    () => true,
    (stream) => stream.end(),
  );
  let timer: NodeJS.Timeout | undefined;
  const keepOpen = () => {
    for (const stream of streams.items()) stream.write(keepAlive);
  };
  return {
    /** Begins the stream of a session on a response whose head is written. */
    open(session: string, address: string, socket: Socket, response: StreamResponse): void {
      bySession.get(session)?.end();
      bySession.set(session, response);
      bySocket.set(socket, response);
      timer ??= setInterval(keepOpen, keepAliveMs).unref();
      response.once('close', () => {
        streams.remove(response);
        if (bySession.get(session) === response) bySession.delete(session);
        if (bySocket.get(socket) === response) bySocket.delete(socket);
        if (bySocket.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      response.write(keepAlive);
      if (!streams.add(address, response)) report('MAX_STREAMS');
    },
    /** Ends the stream of a session. */
    close(session: string): void {
      bySession.get(session)?.end();
    },
    /** Ends the stream of a connection, which another request waits behind. */
    giveWay(socket: Socket): void {
      bySocket.get(socket)?.end();
    },
    closeAll(): void {
      for (const stream of bySocket.values()) stream.end();
    },
  };
}
