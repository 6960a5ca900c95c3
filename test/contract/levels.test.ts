import { expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import { context, mcp } from '../../packages/contract/src/platforms/all.ts';
import { sentences } from '../../packages/contract/src/platforms/mcp.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { effectiveLevel, ruleCases } from '../../packages/contract/src/rules/rule.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { OwnedServer } from '../../packages/contract/src/target.ts';
import { serving, signer } from '../broken/trust.ts';
import { instead, withAnswer } from '../broken/variant.ts';

/** The level of a rule that fails because the server answers some requests by this status. */
async function levelOf(
  id: string,
  status: number,
  profile: PlatformProfile = context,
  owned?: Partial<OwnedServer>,
): Promise<string> {
  const variant = instead(({ headers }) =>
    headers.host === 'tools.example.com' ? { status, body: { error: 'Host not allowed' } } : undefined,
  );
  const { rules } = await serving(variant, (url) =>
    runContract(
      { url, profile, signer, ...(owned && { owned: owned as OwnedServer }) },
      { selects: (rule) => rule.id === id },
    ),
  );
  const [result] = rules;
  return `${result?.status} ${result?.level}`;
}

it.each([400, 403, 421])(
  'a server on loopback that refuses a foreign host with %i gets advice',
  async (status) => {
    expect(await levelOf('http.any-host', status)).toBe('fail should');
  },
);

it('a server on loopback that answers a foreign host otherwise fails a MUST', async () => {
  expect(await levelOf('http.any-host', 500)).toBe('fail must');
});

it('the server of a project that refuses a foreign host fails a MUST', async () => {
  expect(await levelOf('http.any-host', 403, context, {})).toBe('fail must');
});

it('a foreign origin is a MUST of the specification on loopback, and advice elsewhere', () => {
  const rule = rules.find(({ id }) => id === 'http.foreign-origin');
  expect(rule && effectiveLevel(rule, mcp)).toBe('must');
  const advice = (url: string) => rule && 'isAdvice' in rule && rule.isAdvice?.({ url, profile: mcp }, []);
  expect(advice('http://127.0.0.1:3000/mcp')).toBe(false);
  expect(advice('https://tools.example.com/mcp')).toBe(true);
});

it('under mcp, the rules with a sentence of the specification are the MUST rules, and no others', () => {
  const required = rules.flatMap(ruleCases).filter((rule) => effectiveLevel(rule, mcp) === 'must');
  expect(required.map(({ id }) => id).toSorted()).toEqual(Object.keys(sentences).toSorted());
});

it.each(['session.lasting', 'session.parallel', 'tool.name-unique', 'input.default', 'http.charset'])(
  'under mcp, %s is a SHOULD',
  (id) => {
    const rule = rules.find((candidate) => candidate.id === id);
    expect(rule && effectiveLevel(rule, mcp)).toBe('should');
  },
);

it.each(['session', 'session.open'])(
  'a server that opens no session and requires one fails other rules under a profile without %s',
  async (name) => {
    const profile = { ...context, rules: { ...context.rules, overrides: { [name]: 'off' as const } } };
    const withoutId = withAnswer((answer) => ({ ...answer, headers: {} }));
    const { rules } = await serving(withoutId, (url) =>
      runContract({ url, profile }, { selects: ({ id }) => id === 'discovery.tools-list' }),
    );
    expect(rules).toMatchObject([{ status: 'fail' }]);
  },
);
