import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../e2e/support.ts';

/** The last commit of each earlier version. */
const commits = { '0.3.0': 'fd906b0', '0.4.0': '0fd011fd' } as const;

export type OldVersion = keyof typeof commits;
export const oldVersions = Object.keys(commits) as OldVersion[];

/**
 * The program of an earlier version, built from the history of this repository. It is kept after the run.
 *
 * @throws Error if the history lacks the commit, as in a shallow clone.
 */
export function oldProgram(version: OldVersion): { readonly create: string; readonly market: string } {
  const cache = join(repository, `node_modules/.cache/program-${version}`);
  if (!existsSync(cache)) buildAt(cache, version);
  return { create: join(cache, 'bin/create-market-mcp.js'), market: join(cache, 'bin/market-mcp.js') };
}

function buildAt(place: string, version: OldVersion): void {
  const commit = commits[version];
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: repository, stdio: 'pipe' });
  } catch (error) {
    throw new Error(
      `The history of this clone has no commit ${commit}, from which the projects of version ${version} are made. Fetch all of it: git fetch --unshallow`,
      { cause: error },
    );
  }
  // Outside of any node_modules: the build of that version finds the licences of bundled packages by that name.
  const checkout = mkdtempSync(join(tmpdir(), `program-${version}-`));
  try {
    const tar = execFileSync('git', ['archive', commit], { cwd: repository, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['x', '-C', checkout], { input: tar });
    const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    execFileSync('npm', ['ci', ...flags], { cwd: checkout, stdio: 'pipe' });
    execFileSync(process.execPath, ['build.js'], { cwd: checkout, stdio: 'pipe' });
    const unfinished = `${place}.${process.pid}`;
    for (const part of ['bin', 'dist', 'package.json']) {
      cpSync(join(checkout, part), join(unfinished, part), { recursive: true });
    }
    try {
      renameSync(unfinished, place);
    } catch (error) {
      // Another test file has built it at the same time.
      if (!existsSync(place)) throw error;
      rmSync(unfinished, { recursive: true });
    }
  } finally {
    rmSync(checkout, { recursive: true });
  }
}
