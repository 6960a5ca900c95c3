import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { variableLines } from '../../../packages/contract/src/report/request-variables.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { serving, signer } from '../../broken/trust.ts';
import { instead, methodOf, type Variant } from '../../broken/variant.ts';

const run = promisify(execFile);

/** What a shell prints for the first printed request of a failed rule, after the lines that set its variables. */
async function pasted(variant: Variant, rule: string): Promise<{ actual: string; output: string }> {
  return serving(variant, async (url) => {
    const report = await runContract(
      { url, profile: context, signer },
      { selects: ({ id, within }) => id === rule || within === rule },
    );
    const [problem] = report.rules[0]?.problems ?? [];
    const lines = [...variableLines(report).slice(1), problem?.request ?? ''];
    const { stdout } = await run('bash', ['-c', lines.join('\n')]);
    return { actual: problem?.actual ?? '', output: stdout };
  });
}

it('a pasted request in a session shows the failure', async () => {
  const variant = instead((request) =>
    methodOf(request) === 'ping' && request.headers['mcp-session-id'] !== undefined
      ? { status: 500, body: { error: 'no pong' } }
      : undefined,
  );
  const { actual, output } = await pasted(variant, 'protocol.ping');
  expect(actual).toContain('no pong');
  expect(output).toMatch(/^HTTP\/1.1 500/);
  expect(output).toContain('no pong');
});

it('a pasted request with a long session id shows the failure', async () => {
  const variant = instead((request) =>
    request.method === 'POST' && (request.headers['mcp-session-id']?.length ?? 0) > 1_000
      ? { status: 500, body: 'too long' }
      : undefined,
  );
  const { output } = await pasted(variant, 'session.unknown-post');
  expect(output).toMatch(/^HTTP\/1.1 500/);
});

it('a pasted request with a changed session id shows the failure', async () => {
  const issued = new Set<string | undefined>([undefined]);
  const variant: Variant = {
    answer: (good) => async (request) => {
      if (!issued.has(request.headers['mcp-session-id']?.toString()))
        return { status: 500, body: 'not one of mine' };
      const answer = await good(request);
      issued.add(answer.headers?.['mcp-session-id']?.toString());
      return answer;
    },
  };
  const { output } = await pasted(variant, 'session.tampered');
  expect(output).toMatch(/^HTTP\/1.1 500/);
  expect(output).toContain('not one of mine');
});

it('a report sets only the variables that its requests have', () => {
  const rule = { id: 'a.b', level: 'must', title: '', source: '', fix: '', status: 'fail', ms: 0 } as const;
  const withRequest = (request: string) =>
    variableLines({
      target: 'http://localhost:3000/mcp',
      rules: [{ ...rule, problems: [{ expected: '', actual: '', request }] }],
    });
  expect(withRequest('curl -sS http://localhost:3000/mcp')).toEqual([]);
  expect(withRequest('curl -H "authorization: Bearer $TOKEN"')).toEqual([
    'To send a printed request again, set its variables first:',
    expect.stringMatching(/^TOKEN=/),
  ]);
});
