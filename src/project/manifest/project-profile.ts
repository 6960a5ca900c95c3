import { CommandError } from 'market-mcp-contract/command';
import type { Problem } from 'market-mcp-contract/definition';
import { type PlatformProfile, platforms, profileProblems } from 'market-mcp-contract/platforms';
import { type ServerPlatform, serverPlatform } from '../../plan/plan-project.ts';
import { type Manifest, manifestFile } from './manifest.ts';

/**
 * The profile that a manifest names or contains.
 *
 * @param isRule whether a rule has an id of `rules.overrides`; by default, every id is accepted
 * @throws CommandError `PROFILE_DAMAGED`
 */
export function presentProfile(
  { answers: { profile } }: Manifest,
  isRule?: (id: string) => boolean,
): PlatformProfile {
  const found = typeof profile === 'string' ? platforms.find(({ name }) => name === profile) : profile;
  // The built-in profiles are tested.
  const [problem] = found && typeof profile !== 'string' ? profileProblems(found, isRule) : [];
  if (found && !problem) return found;
  const difference = problem
    ? `${problem.path}: expected ${problem.expected}, found ${problem.actual}`
    : `it names the unknown profile ${profile}`;
  throw new CommandError(
    'PROFILE_DAMAGED',
    `${manifestFile}: ${difference}`,
    'See docs/platform-profiles.md.',
  );
}

/** The differences between the platform that a server was built for and its project's profile, by paths such as `token.issuer`. */
export function profileDifferences(
  servedPlatform: ServerPlatform,
  profile: PlatformProfile,
): readonly Problem[] {
  const text = (value: unknown) => JSON.stringify(value) ?? 'nothing';
  const read = servedPlatform as {
    readonly [group: string]: { readonly [name: string]: unknown } | undefined;
  };
  return Object.entries(serverPlatform(profile)).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, value]): readonly Problem[] => {
      const [expected, actual] = [text(value), text(read[group]?.[name])];
      if (expected === actual) return [];
      return [{ path: `src/platform.ts ${group}.${name}`, expected, actual }];
    }),
  );
}
