import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { TestProject } from 'vitest/node';
import { redisDependencies, sourceDependencies } from '../../src/plan/package-versions.ts';
import { installOnce } from './install-once.ts';

/** Installs a generated project's dependencies once; every generated project of this suite uses them. */
export default async function setup(project: TestProject): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'market-mcp-shared-'));
  try {
    const bin = join(import.meta.dirname, '../../bin/create-market-mcp.js');
    const quick = ['--yes', '--no-install', '--no-git', '--no-check'];
    await execa(process.execPath, [bin, 'shared', ...quick], { cwd: root });
    const made = join(root, 'shared');
    const own = JSON.parse(readFileSync(join(made, 'package.json'), 'utf8'));
    // Including those of the source kit and of src/redis.ts.
    const dependencies = { ...own.dependencies, ...sourceDependencies, ...redisDependencies };
    const manifest = JSON.stringify({ ...own, dependencies });
    project.provide(
      'sharedModules',
      await installOnce('generated-project', manifest, [join(made, 'vendor')]),
    );
  } finally {
    rmSync(root, { recursive: true });
  }
}
