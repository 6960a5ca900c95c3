import { expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import { context, mcp } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { effectiveLevel } from '../../packages/contract/src/rules/rule.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { OwnedServer } from '../../packages/contract/src/target.ts';
import { serving, signer } from '../broken/trust.ts';
import { instead } from '../broken/variant.ts';

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

it.each([
  [
    'must',
    'protocol.unknown-version',
    'protocol.version-header',
    'protocol.ping',
    'identity.name',
    'identity.tools',
  ],
  ['must', 'session.id-characters'],
  ['should', 'session.lasting', 'session.parallel', 'tool.name-unique', 'input.default', 'http.charset'],
  ['should', 'input.required-declared', 'output.required-declared'],
])('the specification alone makes it a %s: %s and others', (level, ...ids) => {
  const levels = ids
    .map((id) => rules.find((rule) => rule.id === id))
    .map((rule) => rule && effectiveLevel(rule, mcp));
  expect(levels).toEqual(ids.map(() => level));
});
