import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { nameList } from 'market-mcp-contract/command';
import { readManifest } from '../project/manifest/manifest.ts';
import { parentsOf } from '../project/read/read-files.ts';
import { isInOtherRepository } from '../project/read/resolve-inside.ts';
import { gitCommand } from '../system/command-line.ts';
import { packageManagerOf } from '../system/detect.ts';

/**
 * What breaks a clone of a project: files that it needs and that git ignores, such as the packages in `vendor` if `.gitignore`
 * contains `*.tgz`. One sentence for each rule of git, with the command that helps.
 */
export async function cloneProblems(directory: string): Promise<readonly string[]> {
  if (!isInRepository(realpathSync(directory))) return [];
  const { ignoredFiles } = await import('../system/git.ts');
  const { files } = readManifest(directory);
  const { lockFile, frozenInstall } = packageManagerOf(directory);
  const ours = Object.keys(files).filter((path) => files[path]?.owner !== 'yours');
  const needed = [...ours, lockFile].filter(
    (path) => existsSync(join(directory, path)) && !isInOtherRepository(directory, path),
  );
  const byRule = new Map<string, string[]>();
  for (const { path, rule } of await ignoredFiles(directory, needed))
    byRule.set(rule, [...(byRule.get(rule) ?? []), path]);
  return [...byRule].map(
    ([rule, paths]) =>
      `git ignores ${nameList(paths)} (${rule}), so no clone contains them and ${frozenInstall} or the build fails there. Remove that rule, or run: ${gitCommand(directory, ['add', '--force'], paths)}`,
  );
}

/** Whether a directory is in a repository. Git itself would take a quarter of the time of a creation to answer no. */
export function isInRepository(directory: string): boolean {
  return parentsOf(directory).some((place) => existsSync(join(place, '.git')));
}
