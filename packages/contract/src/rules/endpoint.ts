import { isLoopback } from '../wire/address.ts';
import { requireAnyAnswer } from '../wire/liveness.ts';
import { fact, type LiveRule, must, problemsAt, problemUnless } from './rule.ts';

/**
 * Its check throws if nothing answers. The run sends the same requests whenever another rule gets no answer, and reports the
 * result at the end: a server that dies is one finding, and the rules that lack an answer because of it are skipped.
 */
export const staysUp: LiveRule = {
  ...must('endpoint.stays-up', 'C§3.1'),
  title: 'the server answers from the first request of a check to the last',
  fix: 'Catch every exception, in timers and promises too. Let only the call fail, not the process.',
  controls: [],
  mustAnswer: true,
  check: async (probe) => {
    await requireAnyAnswer(probe);
    return [];
  },
};

/** The address with which the server is registered. */
export const endpointRules: readonly LiveRule[] = [
  staysUp,
  {
    ...must('endpoint.path', 'C§1.4, C§8'),
    title: 'the path of the endpoint ends in /mcp',
    fix: 'Serve the endpoint at a path that ends in /mcp and register that URL.',
    controls: [],
    check: async ({ url }) =>
      problemUnless(url.pathname.endsWith('/mcp') && url.search === '' && url.hash === '', {
        path: 'url',
        expected: 'a URL that ends in /mcp',
        actual: url.href,
      }),
  },
  {
    ...must('endpoint.https', 'C§1.4, C§8'),
    title: 'the endpoint is served over HTTPS (plain HTTP only on localhost)',
    fix: 'Put the server behind a proxy or host that terminates TLS, and register the https URL.',
    controls: [],
    check: async ({ url }) =>
      problemsAt(url.protocol === 'https:' || isLoopback(url.hostname), 'url', 'an https URL', url.href),
  },
  {
    ...fact('endpoint.no-sse', 'should', 'app contribute/actions.ts'),
    title: 'the path of the endpoint does not contain the letters "sse"',
    fix: 'Choose another path. The platform mistakes this one for the old SSE transport and does not fall back.',
    controls: [],
    check: async ({ url }) =>
      problemsAt(!url.pathname.toLowerCase().includes('sse'), 'url', 'a path without "sse"', url.pathname),
  },
];
