import type { Json } from '../model.ts';
import { speaksModern } from '../probe/controls.ts';
import type { HttpAnswer } from '../probe/http.ts';
import { modernMessage } from '../probe/modern.ts';
import type { Probe } from '../probe/probe.ts';
import type { PostOptions } from '../probe/requests.ts';
import { rejectedProblems, unauthorizedProblems } from './expect.ts';
import { callsModern } from './modern.ts';
import { inParallel, type LiveRule, must } from './rule.ts';

/** Authentication in the stateless revision of MCP: no form of a call runs unpaid. */
export const modernGateRules: readonly LiveRule[] = [
  {
    ...must('modern.no-token', 'C§5.1, C§5.4, C§7'),
    title: 'a call without a session and without a token is Unauthorized',
    fix: 'Check the token before you decide which era a request belongs to.',
    controls: [speaksModern],
    check: async (probe) =>
      unauthorizedProblems(await unpaid(probe), probe.profile, 'tools/call without a token'),
  },
  {
    ...must('modern.forged-token', 'C§5.1, C§5.4; platform facts, "Token"'),
    title: 'a call without a session is Unauthorized with a token of another signer or for another audience',
    fix: 'Verify signature and audience before you decide which era a request belongs to.',
    controls: [speaksModern, callsModern],
    check: async (probe) => {
      const forgeries = [
        ['signed with another key', { by: 'untrusted' }],
        ['for another audience', { claims: { aud: 'https://other.example/mcp' } }],
      ] as const;
      return inParallel(forgeries, async ([what, forgery]) => {
        const { body, headers } = await call(probe);
        const answer = await probe.post(body, { headers, token: await probe.token(forgery) });
        return unauthorizedProblems(answer, probe.profile, `tools/call with a token ${what}`);
      });
    },
  },
  {
    ...must('modern.disguised-call', 'C§5.3, C§5.4'),
    title: 'a disguised call does not run unpaid: another Mcp-Method, a batch, an unsupported version',
    fix: 'Look for tools/call in every message of the body, whatever the headers say.',
    controls: [speaksModern, refusesPlain],
    check: async (probe) => {
      const { body, headers } = await call(probe);
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
      return inParallel(forms, async ([what, form, own]) => {
        const answer = await probe.post(form, own === undefined ? {} : { headers: own });
        return rejectedProblems(answer, `tools/call without a token, ${what}`);
      });
    },
  },
];

/** An ordinary call without a token, made once in a run. */
function unpaid(probe: Probe): Promise<HttpAnswer> {
  return probe.once('modern unpaid call', async () => {
    const { body, headers } = await call(probe);
    return probe.post(body, { headers });
  });
}

/** An ordinary call without a token is refused; otherwise a disguised call that runs proves nothing. */
async function refusesPlain(probe: Probe): Promise<'modernUngated' | undefined> {
  return rejectedProblems(await unpaid(probe)).length === 0 ? undefined : 'modernUngated';
}

async function call(probe: Probe): Promise<ReturnType<typeof modernMessage>> {
  const { name, arguments: args = {} } = await probe.authenticationCall();
  return modernMessage('tools/call', { name, arguments: args });
}
