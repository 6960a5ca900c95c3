import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { networkReason } from './network-error.ts';

/** The contents of the certificate of a host, and the result of its verification. */
export interface Certificate {
  /** Undefined if the certificate has no readable date. */
  readonly validTo: Date | undefined;
  /** Why a client refuses it; undefined if it does not. */
  readonly refusal: string | undefined;
}

/** The certificate that a host shows. @throws Error if no TLS connection comes about in time */
export async function certificateOf({ hostname, port }: URL, timeoutMs: number): Promise<Certificate> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket: TLSSocket = connect({
    host,
    port: Number(port || 443),
    ...(isIP(host) === 0 && { servername: host }),
    // A refused certificate is also read. Nothing is sent over this connection.
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    const date = new Date(socket.getPeerCertificate().valid_to);
    const { authorized, authorizationError: error } = socket;
    return {
      validTo: Number.isNaN(date.getTime()) ? undefined : date,
      refusal: authorized
        ? undefined
        : networkReason(error instanceof Error ? error : { code: String(error) }),
    };
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
