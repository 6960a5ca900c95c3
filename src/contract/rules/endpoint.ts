import { type LiveRule, unless } from '../rule.ts';

/** The address under which the server is registered. */
export const endpointRules: readonly LiveRule[] = [
  {
    id: 'endpoint.path',
    level: 'must',
    title: 'the path of the endpoint ends in /mcp',
    source: 'C§1.4, C§8',
    mend: 'Serve the endpoint under a path that ends in /mcp and register that URL.',
    check: async ({ url }) =>
      unless(url.pathname.endsWith('/mcp') && url.search === '' && url.hash === '', {
        path: 'url',
        expected: 'a URL that ends in /mcp',
        actual: url.href,
      }),
  },
  {
    id: 'endpoint.https',
    level: 'must',
    title: 'the endpoint is served over HTTPS (plain HTTP only on the own machine)',
    source: 'C§1.4, C§8',
    mend: 'Put the server behind a proxy or host that terminates TLS, and register the https URL.',
    check: async ({ url }) =>
      unless(url.protocol === 'https:' || isLoopback(url.hostname), {
        path: 'url',
        expected: 'an https URL',
        actual: url.href,
      }),
  },
  {
    id: 'endpoint.no-sse',
    level: 'should',
    title: 'the path of the endpoint does not contain the letters "sse"',
    source: 'app contribute/actions.ts',
    fact: true,
    mend: 'Choose another path: the platform takes it for the old SSE transport and never falls back.',
    check: async ({ url }) =>
      unless(!url.pathname.toLowerCase().includes('sse'), {
        path: 'url',
        expected: 'a path without "sse"',
        actual: url.pathname,
      }),
  },
];

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
