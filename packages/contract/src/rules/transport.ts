import { randomUUID } from 'node:crypto';
import { present, shorten } from '../json/json.ts';
import { addressScope } from '../wire/address.ts';
import { mapConcurrently } from '../wire/concurrency.ts';
import { initializesAgain, lists } from '../wire/controls.ts';
import type { HttpAnswer } from '../wire/http.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import type { PostOptions } from '../wire/requests.ts';
import { nextId, rpcRequest, sessionOf } from '../wire/rpc.ts';
import { answerProblems, rejectedProblems, resultProblems, withRequestCommand } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { type LiveRule, problemsAt, problemsInParallel, problemUnless, should } from './rule.ts';

/** HTTP around the messages: which requests are accepted, and how malformed ones are refused. */
export const transportRules: readonly LiveRule[] = [
  mergeLive({ title: 'a request that accepts anything, or only JSON, or has no Accept is answered' }, [
    acceptanceRule('http.accept-any', 'must', 'a request that accepts */*', { accept: '*/*' }),
    acceptanceRule('http.accept-absent', 'must', 'a request without Accept', { accept: undefined }),
    acceptanceRule('http.accept-json', 'must', 'a request that accepts only JSON', {
      accept: 'application/json',
    }),
  ]),
  acceptanceRule('http.accept-events', 'should', 'a request that accepts only server-sent events', {
    accept: 'text/event-stream',
  }),
  acceptanceRule('http.charset', 'must', 'a Content-Type with a charset', {
    'content-type': 'application/json; charset=utf-8',
  }),
  {
    ...acceptanceRule(
      'http.chunked',
      'should',
      'a body that is sent in chunks, without Content-Length',
      {},
      true,
    ),
    source: 'RFC 9112 §7.1',
    fix: 'Read the body to its end, whether or not its length is declared.',
  },
  {
    ...should('http.body-limit', 'C§4, C§8: limits not shown'),
    title: 'a body of 2 kB is accepted',
    fix: 'Accept bodies of up to 1 MB: the arguments of a call may be long.',
    controls: [lists],
    mustAnswer: true,
    check: async (probe) => {
      const listed = await probe.rpc('tools/list', { _meta: { filler: 'x'.repeat(2_000) } });
      return resultProblems(listed, 'tools/list, with a body of 2 kB');
    },
  },
  {
    ...acceptanceRule('http.any-host', 'must', 'a request with a public host name', {
      host: 'tools.example.com',
    }),
    source: 'C§1.4, C§4',
    fix: 'Answer whatever Host says. A project of create-market-mcp does so in production; elsewhere, set ALLOWED_HOSTS.',
    // A server on this machine may refuse other names as a protection against DNS rebinding.
    isAdvice: ({ owned, url }, problems) =>
      !owned && isOnLoopback(url) && problems.every(({ actual }) => /^HTTP (400|403|421)\b/.test(actual)),
  },
  refusalRule(
    'http.content-type',
    'a body that is not declared as JSON',
    rpcRequest(nextId(), 'tools/list'),
    {
      headers: { 'content-type': 'text/plain' },
    },
  ),
  mergeLive({ title: 'a body that is not a JSON object is refused' }, [
    refusalRule(
      'http.malformed',
      'a body that is not JSON',
      '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"',
    ),
    refusalRule('http.empty', 'an empty body', ''),
    refusalRule('http.not-object', 'a body that is JSON but not an object', '"tools/list"'),
    refusalRule('http.null', 'the body null', 'null'),
  ]),
  {
    ...should('http.foreign-origin', 'MCP 2025-06-18, transports'),
    title: 'a request from a foreign web page is refused',
    fix: 'Answer 403 to a request whose Origin is not allowed.',
    isAdvice: ({ url }) => !isOnLoopback(url),
    controls: [lists],
    check: async (probe) => {
      const headers = { origin: 'https://attacker.example' };
      const { http } = await probe.rpc('tools/list', undefined, { headers });
      return rejectedProblems(http, 'Origin: https://attacker.example');
    },
  },
  {
    ...should('http.cors', 'C§3.1, C§4; Fetch standard, CORS protocol'),
    title: 'a web page that may send requests may send and read the session id, too',
    fix: 'Add mcp-session-id to Access-Control-Allow-Headers and to Access-Control-Expose-Headers.',
    turn: 'opening',
    controls: [lists],
    check: async (probe) => {
      const origins = pagesOf(probe);
      const { origin, answers } = await admittedPage(probe, origins);
      if (origin === undefined)
        throw NotRun.because('inapplicable', `the server admits no page of ${origins.join(', ')}`);
      if (answers.every(([, , answer]) => sessionOf(answer) === undefined))
        throw NotRun.because('inapplicable', 'the server gives a page no session id');
      return answers.flatMap(([path, title, answer]) => {
        const { headers } = answer;
        const names = `access-control-${title}-headers`;
        const isOpen = headers['access-control-allow-origin'] !== undefined;
        return problemUnless(
          !isOpen || /(^|[\s,])(\*|mcp-session-id)($|[\s,])/i.test(String(headers[names])),
          {
            path: `${path} with Origin: ${origin}, header ${names}`,
            expected: 'a list with mcp-session-id',
            actual: shorten(headers[names]),
          },
        ).map(withRequestCommand(answer));
      });
    },
  },
  {
    ...should('http.other-methods', 'C§4'),
    title: 'PUT and PATCH on the endpoint are refused',
    fix: 'Answer 404 or 405.',
    controls: [lists],
    check: async (probe) => {
      const session = await probe.session();
      const headers = present({ 'content-type': 'application/json', 'mcp-session-id': session });
      const body = JSON.stringify(rpcRequest(nextId(), 'tools/list'));
      return problemsInParallel(['PUT', 'PATCH'], async (method) =>
        rejectedProblems(await probe.http({ method, headers, body }), method),
      );
    },
  },
  {
    ...should('http.stream-ends', 'MCP 2025-06-18, transports'),
    title: 'a stream of events that answers a request ends with the response',
    fix: 'End the stream after the response. Each open stream costs the caller and the server a connection.',
    check: async (probe) => {
      const { http } = await probe.rpc('tools/list');
      const expected = 'a stream that ends after the response';
      return problemsAt(!http.open, 'tools/list', expected, 'a stream that stays open').map(
        withRequestCommand(http),
      );
    },
  },
  {
    ...should('http.internal-paths', 'OWASP, security misconfiguration'),
    title: 'neither /.env nor /debug nor /metrics shows the inside of the server',
    fix: 'Serve no files of the project and no debug page. Serve metrics at another port, or for a token.',
    check: async (probe) => {
      const paths = Object.keys(internalTexts);
      const answers = await mapConcurrently(paths, paths.length, async (path) => ({
        path,
        answer: await probe.http({ path }),
      }));
      const exposed = answers.filter(({ path, answer }) => showsInside(answer, internalTexts[path]));
      if (exposed.length === 0) return [];
      const absentAnswer = await probe.http({ path: `/${randomUUID()}` });
      return exposed
        .filter(({ answer }) => answer.body !== absentAnswer.body)
        .flatMap(({ path, answer }) =>
          answerProblems(false, `GET ${path}`, 'HTTP 404', maskedAnswer(answer)),
        );
    },
  },
  {
    ...should('http.no-product-header', 'OWASP, HTTP headers'),
    title: 'neither X-Powered-By nor a version in Server names the software of the server',
    fix: 'Remove X-Powered-By and the version in Server.',
    check: async (probe) => {
      const answer = await probe.health();
      const { headers } = answer;
      const problems = ['x-powered-by', 'server'].flatMap((name) =>
        problemUnless(
          headers[name] === undefined || (name === 'server' && !/\d/.test(String(headers[name]))),
          {
            path: `header ${name}`,
            expected: 'none',
            actual: shorten(headers[name]),
          },
        ),
      );
      return problems.map(withRequestCommand(answer));
    },
  },
];

