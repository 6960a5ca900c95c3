import { objectOr, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { admitsPaid, initializesAgain, refusesUnpaid } from '../wire/controls.ts';
import { invented } from '../wire/curl-line.ts';
import { NotRun } from '../wire/not-run.ts';
import { noSuchTool, type Probe } from '../wire/probe.ts';
import type { PostOptions } from '../wire/requests.ts';
import { nextId, rpcRequest, silentAnswerOrThrow } from '../wire/rpc.ts';
import { type Attempt, answerProblems, ranProblems } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { type LiveRule, must, problemsInParallel } from './rule.ts';
import { pagesOf } from './transport.ts';

const fix =
  'Parse the body once, authenticate every message in it, and pass that same value to the handlers.';

/** Ways around authentication without a token: the form of the request hides the call. */
export const gateRequestRules: readonly LiveRule[] = [
  mergeLive({ title: 'a batch that contains a call does not run a tool without a token' }, [
    bypass('gate.batch', 'a batch with one call', [{ write: (call) => JSON.stringify([call]) }]),
    bypass('gate.batch-mixed', 'a batch that hides a call behind an open method', [
      { write: (call) => JSON.stringify([openRequest(), call, openRequest()]) },
    ]),
    bypass('gate.batch-nested', 'a batch inside a batch', [{ write: (call) => JSON.stringify([[call]]) }]),
  ]),
  bypass(
    'gate.content-type',
    'a call with an unusual Content-Type',
    ['application/json\u00a0', 'application/json;', 'application/json; charset', 'text/plain', ''].map(
      (type) => ({ headers: { 'content-type': type }, as: `Content-Type: ${shorten(type)}` }),
    ),
  ),
  bypass(
    'gate.method-spelling',
    'a call whose method is spelled differently',
    ['tools\\u002fcall', 'tools\\/call', 'Tools/Call', 'tools/call ', ' tools/call', 'tools/call\\u0000'].map(
      (spelling) => ({
        write: (call) => JSON.stringify(call).replace('tools/call', spelling),
        as: `"method":"${spelling}"`,
      }),
    ),
  ),
  bypass(
    'gate.duplicate-keys',
    'a call whose body names two methods',
    ['"method":"tools/list"', '"method":"initialize"'].flatMap((methodText): readonly Unpaid[] => [
      { write: (call) => `{${methodText},${JSON.stringify(call).slice(1)}`, as: `{${methodText}, …call}` },
      {
        write: (call) => `${JSON.stringify(call).slice(0, -1)},${methodText}}`,
        as: `{…call, ${methodText}}`,
      },
    ]),
  ),
  {
    ...must('gate.session-state', 'C§5.1, C§5.4'),
    title: 'a call without a session, or in an unknown or ended one, does not run a tool without a token',
    fix: 'Check the token of each tools/call before you look for its session.',
    turn: 'opening',
    controls: [refusesUnpaid],
    check: async (probe, note) => {
      const states: Unpaid[] = [
        { session: undefined, as: 'a request without a session' },
        { session: invented.unknown, as: 'a request in an unknown session' },
      ];
      const session = await endedSession(probe);
      if (session === undefined) note?.('not sent in an ended session, because the server ended none');
      else states.push({ session, as: 'a request in an ended session' });
      return runsNothing(probe, states);
    },
  },
  {
    ...must('gate.request-form', 'C§5.1, C§5.4'),
    title: 'no form of a call runs a tool without a token, such as a call in chunks or by HTTP/1.0',
    fix: 'Let only the method in the parsed body decide whether a request needs a token.',
    controls: [refusesUnpaid],
    check: async (probe) => {
      const forms = [
        ...otherForms(probe),
        ...misplacedTokens(probe, invented.token, 'an invalid token'),
        ...(await repeatedToken(probe)),
      ];
      return runsNothing(probe, forms);
    },
  },
  {
    ...must('gate.notification', 'C§5.4, C§7'),
    title: 'a call without an id is refused without a token',
    fix,
    controls: [refusesUnpaid],
    check: async (probe) => {
      const { status } = (await probe.unpaidCall()).http;
      if (status < 400) throw NotRun.because('inapplicable', 'a refusal in a response needs an id');
      const write: Unpaid['write'] = ({ jsonrpc, method, params }) =>
        JSON.stringify({ jsonrpc, method, params });
      const { answer, path } = await sendUnpaid(probe, { write });
      return answerProblems(answer.status >= 400, path, 'HTTP 4xx', answer);
    },
  },
  unpaidRefusalRule('gate.trusted-headers', 'a call with headers that a proxy might set', (probe) =>
    sendUnpaid(probe, {
      headers: {
        'x-forwarded-user': 'platform',
        'x-authenticated': 'true',
        'x-payment-verified': 'true',
        'x-forwarded-for': '127.0.0.1',
        'x-http-method-override': 'GET',
      },
    }),
  ),
  unpaidRefusalRule('gate.unknown-tool', 'a call of an unknown tool', async (probe) => {
    const call = { name: noSuchTool, arguments: {} };
    const { http } = await probe.rpcOnce('tools/call', call, { session: await probe.session() });
    return { answer: http, path: `tools/call of ${noSuchTool}` };
  }),
  {
    ...unpaidRefusalRule(
      'gate.every-call',
      'a call in a session that has paid for an earlier one',
      async (probe) => {
        const session = await probe.newSession();
        const call = await probe.authenticationCall();
        await probe.call(call.name, call.arguments, { session });
        const { http } = await probe.rpcOnce('tools/call', call, { session });
        return { answer: http, path: 'the second tools/call, without a token' };
      },
    ),
    turn: 'opening',
    controls: [refusesUnpaid, admitsPaid, initializesAgain],
  },
];

/** A session that the server has ended on request; undefined if it opens no further session or ends none. */
async function endedSession(probe: Probe): Promise<string | undefined> {
  const session = await probe.confirmSession(await probe.initializeWithRetries());
  if (session === undefined) return undefined;
  const { status } = await probe.http({ method: 'DELETE', headers: { 'mcp-session-id': session } });
  if (status >= 200 && status < 300) return session;
  return undefined;
}

/** Characters that make a body larger than what servers read or parse in one piece. */
const padding = ' '.repeat(6_000);

/** Forms of a call that do not change its meaning. */
function otherForms(probe: Probe): readonly Unpaid[] {
  return [
    ...pagesOf(probe).map((origin) => ({ headers: { origin }, as: `a request with Origin: ${origin}` })),
    { chunked: true, as: 'a request in chunks' },
    { httpVersion: '1.0', as: 'a request by HTTP/1.0' },
    {
      write: (call) => JSON.stringify({ ...call, id: `call-${call.id}` }),
      as: 'a request whose id is a text',
    },
    {
      write: ({ params, ...call }) => {
        const _meta = { progressToken: 'unpaid' };
        return JSON.stringify({ ...call, params: { ...objectOr(params), _meta } });
      },
      as: 'a request with _meta',
    },
    {
      write: (call) => JSON.stringify(call).replace('{', `{${padding}`),
      as: `a request of over ${padding.length} bytes`,
    },
  ];
}

/** Calls with a token in the query or in a cookie, under names where some servers look for one. */
export function misplacedTokens(
  { url: { pathname, search } }: Probe,
  token: string,
  description: string,
): readonly Unpaid[] {
  return ['access_token', 'token', 'authorization'].flatMap((name): readonly Unpaid[] => [
    {
      target: `${pathname}${search === '' ? '?' : `${search}&`}${name}=${token}`,
      as: `a request with ?${name}=<${description}>`,
    },
    {
      headers: { cookie: `${name}=${token}` },
      as: `a request with Cookie: ${name}=<${description}>`,
    },
  ]);
}

/** A call that repeats the header of an invalid token. None if the token is accepted without them, which gate.garbage reports. */
async function repeatedToken(probe: Probe): Promise<readonly Unpaid[]> {
  const { header, scheme } = probe.profile.token;
  const value = `${scheme} ${invented.token}`;
  const invalid: Unpaid = { headers: { [header]: value }, as: `a request with an invalid ${header} header` };
  if ((await runsNothing(probe, [invalid])).length > 0) return [];
  return [
    { ...invalid, repeatedHeader: [header, value], as: `a request with two invalid ${header} headers` },
  ];
}

function openRequest(): JsonObject {
  return rpcRequest(nextId(), 'tools/list');
}

/** A rule that sends one request, which must not run a tool. */
function unpaidRefusalRule(id: string, title: string, send: (probe: Probe) => Promise<Attempt>): LiveRule {
  return {
    ...must(id, 'C§5.4, C§7'),
    title: `${title} is refused without a token`,
    fix,
    controls: [refusesUnpaid],
    check: async (probe) => {
      return ranProblems(await send(probe));
    },
  };
}

/** A rule that sends the same call in each of these forms; none may run a tool. */
function bypass(id: string, title: string, forms: readonly Unpaid[]): LiveRule {
  return {
    ...must(id, "C§5.4; reproduced with the platform's public middleware"),
    title: `${title} does not run a tool without a token`,
    fix,
    controls: [refusesUnpaid],
    check: (probe) => problemsInParallel(forms, async (form) => ranProblems(await sendUnpaid(probe, form))),
  };
}

/** The form of a call without a valid token. By default it names the shared session; `undefined` names none. */
export interface Unpaid extends Omit<PostOptions, 'token'> {
  /** The body; by default the JSON of the call. */
  readonly write?: (call: JsonObject) => string;
  /** The name of the request in a report. */
  readonly as?: string;
}

/** The problems of a call in each of these forms; none may run a tool. A call without an answer has run nothing that can be seen. */
export function runsNothing(probe: Probe, forms: readonly Unpaid[]): Promise<readonly Problem[]> {
  return problemsInParallel(forms, async (form) => {
    const attempt = await sendUnpaid(probe, form).catch((error: unknown) => ({
      answer: silentAnswerOrThrow(error).http,
      path: form.as ?? '',
    }));
    return ranProblems(attempt);
  });
}

export async function sendUnpaid(
  probe: Probe,
  { write = JSON.stringify, as, ...options }: Unpaid,
): Promise<Attempt> {
  const call = rpcRequest(nextId(), 'tools/call', await probe.authenticationCall());
  const answer = await probe.post(write(call), { session: await probe.session(), ...options });
  return { answer, path: as === undefined ? 'tools/call' : `tools/call as ${as}` };
}
