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
const sessionIdForm = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;
const maxVerified = 5_000;

interface SessionOptions {
  /** Part of the signature, so that servers with the same secret do not share sessions. */
  readonly audience?: string;
  /** After so many closed sessions, every session issued before is closed. Clients then open a new one. */
  readonly maxClosed?: number;
  /** A former secret, whose sessions stay valid; it signs none. */
  readonly previousSecret?: string | null;
}

/**
 * Issues and checks the ids in the `mcp-session-id` header (C§3.1). They are signed with HMAC-SHA256, not stored: sessions
 * need no memory, survive a restart and are valid on every replica with the same secret. A closed session is remembered by 48 bits of its
 * id.
 *
 * @param secret null for a random one: sessions then end with the process
 */
export function createSessions(
  secret: string | null,
  ttlSeconds: number,
  { audience = '', maxClosed = 1_000_000, previousSecret = null }: SessionOptions = {},
) {
  // The time of issue by id, of verified ids, because an HMAC is a third of the cost of a call.
  const issueTimes = new Map<string, number>();
  const closedSessions = new Set<number>();
  /** Every session that was issued before is closed. */
  let closedBefore = 0;
  let currentSecret: string | Buffer | null = secret;
  const signingSecret = () => {
    currentSecret ??= randomBytes(32); // not earlier, because some hosts allow no random bytes while they load an app
    return currentSecret;
  };
  const sign = (unsignedId: string, secret: string | Buffer) =>
    createHmac('sha256', secret).update(`${unsignedId}\n${audience}`).digest('base64url');
  const isSigned = (unsignedId: string, signature: string, secret: string | Buffer) =>
    timingSafeEqual(Buffer.from(signature), Buffer.from(sign(unsignedId, secret)));
  /** The time of issue; undefined if the signature is wrong or the session is closed. */
  const verifyIssueTime = (id: string): number | undefined => {
    const [, unsignedId = '', issueTimeText = '', signature = ''] = sessionIdForm.exec(id) ?? [];
    if (!signature) return undefined;
    const isCurrentlySigned = isSigned(unsignedId, signature, signingSecret());
    if (!isCurrentlySigned && (previousSecret === null || !isSigned(unsignedId, signature, previousSecret)))
      return undefined;
    if (closedSessions.has(idBits(id))) return undefined;
    if (issueTimes.size >= maxVerified) issueTimes.clear();
    const issueTime = Number.parseInt(issueTimeText, 36);
    issueTimes.set(id, issueTime);
    return issueTime;
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
      const issueTime = issueTimes.get(id) ?? verifyIssueTime(id);
      if (issueTime === undefined || issueTime < closedBefore) return false;
      return Date.now() < issueTime + ttlSeconds * 1000;
    },
    /** Closes a session on this replica. */
    close(id: string): void {
      if (closedSessions.size >= maxClosed) {
        closedSessions.clear();
        closedBefore = Date.now() + 1;
      }
      closedSessions.add(idBits(id));
      issueTimes.delete(id);
    },
  };
}

/** The first 48 bits of the signature. */
function idBits(id: string): number {
  return Buffer.from(id.slice(-43), 'base64url').readUIntBE(0, 6);
}
