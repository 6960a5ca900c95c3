import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createHoldings, type Limits } from './limits.ts';
import type { Report } from './log.ts';

/** A UUID, the time of issue in seconds (base 36), and the signature of both. */
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;
const mostVerified = 5_000;

/**
 * Issues and checks the ids in the `mcp-session-id` header (C§3.1). They are signed with HMAC-SHA256, not stored: sessions
 * need no memory, survive a restart and are valid on every replica with the same secret. Only this process knows which are
 * closed, by 48 bits of each.
 *
 * @param secret null for a random one: sessions then end with the process
 * @param audience part of the signature, so that servers with the same secret do not share sessions
 * @param mostClosed after so many closed sessions, every session issued before is closed: clients open a new one
 */
export function createSessions(
  secret: string | null,
  ttlSeconds: number,
  audience = '',
  mostClosed = 1_000_000,
) {
  // Caches the time of issue: an HMAC is a third of the cost of a call.
  const verified = new Map<string, number>();
  const closed = new Set<number>();
  let closedBefore = 0;
  let key: string | Buffer | null = secret;
  const sign = (claim: string) => {
    key ??= randomBytes(32);
    return createHmac('sha256', key).update(`${claim}\n${audience}`).digest('base64url');
  };
  /** The time of issue; undefined if the signature is wrong or the session is closed. */
  const issuedAt = (id: string): number | undefined => {
    const [, claim = '', issued = '', signature = ''] = form.exec(id) ?? [];
    if (!signature || !timingSafeEqual(Buffer.from(signature), Buffer.from(sign(claim)))) return undefined;
    if (closed.has(bitsOf(id))) return undefined;
    const at = Number.parseInt(issued, 36);
    verified.set(id, at);
    if (verified.size > mostVerified) verified.delete(verified.keys().next().value ?? '');
    return at;
  };
  return {
    /** Opens a session and returns its id. */
    open(): string {
      const claim = `${randomUUID()}.${Math.max(nowSeconds(), closedBefore).toString(36)}`;
      return `${claim}.${sign(claim)}`;
    },
    /** Whether an id is valid, not expired and not closed. */
    isKnown(id: string | undefined): id is string {
      if (id === undefined) return false;
      const issued = verified.get(id) ?? issuedAt(id);
      return issued !== undefined && issued >= closedBefore && nowSeconds() < issued + ttlSeconds;
    },
    close(id: string): void {
      if (closed.size === mostClosed) {
        closed.clear();
        closedBefore = nowSeconds() + 1;
      }
      closed.add(bitsOf(id));
      verified.delete(id);
    },
  };
}

function bitsOf(id: string): number {
  return Buffer.from(id.slice(-43), 'base64url').readUIntBE(0, 6);
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`: the newest one of each session and of each connection. A server with only tools
 * sends no events; comments keep proxies from closing the stream.
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
    /** Starts a stream on a response whose head is written. */
    open(session: string, address: string, socket: Socket, response: ServerResponse): void {
      const timer = setInterval(() => response.write(keepAlive), keepAliveMs).unref();
      const end = () => {
        clearInterval(timer); // a write after `end` would crash the process while the response waits behind others
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
    close(session: string): void {
      bySession.get(session)?.();
    },
    /** Ends the stream of a connection, because another request waits behind it. */
    giveWay(socket: Socket): void {
      bySocket.get(socket)?.();
    },
    closeAll(): void {
      for (const end of bySocket.values()) end();
    },
  };
}