/** A line of a file of variables, or a signed token. */
const variablesOrToken = /^(?:export )?[A-Z][A-Z\d_]*=\S|\beyJ[\w-]{5,}\.eyJ[\w-]{5,}\./m;

/** Paths that are no part of a tool server, with the texts that only their callers may read. */
const internalTexts: Readonly<Record<string, RegExp>> = {
  '/.env': variablesOrToken,
  '/debug': variablesOrToken,
  '/metrics': /^# (?:HELP|TYPE) \w/m,
};

function showsInside({ status, headers, body }: HttpAnswer, internalText: RegExp | undefined): boolean {
  const isPage = /html/i.test(headers['content-type'] ?? '') || body.trimStart().startsWith('<');
  return status === 200 && !isPage && internalText?.test(body) === true;
}

/** An answer of which only the first name is shown, and no value. */
function maskedAnswer(answer: HttpAnswer): HttpAnswer {
  return { ...answer, body: answer.body.slice(0, 1_000).replaceAll(/=.*|eyJ.*/g, '=…') };
}

/** The origins of pages that a server may admit: the marketplace's, its issuer's, the server's own, and the Inspector's of MCP. */
export function pagesOf({ profile: { listing, token }, url }: Probe): readonly string[] {
  const addresses = [listing.url, token.issuer, url.href, 'http://localhost:6274'];
  return [
    ...new Set(
      addresses.flatMap((address) => (address && URL.canParse(address) ? [new URL(address).origin] : [])),
    ),
  ];
}

