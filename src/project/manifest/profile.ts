import type { Problem } from '../../contract/model.ts';
import { platforms } from '../../contract/platforms/index.ts';
import type { PlatformProfile } from '../../contract/platforms/profile.ts';
import { profileProblems } from '../../contract/platforms/profile-schema.ts';
import { type ServerPlatform, serverPlatform } from '../../plan/project.ts';
import { ProjectError } from '../errors.ts';
import { type Manifest, manifestFile } from './manifest.ts';

/**
 * The profile that a manifest names or contains.
 *
 * @throws ProjectError `PROFILE_DAMAGED`
 */
export function presentProfile({ answers: { profile } }: Manifest): PlatformProfile {
  const found = typeof profile === 'string' ? platforms.find(({ name }) => name === profile) : profile;
  // Those of this program are tested.
  const [problem] = found && typeof profile !== 'string' ? profileProblems(found) : [];
  if (found && !problem) return found;
  const what = problem
    ? `${problem.path}: expected ${problem.expected}, found ${problem.actual}`
    : `it names the unknown profile ${profile}`;
  throw new ProjectError('PROFILE_DAMAGED', `${manifestFile}: ${what}`, 'See docs/platform-profiles.md.');
}

/** What a server reads otherwise than its project's profile says: by paths such as `token.issuer`. */
export function profileDifferences(served: ServerPlatform, profile: PlatformProfile): readonly Problem[] {
  const text = (value: unknown) => JSON.stringify(value) ?? 'nothing';
  const read = served as { readonly [group: string]: { readonly [name: string]: unknown } | undefined };
  return Object.entries(serverPlatform(profile)).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, value]): readonly Problem[] => {
      const [expected, actual] = [text(value), text(read[group]?.[name])];
      return expected === actual ? [] : [{ path: `src/platform.ts ${group}.${name}`, expected, actual }];
    }),
  );
}
