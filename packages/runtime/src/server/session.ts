// Signed session ids (`mcp-session-id`).

import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

/** Ended sessions, which replicas share. No method rejects. */
export interface SharedSessions {
  /** Shares the end of a session. Resolves when the other replicas can read it, or when the store does not answer. */
  endSession(id: string): Promise<void>;
  /** Calls back with the id of each ended session in the store, which other programs may also have written. */
  follow(onEnd: (id: string) => void): void;
}

/** A UUID, the time of issue in milliseconds (base 36), and the signature of both. */
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;
const maxVerified = 5_000;

/**
 * Issues and checks the ids in the `mcp-session-id` header (C§3.1). They are signed with HMAC-SHA256, not stored: sessions
 * need no memory, survive a restart and are valid on every replica with the same secret. A closed session is remembered by 48 bits of its
 * id.
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
  // The time of issue by id, of verified ids: an HMAC is a third of the cost of a call.
  const issueTimes = new Map<string, number>();
  const closedSessions = new Set<number>();
  let closedBefore = 0;
  let key: string | Buffer | null = secret;
  const signingSecret = () => {
    key ??= randomBytes(32); // only now: some hosts allow no random bytes while they load an app
    return key;
  };
  const sign = (unsignedId: string, secret: string | Buffer) =>
    createHmac('sha256', secret).update(`${unsignedId}\n${audience}`).digest('base64url');
  const isSigned = (unsignedId: string, signature: string, secret: string | Buffer) =>
    timingSafeEqual(Buffer.from(signature), Buffer.from(sign(unsignedId, secret)));
  /** The time of issue; undefined if the signature is wrong or the session is closed. */
  const verifyIssueTime = (id: string): number | undefined => {
    const [, unsignedId = '', issued = '', signature = ''] = form.exec(id) ?? [];
    if (!signature) return undefined;
    const isOurs = isSigned(unsignedId, signature, signingSecret());
    if (!isOurs && (previous === null || !isSigned(unsignedId, signature, previous))) return undefined;
    if (closedSessions.has(bitsOf(id))) return undefined;
    if (issueTimes.size >= maxVerified) issueTimes.clear();
    const at = Number.parseInt(issued, 36);
    issueTimes.set(id, at);
    return at;
  };
  return {
    /** Opens a session and returns its id. */
    open(): string {
      const unsignedId = `${randomUUID()}.${Math.max(Date.now(), closedBefore).toString(36)}`;
      return `${unsignedId}.${sign(unsignedId, signingSecret())}`;
    },
    /** Whether an id is valid, not expired and not closed. */
    isOpen(id: string | undefined): id is string {
      if (id === undefined) return false;
      const issued = issueTimes.get(id) ?? verifyIssueTime(id);
      return issued !== undefined && issued >= closedBefore && Date.now() < issued + ttlSeconds * 1000;
    },
    close(id: string): void {
      if (closedSessions.size >= maxClosed) {
        closedSessions.clear();
        closedBefore = Date.now() + 1;
      }
      closedSessions.add(bitsOf(id));
      issueTimes.delete(id);
    },
  };
}

function bitsOf(id: string): number {
  return Buffer.from(id.slice(-43), 'base64url').readUIntBE(0, 6);
}
