import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createHoldings, type Limits } from './limits.ts';
import { provide, type ReportLimit } from './log.ts';

/** The sessions that replicas end together. Nothing here rejects. */
export interface SharedSessions {
  /** Lets the others know of a session that has ended. Resolves when they can know it, or when the store does not answer. */
  endSession(id: string): Promise<void>;
  /** Calls back for each text that names an ended session: sessions of other replicas, and of any program that writes to the store. */
  follow(onEnd: (id: string) => void): void;
}

/** A UUID, the time of issue in milliseconds (base 36), and the signature of both. */
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;
const maxVerified = 5_000;

/**
 * Issues and checks the ids in the `mcp-session-id` header (C§3.1). They are signed with HMAC-SHA256, not stored: sessions
 * need no memory, survive a restart and are valid on every replica with the same secret. Which are closed is known by 48 bits of
 * each.
 *
 * @param secret null for a random one: sessions then end with the process
 * @param audience part of the signature, so that servers with the same secret do not share sessions
 * @param maxClosed after so many closed sessions, every session issued before is closed: clients open a new one
 * @param previous a former secret, whose sessions stay valid; it signs none
 */
export function createSessions(
  secret: string | null,
  ttlSeconds: number,
  audience = '',
  maxClosed = 1_000_000,
  previous: string | null = null,
) {
  // Caches the time of issue: an HMAC is a third of the cost of a call.
  const verified = new Map<string, number>();
  const closedSessions = new Set<number>();
  let closedBefore = 0;
  let key: string | Buffer | null = secret;
  const current = () => {
    key ??= randomBytes(32); // only now: some hosts allow no random bytes while they load an app
    return key;
  };
  const sign = (unsignedId: string, secret: string | Buffer) =>
    createHmac('sha256', secret).update(`${unsignedId}\n${audience}`).digest('base64url');
  const isSigned = (unsignedId: string, signature: string, secret: string | Buffer) =>
    timingSafeEqual(Buffer.from(signature), Buffer.from(sign(unsignedId, secret)));
  /** The time of issue; undefined if the signature is wrong or the session is closed. */
  const issuedAt = (id: string): number | undefined => {
    const [, unsignedId = '', issued = '', signature = ''] = form.exec(id) ?? [];
    if (!signature) return undefined;
    const isOurs = isSigned(unsignedId, signature, current());
    if (!isOurs && (previous === null || !isSigned(unsignedId, signature, previous))) return undefined;
    if (closedSessions.has(bitsOf(id))) return undefined;
    if (verified.size >= maxVerified) verified.clear();
    const at = Number.parseInt(issued, 36);
    verified.set(id, at);
    return at;
  };
  return {
    /** Opens a session and returns its id. */
    open(): string {
      const unsignedId = `${randomUUID()}.${Math.max(Date.now(), closedBefore).toString(36)}`;
      return `${unsignedId}.${sign(unsignedId, current())}`;
    },
    /** Whether an id is valid, not expired and not closed. */
    isKnown(id: string | undefined): id is string {
      if (id === undefined) return false;
      const issued = verified.get(id) ?? issuedAt(id);
      return issued !== undefined && issued >= closedBefore && Date.now() < issued + ttlSeconds * 1000;
    },
    close(id: string): void {
      if (closedSessions.size >= maxClosed) {
        closedSessions.clear();
        closedBefore = Date.now() + 1;
      }
      closedSessions.add(bitsOf(id));
      verified.delete(id);
    },
  };
}

function bitsOf(id: string): number {
  return Buffer.from(id.slice(-43), 'base64url').readUIntBE(0, 6);
}

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`: the newest one of each session and of each connection. A server with only tools
 * sends no events; comments keep proxies from closing the stream.
 */
export function createStreams({ maxStreams }: Pick<Limits, 'maxStreams'>, reportLimit: ReportLimit) {
  const newest = new Map<string | Socket, ServerResponse>();
  const streams = createHoldings<ServerResponse>(
    maxStreams,
    () => true,
    (stream) => stream.end(),
  );
  provide('streams', () => ({ value: new Set(newest.values()).size }));
  return {
    /** Starts a stream on a response whose head is written. */
    open(session: string, address: string, socket: Socket, response: ServerResponse): void {
      const timer = setInterval(() => {
        // An ended response may still wait for others; a write would crash the process.
        if (!response.writableEnded) response.write(keepAlive);
      }, keepAliveMs).unref();
      newest.get(session)?.end();
      for (const owner of [session, socket]) newest.set(owner, response);
      response.once('close', () => {
        clearInterval(timer);
        streams.remove(address, response);
        for (const owner of [session, socket]) {
          if (newest.get(owner) === response) newest.delete(owner);
        }
      });
      response.write(keepAlive);
      if (!streams.add(address, response)) reportLimit('MAX_STREAMS');
    },
    /** Ends the stream of a session or a connection. */
    close(owner: string | Socket): void {
      newest.get(owner)?.end();
    },
    closeAll(): void {
      for (const stream of newest.values()) stream.end();
    },
  };
}
