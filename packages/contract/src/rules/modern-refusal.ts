import { isObject, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { isDenied } from '../wire/access.ts';
import { type Control, refusesUnpaid, speaksModern } from '../wire/controls.ts';
import type { HttpAnswer } from '../wire/http.ts';
import {
  type ModernOptions,
  metaKey,
  modernMessage,
  modernRpc,
  modernVersion,
} from '../wire/modern-request.ts';
import type { Probe } from '../wire/probe.ts';
import type { PostOptions } from '../wire/requests.ts';
import type { RpcAnswer } from '../wire/rpc.ts';
import { answerProblems, holdsResult, ranProblems, rejectedProblems } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { callsModern, modernCall, modernList } from './modern.ts';
import { must, problemsInParallel, problemUnless, should, withSharedMembers } from './rule.ts';

/** The error codes of the revision, and those of JSON-RPC that it uses. */
const codes = {
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
  methodNotFound: -32_601,
  invalidParams: -32_602,
} as const;

const listsModern: Control = async (probe) => ((await modernList(probe)).result ? undefined : 'modernList');

/** The headers by which a router sends a request. */
const comparesHeaders = mergeLive(
  {
    title: 'a request whose Mcp-Method or Mcp-Name is absent or another than in its body is refused',
    fix: 'Compare Mcp-Method and Mcp-Name with the body, and answer HTTP 400 with error -32020.',
  },
  [
    {
      ...must('modern.headers', 'MCP 2026-07-28, Streamable HTTP: server validation'),
      title: 'a request whose Mcp-Method is absent or another than in its body is refused',
      fix: 'Compare Mcp-Method with the body, and answer HTTP 400 with error -32020.',
      controls: [speaksModern, listsModern],
      check: (probe) =>
        refusals(probe, codes.headerMismatch, 400, [
          ['without Mcp-Method', { headers: { 'mcp-method': undefined } }],
          ['with Mcp-Method: server/discover', { headers: { 'mcp-method': 'server/discover' } }],
          ['with Mcp-Method: TOOLS/LIST', { headers: { 'mcp-method': 'TOOLS/LIST' } }],
        ]),
    },
    {
      ...must('modern.name-header', 'MCP 2026-07-28, Streamable HTTP: server validation'),
      title: 'a call whose Mcp-Name is not the name of the tool in the body is refused',
      fix: 'Compare Mcp-Name with params.name, and answer HTTP 400 with error -32020.',
      controls: [speaksModern, callsModern],
      check: async (probe) => {
        const headers = [undefined, 'another_tool', '=?base64?!?='];
        return problemsInParallel(headers, async (name) => {
          const request = `tools/call with Mcp-Name: ${name ?? 'absent'}`;
          return errorProblems(
            await modernCall(probe, { 'mcp-name': name }),
            400,
            codes.headerMismatch,
            request,
          );
        });
      },
    },
  ],
);

/** Requests that the stateless revision of MCP refuses, and their errors; last, calls that nobody has paid. */
export const modernRefusalRules = withSharedMembers({ controls: [speaksModern, listsModern] }, [
  comparesHeaders,
  {
    ...should(
      'modern.version-header',
      'MCP 2026-07-28, Streamable HTTP: protocol version header; a server of both eras may judge by the header alone',
    ),
    title: 'a request whose MCP-Protocol-Version is absent or another than in its body is refused',
    fix: 'Answer HTTP 400 with error -32020: a router may have judged the request by its header.',
    check: async (probe) =>
      problemsInParallel([undefined, '2025-11-25'], async (version) => {
        const headers = { 'mcp-protocol-version': version };
        const { http } = await modernRpc(probe, 'tools/list', {}, { headers });
        return rejectedProblems(http, `tools/list with MCP-Protocol-Version: ${version ?? 'absent'}`);
      }),
  },
  {
    ...must('modern.version', 'MCP 2026-07-28, protocol version negotiation'),
    title: 'an unsupported version is refused, and the error lists the supported ones',
    fix: 'Answer HTTP 400 with error -32022 and data {supported, requested}.',
    check: async (probe) => {
      const requested = '1900-01-01';
      const answer = await modernRpc(
        probe,
        'tools/list',
        {},
        { meta: { protocolVersion: requested }, headers: { 'mcp-protocol-version': requested } },
      );
      const problems = errorProblems(answer, 400, codes.unsupportedVersion, `tools/list at ${requested}`);
      if (problems.length > 0) return problems;
      const data = answer.error?.data;
      const supported = isObject(data) ? data.supported : undefined;
      const isWhole = Array.isArray(supported) && supported.includes(modernVersion);
      return problemUnless(isObject(data) && data.requested === requested && isWhole, {
        path: 'error.data',
        expected: `{"supported":["${modernVersion}"],"requested":"${requested}"}`,
        actual: shorten(data),
      });
    },
  },
  {
    ...must('modern.meta', 'MCP 2026-07-28, per-request protocol fields'),
    title: 'a request whose _meta lacks the version or the capabilities of the client is refused',
    fix: 'Answer HTTP 400 with error -32602 if protocolVersion or clientCapabilities is missing in _meta.',
    check: (probe) =>
      refusals(probe, codes.invalidParams, 400, [
        [`without ${metaKey('clientCapabilities')}`, { meta: { clientCapabilities: undefined } }],
        [`without ${metaKey('protocolVersion')}`, { meta: { protocolVersion: undefined } }],
      ]),
  },
  {
    ...must('modern.unknown-method', 'MCP 2026-07-28, Streamable HTTP: protocol version header'),
    title: 'a method that the revision or the server does not have is answered with 404 and error -32601',
    fix: 'Answer HTTP 404 with error -32601, also to initialize and ping.',
    mustAnswer: 'in-time',
    check: async (probe) => {
      const methods = ['tools/destroy', 'initialize', 'ping'];
      return problemsInParallel(methods, async (method) =>
        errorProblems(
          await modernRpc(probe, method, undefined, { mayHang: true }),
          404,
          codes.methodNotFound,
          method,
        ),
      );
    },
  },
  {
    ...must(
      'modern.error-codes',
      'MCP 2026-07-28, error codes: -32002 and -32042 are retired, -32020 to -32099 are reserved',
    ),
    title: 'errors have codes that the revision allows',
    fix: 'Answer a request for what does not exist with -32602 or -32601, and keep your own codes outside -32768 to -32000.',
    check: async (probe) => {
      const uri = 'file:///no-such-resource';
      const answers = await Promise.all([
        modernRpc(probe, 'resources/read', { uri }, { headers: { 'mcp-name': uri } }),
        modernRpc(probe, 'prompts/get', { name: 'no-such-prompt' }),
      ]);
      return answers.flatMap(({ error }, index) =>
        problemUnless(error === undefined || isAllowed(error.code), {
          path: `${['resources/read', 'prompts/get'][index]} error.code`,
          expected: 'a code that the revision allows, such as -32602',
          actual: shorten(error?.code),
        }),
      );
    },
  },
  {
    ...must('modern.notification', 'MCP 2026-07-28, Streamable HTTP: sending messages'),
    title: 'a notification without a session is accepted without a response',
    fix: 'Answer HTTP 202 without a body.',
    check: async (probe) => {
      const { body, headers } = modernMessage('notifications/cancelled', { requestId: 1 });
      const { id: _, ...notification } = body;
      const answer = await probe.post(notification, { headers });
      const isAccepted = answer.status === 202 && answer.body === '';
      return answerProblems(isAccepted, 'notifications/cancelled', 'HTTP 202 without a body', answer);
    },
  },
  {
    ...must(
      'modern.unreadable',
      'MCP 2026-07-28, Streamable HTTP: sending messages; requests: the id is never null',
    ),
    title: 'a batch, broken JSON and a request with the id null are refused',
    fix: 'Answer HTTP 400, in JSON-RPC or in your own words.',
    check: (probe) =>
      eachUnreadable(probe, (answer, path) =>
        answerProblems(answer.status === 400 && !holdsResult(answer), path, 'HTTP 400 and no result', answer),
      ),
  },
  {
    ...should('modern.error-id', 'MCP 2026-07-28, error responses: the id is absent, never null'),
    title: 'the error for a body that is not a valid request has no id',
    fix: 'Leave id out if the request has none that can be read.',
    check: (probe) =>
      eachUnreadable(probe, (answer, path) => {
        const error = errorIn(answer);
        const hasId = error !== undefined && 'id' in error;
        return answerProblems(!hasId, path, 'an error without an id', answer);
      }),
  },
  {
    ...must('modern.no-token', 'C§5.1, C§5.4, C§7'),
    title: 'a call without a session and without a token is Unauthorized',
    fix: 'Check the token before you decide which era a request belongs to.',
    controls: [speaksModern, refusesUnpaid],
    check: async (probe) => {
      const answer = await modernUnpaidCall(probe);
      const [path, expected] = ['tools/call without a token', 'HTTP 401 {"error":"Unauthorized"}'];
      return answerProblems(isDenied(answer), path, expected, answer);
    },
  },
  {
    ...must('modern.forged-token', 'C§5.1, C§5.4; platform facts, "Token"'),
    title: 'a call without a session is refused with a token of another signer or for another audience',
    fix: 'Verify signature and audience before you decide which era a request belongs to.',
    controls: [speaksModern, refusesUnpaid, callsModern],
    check: async (probe) => {
      const forgeries = [
        ['signed with another key', { by: 'untrusted' }],
        ['for another audience', { claims: { aud: 'https://other.example/mcp' } }],
      ] as const;
      return problemsInParallel(forgeries, async ([title, forgery]) => {
        const { body, headers } = await toolCallMessage(probe);
        const answer = await probe.post(body, { headers, token: await probe.token(forgery) });
        return ranProblems({ answer, path: `tools/call with a token ${title}` });
      });
    },
  },
  {
    ...must('modern.disguised-call', 'C§5.3, C§5.4'),
    title: 'a disguised call does not run unpaid: another Mcp-Method, a batch, an unsupported version',
    fix: 'Look for tools/call in every message of the body, whatever the headers say.',
    controls: [speaksModern, refusesPlain],
    check: async (probe) => {
      const { body, headers } = await toolCallMessage(probe);
      const forms: readonly (readonly [what: string, body: Json, headers: PostOptions['headers']])[] = [
        ['with Mcp-Method: tools/list', body, { ...headers, 'mcp-method': 'tools/list' }],
        ['without Mcp-Method', body, { ...headers, 'mcp-method': undefined }],
        ['with another Mcp-Name', body, { ...headers, 'mcp-name': 'another_tool' }],
        ['in a batch', [body], headers],
        [
          'in a batch behind tools/list',
          [modernMessage('tools/list').body, body],
          { ...headers, 'mcp-method': 'tools/list' },
        ],
        ['without headers', body, {}],
        ['at another version', body, { ...headers, 'mcp-protocol-version': '1900-01-01' }],
      ];
      return problemsInParallel(forms, async ([title, form, ownHeaders]) => {
        const answer = await probe.post(form, ownHeaders === undefined ? {} : { headers: ownHeaders });
        return ranProblems({ answer, path: `tools/call without a token, ${title}` });
      });
    },
  },
]);

/** Checks the answers to bodies that are not a valid request. They are sent once for a probe. */
async function eachUnreadable(
  probe: Probe,
  findProblems: (answer: HttpAnswer, path: string) => readonly Problem[],
): Promise<readonly Problem[]> {
  const answers = await probe.once('modern unreadable', () => {
    const { body, headers } = modernMessage('tools/list');
    const bodies: readonly Json[] = [[body], '{"jsonrpc":', { ...body, id: null }];
    return Promise.all(
      bodies.map(async (body) => ({ path: shorten(body), answer: await probe.post(body, { headers }) })),
    );
  });
  return answers.flatMap(({ path, answer }) => findProblems(answer, path));
}

/** The message of an answer if it is an error. */
function errorIn({ values: [value] }: HttpAnswer): JsonObject | undefined {
  if (isObject(value) && isObject(value.error)) return value;
  return undefined;
}

/** Sends tools/list with one error in each request; each must be refused with the given code. */
async function refusals(
  probe: Probe,
  code: number,
  status: number,
  requests: readonly (readonly [what: string, options: ModernOptions])[],
): Promise<readonly Problem[]> {
  return problemsInParallel(requests, async ([title, options]) =>
    errorProblems(await modernRpc(probe, 'tools/list', {}, options), status, code, `tools/list ${title}`),
  );
}

function errorProblems(
  { http, error }: RpcAnswer,
  status: number,
  code: number,
  path: string,
): readonly Problem[] {
  const isExpected = http.status === status && error?.code === code;
  return answerProblems(isExpected, path, `HTTP ${status} with error ${code}`, http);
}

/** Whether a code is allowed in an error: an integer that is neither retired nor reserved for another meaning. */
function isAllowed(code: Json | undefined): boolean {
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) return false;
  const isReserved = code <= -32_020 && code >= -32_099;
  return !isReserved && code !== -32_002 && code !== -32_042;
}

/** An ordinary call without a token, made once for a probe. */
function modernUnpaidCall(probe: Probe): Promise<HttpAnswer> {
  return probe.once('modern unpaid call', async () => {
    const { body, headers } = await toolCallMessage(probe);
    return probe.post(body, { headers });
  });
}

/** An ordinary call without a token is refused; otherwise a disguised call that runs proves nothing. */
async function refusesPlain(probe: Probe): Promise<'modernUngated' | undefined> {
  if (isDenied(await modernUnpaidCall(probe))) return undefined;
  return 'modernUngated';
}

async function toolCallMessage(probe: Probe): Promise<ReturnType<typeof modernMessage>> {
  return modernMessage('tools/call', await probe.authenticationCall());
}
