/** Whether pages of an origin may call the server; decides on the `Origin` header of a request. */
export type OriginCheck = (origin: string) => boolean;

/**
 * @param allowed origins as browsers send them; `*` stands for all
 * @param local whether pages on this machine may call, too
 */
export function createOriginCheck(allowed: ReadonlySet<string>, local: boolean): OriginCheck {
  if (allowed.has('*')) return () => true;
  return (origin) =>
    allowed.has(origin) || (local && URL.canParse(origin) && isLoopback(new URL(origin).hostname));
}

/** Whether a host name, as `URL` spells it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** The headers that let a page of an allowed origin read an answer. */
export function corsHeaders(origin: string): { readonly [name: string]: string } {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'mcp-session-id',
    vary: 'origin',
  };
}

/** The further headers that let it ask, in answer to a preflight. */
export function preflightHeaders(tokenHeader: string): { readonly [name: string]: string } {
  return {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': `content-type, accept, mcp-session-id, mcp-protocol-version, last-event-id, ${tokenHeader}`,
    'access-control-max-age': '86400',
  };
}
