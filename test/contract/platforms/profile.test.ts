import { describe, expect, it } from 'vitest';
import { isRule } from '../../../packages/contract/src/catalogue.ts';
import { isObject } from '../../../packages/contract/src/json/json.ts';
import { context, generic, platforms } from '../../../packages/contract/src/platforms/all.ts';
import { profileProblems } from '../../../packages/contract/src/platforms/profile-schema.ts';

/** The dotted paths of all values that are not objects. */
function leaves(value: unknown, path: string): readonly string[] {
  return isObject(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, member]) =>
        leaves(member, path === '' ? name : `${path}.${name}`),
      )
    : [path];
}

describe('the built-in profiles', () => {
  it.each(platforms)('$name is valid', (profile) => {
    expect(profileProblems(profile, isRule)).toEqual([]);
  });

  it.each(platforms)(
    '$name gives a source for each of its values',
    ({ name, title, sources, ...profile }) => {
      const sourced = (path: string) =>
        Object.keys(sources).some((source) => path === source || path.startsWith(`${source}.`));
      expect(leaves(profile, '').filter((path) => !sourced(path))).toEqual([]);
    },
  );

  it('have unique names, the contract alone first', () => {
    expect(platforms.map(({ name }) => name)).toEqual([
      'generic',
      'context',
      'claude-directory',
      'openai-apps',
      'mcp',
    ]);
  });

  it('treat platform facts as advice if only the contract counts', () => {
    expect([generic.rules.facts, context.rules.facts]).toEqual(['should', 'own']);
  });
});

describe('profileProblems', () => {
  const { protocol: _optional, ...required } = generic;
  const requiredMembers = Object.keys(required);

  it('reports every error at once, with its path', () => {
    const { title: _title, ...untitled } = generic;
    const problems = profileProblems(
      {
        ...untitled,
        token: {
          ...generic.token,
          algorithms: ['HS256'],
          refusalStatus: 500,
          fallbackKey: { pem: '-----BEGIN PUBLIC KEY-----\nx', source: 'nowhere' },
        },
        limits: { ...generic.limits, toolNamePattern: '(' },
        toolMeta: { type: 'nonsense' },
        rules: { facts: 'own', overrides: { 'gate.no-such-rule': 'must', 'gate.no-token': 'never' } },
        extra: true,
      },
      isRule,
    );
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      'profile.extra',
      'profile.limits.toolNamePattern',
      'profile.rules.overrides.gate.no-such-rule',
      'profile.rules.overrides.gate.no-token',
      'profile.title',
      'profile.token.algorithms[0]',
      'profile.token.fallbackKey.pem',
      'profile.token.refusalStatus',
      'profile.toolMeta',
    ]);
  });

  it.each([
    [null, ['profile']],
    [5, ['profile']],
    ['text', ['profile']],
    [[], ['profile']],
    [{}, requiredMembers.map((name) => `profile.${name}`)],
  ])('refuses %j', (value, paths) => {
    expect(profileProblems(value).map(({ path }) => path)).toEqual(paths);
  });
});
