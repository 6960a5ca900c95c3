import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The node_modules directory with the third-party servers. */
    realServers: string;
  }
}

/** Installs the servers that `package.json` pins into a temporary directory, without running their install scripts. */
export default async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'market-mcp-real-'));
  cpSync(join(import.meta.dirname, 'package.json'), join(directory, 'package.json'));
  mkdirSync(join(directory, 'home'));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  await execa('npm', ['install', ...flags], { cwd: directory, timeout: 600_000 });
  project.provide('realServers', join(directory, 'node_modules'));
  return () => rmSync(directory, { recursive: true, force: true });
}
