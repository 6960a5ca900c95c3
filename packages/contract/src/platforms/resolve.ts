import { inputError, orList, pass, refuse, spellingHint } from '../command/input-error.ts';
import type { Result } from '../command/input-result.ts';
import { readInput } from '../command/read-input.ts';
import { platforms } from './all.ts';
import type { PlatformProfile } from './profile.ts';

/** The profile that `--platform` names: a built-in one, or a JSON or YAML file. */
export async function resolvePlatform(name: string): Promise<Result<PlatformProfile>> {
  const shipped = platforms.find((platform) => platform.name === name);
  if (shipped) return pass(shipped);
  if (!/[./\\]/.test(name)) return refuse(unknownPlatform(name));
  const { readDocument } = await import('../document/document.ts');
  const document = readDocument(await readInput(name), name);
  if (!document.ok) return document;
  const { profileProblems } = await import('./profile-schema.ts');
  const { isRule } = await import('../catalogue.ts');
  const problems = profileProblems(document.value, isRule);
  if (problems.length === 0) return pass(document.value as unknown as PlatformProfile);
  return refuse(
    ...problems.map(({ path, expected, actual }) => ({
      where: `${name} ${path ?? 'profile'}`,
      value: actual,
      message: `expected ${expected}`,
      hint: 'See docs/platform-profiles.md.',
    })),
  );
}

function unknownPlatform(name: string) {
  const names = platforms.map((platform) => platform.name);
  const hint = spellingHint(name, names, `Write ${orList([...names, 'the path of a file'])}.`);
  return inputError('--platform', name, 'is neither a built-in profile nor a path', hint);
}