/** What the first admitted page gets to its preflight request and to initialize. */
async function admittedPage(probe: Probe, origins: readonly string[]) {
  for (const origin of origins) {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, mcp-session-id',
    };
    const answers = [
      ['OPTIONS', 'allow', await probe.http({ method: 'OPTIONS', headers })],
      ['initialize', 'expose', (await probe.initialize(undefined, { headers: { origin } })).http],
    ] as const;
    if (answers.some(([, , answer]) => answer.headers['access-control-allow-origin'] !== undefined))
      return { origin, answers };
  }
  return { answers: [] };
}

function acceptanceRule(
  id: string,
  level: 'must' | 'should',
  title: string,
  headers: NonNullable<PostOptions['headers']>,
  chunked = false,
): LiveRule {
  return {
    id,
    level,
    title: `${title} is answered`,
    source: 'C§4',
    fix: 'Answer in JSON whatever the headers say. The bare transport of the SDK is stricter than real callers.',
    turn: 'opening',
    controls: [lists],
    mustAnswer: true,
    check: async (probe) => {
      if (headers.host !== undefined && probe.url.protocol === 'https:') {
        throw NotRun.because('inapplicable', 'over HTTPS, the host name decides which server answers');
      }
      const session = await probe.session();
      const bodyHeader = chunked
        ? 'Transfer-Encoding: chunked'
        : Object.entries(headers).map(([name, value]) => `${name}: ${value ?? 'absent'}`);
      const listed = await probe.rpc('tools/list', undefined, { session, headers, chunked });
      const problems = resultProblems(listed, `tools/list, ${bodyHeader}`);
      const hindrance = await initializesAgain(probe);
      if (hindrance === undefined) {
        const initialized = await probe.initialize(undefined, { headers, chunked });
        return [...resultProblems(initialized, `initialize, ${bodyHeader}`), ...problems];
      }
      if (problems.length === 0) throw NotRun.preventedBy(hindrance);
      return problems;
    },
  };
}

function refusalRule(
  id: string,
  title: string,
  body: Parameters<Probe['post']>[0],
  options: PostOptions = {},
): LiveRule {
  return {
    ...should(id, 'C§4 (JSON-RPC 2.0 §5.1)'),
    title: `${title} is refused`,
    fix: 'Answer HTTP 4xx with a JSON-RPC error (-32700 or -32600).',
    controls: [lists],
    mustAnswer: 'in-time',
    check: async (probe) => {
      const session = await probe.session();
      const answer = await probe.post(body, { ...options, session, mayHang: true });
      return rejectedProblems(answer, `POST ${shorten(body, 40)}`);
    },
  };
}

/** Only a server on this machine can be reached by DNS rebinding. */
function isOnLoopback(url: string): boolean {
  return addressScope(new URL(url)) === 'loopback';
}
