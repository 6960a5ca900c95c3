// Which hosts and origins of web pages may call the server.

import type { OutgoingHttpHeaders } from 'node:http';

/** Which web pages may call the server. */
export interface OriginOptions {
  readonly production: boolean;
  /** Origins of pages, as browsers send them; `*` allows every one. Outside production, pages of this machine are always allowed. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Names in the Host header that are allowed outside production, beside those of this machine; `*` allows every one. */
  readonly allowedHosts: ReadonlySet<string>;
}

/**
 * Decides on the Host and Origin headers of a request.
 *
 * @param requestHeaders names of the headers that a page may send
 */
export function createOrigins(
  { production, allowedOrigins, allowedHosts }: OriginOptions,
  requestHeaders: readonly string[],
) {
  const preflight: OutgoingHttpHeaders = {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': requestHeaders.join(', '),
    'access-control-max-age': '86400',
  };
  // The last admitted host: most requests name the same host, and parsing a URL takes a tenth of the time of a call.
  let admittedHost: string | undefined;
  return {
    /** Protects against DNS rebinding. */
    admitsHost(host: string | undefined): boolean {
      if (production || host === undefined || host === admittedHost) return true;
      const hostname = hostnameOf(`http://${host}`);
      const isAdmitted = isLoopback(hostname) || allowedHosts.has('*') || allowedHosts.has(hostname);
      if (isAdmitted) admittedHost = host;
      return isAdmitted;
    },
    /** Whether pages of an origin may call the server and read its answers. */
    admitsOrigin(origin: string): boolean {
      const isLocal = !production && isLoopback(hostnameOf(origin));
      return isLocal || allowedOrigins.has('*') || allowedOrigins.has(origin);
    },
    /** Headers of the answer to a page that asks before its request. */
    preflight,
  };
}

function hostnameOf(url: string): string {
  if (URL.canParse(url)) return new URL(url).hostname;
  return '';
}

/** @param hostname as `URL` spells it */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}
