import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { TestProject } from 'vitest/node';
import { installOnce } from './install-once.ts';

/** Installs a generated project's dependencies once; every generated project of this suite borrows them. */
export default async function setup(project: TestProject): Promise<void> {
  const modules = await installOnce('generated-project', await generatedManifest());
  project.provide('sharedModules', modules);
}

async function generatedManifest(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'market-mcp-shared-'));
  try {
    const bin = join(import.meta.dirname, '../../bin/create-market-mcp.js');
    const quick = ['--yes', '--no-install', '--no-git', '--no-check'];
    await execa(process.execPath, [bin, 'shared', ...quick], { cwd: root });
    return readFileSync(join(root, 'shared/package.json'), 'utf8');
  } finally {
    rmSync(root, { recursive: true });
  }
}
