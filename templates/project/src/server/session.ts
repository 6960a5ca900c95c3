import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createHoldings, type Limits } from './limits.ts';
import type { Report } from './log.ts';

const mostVerified = 5_000;
/** A random part and the time of issue in seconds, then the signature of both. */
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;

/**
 * Sessions as the `mcp-session-id` header names them (C§3.1): signed by HMAC-SHA256, not stored. They cost no memory,
 * outlive a restart and hold on every replica with the same secret.
 *
 * @param secret null for a random one: the sessions then end with the process
 * @param audience what else is signed: servers that share a secret do not share sessions
 */
export function createSessions(
  secret: string | null,
  ttlSeconds: number,
  audience = '',
  closed = createClosed(),
) {
  // An HMAC costs a third of a call: a session that was verified is remembered with its time of issue.
  const verified = new Map<string, number>();
  let key: string | Buffer | null = secret;
  const sign = (claim: string) => {
    key ??= randomBytes(32);
    return createHmac('sha256', key).update(`${claim}\n${audience}`).digest('base64url');
  };
  /** When an open session was issued; undefined where the signature is not ours or it is closed. */
  const issuedAt = (id: string): number | undefined => {
    const [, claim = '', issued = '', signature = ''] = form.exec(id) ?? [];
    if (!signature || !timingSafeEqual(Buffer.from(signature), Buffer.from(sign(claim)))) return undefined;
    if (closed.has(id)) return undefined;
    const at = Number.parseInt(issued, 36);
    verified.set(id, at);
    if (verified.size > mostVerified) verified.delete(verified.keys().next().value ?? '');
    return at;
  };
  return {
    /** Opens a session and returns its identifier. */
    open(): string {
      for (;;) {
        const claim = `${randomUUID()}.${Math.max(nowSeconds(), closed.allBefore()).toString(36)}`;
        const id = `${claim}.${sign(claim)}`;
        if (!closed.has(id)) return id;
      }
    },
    /** Whether the identifier is of this server, not expired and not closed. */
    isKnown(id: string | undefined): id is string {
      if (id === undefined) return false;
      const issued = verified.get(id) ?? issuedAt(id);
      return issued !== undefined && issued >= closed.allBefore() && nowSeconds() < issued + ttlSeconds;
    },
    /** Ends a session before its time. Only this process knows of it. */
    close(id: string): void {
      closed.add(id);
      verified.delete(id);
    },
  };
}

const filterBytes = 2 ** 21;
const bitsOfOne = 8;

/**
 * The closed sessions, in a Bloom filter of 2 MiB that is allocated when it is needed. A closed session is never taken
 * for an open one; an open one is taken for closed with a chance that grows from nothing to one in a thousand as the
 * filter fills. When it holds a million, every session that was issued until then is closed, and it begins anew: their
 * clients open another.
 */
export function createClosed(most = 1_000_000) {
  let bits = new Uint8Array();
  let count = 0;
  let allBefore = 0;
  return {
    /** Sessions issued before are all closed, in seconds. */
    allBefore: () => allBefore,
    has: (id: string): boolean => placesOf(id).every((place) => ((bits[place >> 3] ?? 0) >> (place & 7)) & 1),
    add(id: string): void {
      if (count === most) allBefore = nowSeconds() + 1;
      if (count === 0 || count === most) {
        bits = new Uint8Array(filterBytes);
        count = 0;
      }
      count++;
      for (const place of placesOf(id)) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
    },
  };
}

/** Where a session is marked: its signature is as good as random, so that its bytes are the hash. */
function placesOf(id: string): number[] {
  const hash = Buffer.from(id.slice(-43), 'base64url');
  return Array.from({ length: bitsOfOne }, (_, at) => hash.readUIntBE(at * 3, 3));
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`: one a session and one a connection, the newest. A tools-only server has nothing
 * to say there: they only stay open, and a comment now and then keeps proxies from closing them.
 */
export function createStreams({ maxStreams }: Pick<Limits, 'maxStreams'>, report: Report) {
  type End = () => void;
  const bySession = new Map<string, End>();
  const bySocket = new Map<Socket, End>();
  const streams = createHoldings<End>(
    maxStreams,
    () => true,
    (end) => end(),
  );
  return {
    /** Begins the stream of a session on a response whose head is written. */
    open(session: string, address: string, socket: Socket, response: ServerResponse): void {
      const timer = setInterval(() => response.write(keepAlive), keepAliveMs).unref();
      const end = () => {
        clearInterval(timer); // an ended response may stay open behind others, and a write to it would end the process
        response.end();
      };
      bySession.get(session)?.();
      bySession.set(session, end);
      bySocket.set(socket, end);
      response.once('close', () => {
        clearInterval(timer);
        streams.remove(address, end);
        if (bySession.get(session) === end) bySession.delete(session);
        if (bySocket.get(socket) === end) bySocket.delete(socket);
      });
      response.write(keepAlive);
      if (!streams.add(address, end)) report('MAX_STREAMS');
    },
    /** Ends the stream of a session. */
    close(session: string): void {
      bySession.get(session)?.();
    },
    /** Ends the stream of a connection, which another request waits behind. */
    giveWay(socket: Socket): void {
      bySocket.get(socket)?.();
    },
    closeAll(): void {
      for (const end of bySocket.values()) end();
    },
  };
}
