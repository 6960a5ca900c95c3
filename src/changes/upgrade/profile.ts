import { platforms } from '../../contract/platforms/index.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { profileProblems } from '../../contract/profile-schema.ts';
import { ProjectError } from '../../project/errors.ts';
import { type Manifest, manifestFile } from '../../project/manifest.ts';

/**
 * The profile that a manifest names or contains, in the format of this version.
 *
 * @throws ProjectError `PROFILE_DAMAGED`
 */
export function presentProfile({ answers: { profile } }: Manifest): PlatformProfile {
  const found =
    typeof profile === 'string' ? platforms.find(({ name }) => name === profile) : upgraded(profile);
  const [problem] = found ? profileProblems(found) : [];
  if (found && !problem) return found;
  const what = problem
    ? `${problem.path}: expected ${problem.expected}, found ${problem.actual}`
    : `it names the unknown profile ${profile}`;
  throw new ProjectError('PROFILE_DAMAGED', `${manifestFile}: ${what}`, 'See docs/platform-profiles.md.');
}

/** Version 0.1 had no fallback key, and named the format of an input that takes injected data `object-input`. */
function upgraded(profile: PlatformProfile): PlatformProfile {
  const toolMeta = JSON.parse(
    JSON.stringify(profile.toolMeta ?? null).replaceAll(
      '"format":"object-input"',
      '"format":"context-input"',
    ),
  );
  return { ...profile, token: { ...{ fallbackKey: null }, ...profile.token }, toolMeta };
}
