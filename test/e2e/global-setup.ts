import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { TestProject } from 'vitest/node';

/** Installs a generated project's dependencies once; every generated project of this suite borrows them. */
export default async function setup(project: TestProject) {
  const root = mkdtempSync(join(tmpdir(), 'market-mcp-shared-'));
  const bin = join(import.meta.dirname, '../../bin/create-market-mcp.js');
  await execa(process.execPath, [bin, 'shared', '--yes', '--no-install', '--no-git', '--no-check'], {
    cwd: root,
  });
  await execa('npm', ['install', '--no-fund', '--no-audit'], { cwd: join(root, 'shared') });
  project.provide('sharedModules', join(root, 'shared/node_modules'));
  return () => rmSync(root, { recursive: true, force: true });
}
