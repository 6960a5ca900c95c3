import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedModules, installOnce } from '../e2e/install-once.ts';

/** The name of this machine in packages with programs. */
const machine = `${process.platform}-${process.arch}`;

/** Programs from npm that the suite runs. */
const packages = {
  bun: `npm:@oven/bun-${machine}@^1.4.5`,
  'conformance-0.1': 'npm:@modelcontextprotocol/conformance@0.1.16',
  'conformance-0.2': 'npm:@modelcontextprotocol/conformance@0.2.0-alpha.12',
  deno: `npm:@deno/${machine}${process.platform === 'linux' ? '-glibc' : ''}@^2.9.6`,
  node20: nodePackage(20),
  node22: nodePackage(22),
  node24: nodePackage(24),
  pnpm: '^12.21.0',
  'yarn-classic': 'npm:yarn@^1.22.22',
  'yarn-berry': 'npm:@yarnpkg/cli-dist@^4.18.1',
};

/** npm has Node as one package per platform; the range selects the newest release. */
function nodePackage(major: number): string {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `npm:node-${platform}-${process.arch}@${major}`;
}

const cacheName = 'reliability';

/** Installs what is not installed yet. */
export async function installToolchain(): Promise<void> {
  await installOnce(cacheName, JSON.stringify({ private: true, dependencies: packages }));
}

/** A file of an installed package. */
export function toolFile(name: keyof typeof packages, path: string): string {
  return join(installedModules(cacheName), name, path);
}

/** The version that was installed of a package. */
export function toolVersion(name: keyof typeof packages): string {
  return JSON.parse(readFileSync(toolFile(name, 'package.json'), 'utf8')).version;
}

/** The directory of a Node of this major version, for PATH. */
export function nodeDirectory(major: 20 | 22 | 24): string {
  return toolFile(`node${major}`, 'bin');
}

/** Creates a directory for PATH in which a command runs a script or a program of an installed package. */
export function commandDirectory(at: string, command: string, script: string): string {
  mkdirSync(at, { recursive: true });
  const file = join(at, command);
  const program = /\.m?js$/.test(script) ? `node "${script}"` : `"${script}"`;
  writeFileSync(file, `#!/bin/sh\nexec ${program} "$@"\n`);
  chmodSync(file, 0o755);
  return at;
}
