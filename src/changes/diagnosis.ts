import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, orCommandError } from 'market-mcp-contract/command';
import { attempt } from 'market-mcp-contract/json';
import { compareVersions, securityFixes } from 'market-mcp-contract/report';
import { runtimePackage, version } from '../plan/package-versions.ts';
import type { Ownership } from '../plan/planned-file.ts';
import { type Manifest, readManifest } from '../project/manifest/manifest.ts';
import { editedFiles, runtimeVersion } from '../project/read/edited-files.ts';
import { parsedJson } from '../project/read/file-text.ts';
import { packageDirectory } from '../project/read/installed.ts';
import { listingProblems } from '../project/read/open.ts';
import { readIn } from '../project/read/resolve-inside.ts';
import { thisProgram } from '../system/command-line.ts';
import { packageManagerOf } from '../system/detect.ts';
import { installedVersion } from '../system/package-manager.ts';
import { cloneProblems } from './clone-problems.ts';
import { planUpgrade } from './upgrade/plan-upgrade.ts';
import { upgradeReport } from './upgrade/report.ts';

/** What is known of a project. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Examines a project without changing it. @throws CommandError `MANIFEST_DAMAGED`. */
export async function diagnose(directory: string) {
  const manifest = readManifest(directory);
  const edited = editedFiles(directory, manifest);
  const owned = (owner: Ownership) => {
    const paths = Object.keys(manifest.files).filter((path) => manifest.files[path]?.owner === owner);
    return { files: paths.length, edited: paths.filter((path) => edited.includes(path)) };
  };
  return {
    directory,
    versions: { program: version, runtime: runtimeVersion(directory, manifest) },
    node: { version: process.versions.node, required: requiredNode(directory) },
    packageManager: await installedManager(directory),
    environment: { nodeEnv: process.env.NODE_ENV ?? null, dotEnv: environmentNames(directory) },
    tools: await toolProblems(directory, manifest),
    owners: { yours: owned('yours'), generated: owned('generated') },
    upgrade: await upgradeOf(directory, manifest),
    clone: await cloneProblems(directory),
  };
}

/** The Node version that package.json requires: `>=20.12`. */
function requiredNode(directory: string): string | null {
  const node = attempt(() => parsedJson(readIn(directory, 'package.json')).engines.node, null);
  if (typeof node === 'string') return node;
  return null;
}

/** Its version is null if it is not installed. */
async function installedManager(directory: string) {
  const { name, lockFile } = packageManagerOf(directory);
  return {
    name,
    version: await installedVersion(name),
    lockFile: existsSync(join(directory, lockFile)) ? lockFile : null,
    packagesInstalled: packageDirectory(runtimePackage, directory) !== undefined,
  };
}

/** The names of the variables in `.env`, never values; null if there is no such file, or a link. */
function environmentNames(directory: string): readonly string[] | null {
  const text = attempt(() => readIn(directory, '.env').toString('utf8'), null);
  const names = text?.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/gm);
  if (names) return [...names].map(([, name = '']) => name);
  return null;
}

/** The reason why the list of tools cannot be read counts as one. */
async function toolProblems(directory: string, manifest: Manifest): Promise<readonly string[]> {
  const found = await orCommandError(() => listingProblems(directory, manifest));
  if (found instanceof CommandError) return [`${found.message}. ${found.hint}`];
  return found;
}

/** The changes of an upgrade; `refused` is the reason if none can be planned. */
async function upgradeOf(directory: string, { template }: Manifest) {
  const open: readonly string[] = [];
  const none = { from: template, to: version, files: '', open, refused: null };
  const planned = await orCommandError(() => planUpgrade(directory));
  if (planned instanceof CommandError) return { ...none, refused: `${planned.message}. ${planned.hint}` };
  const { counts, open: places } = upgradeReport(planned);
  return { ...none, files: counts, open: places };
}

/** What should be fixed. */
export function diagnosisProblems(found: Diagnosis): readonly string[] {
  const { versions, node, packageManager, tools, upgrade } = found;
  const isOutdated = compareVersions(versions.runtime, versions.program) < 0;
  const isPossible = upgrade.refused === null;
  const missing = securityFixes.filter((fix) => compareVersions(fix.version, versions.runtime) > 0);
  const [, least] = /^>=\s*(\d+(?:\.\d+)*)$/.exec(node.required ?? '') ?? [];
  return [
    ...(least !== undefined && compareVersions(node.version, least) < 0
      ? [`Node ${node.version} is older than package.json requires: ${node.required}`]
      : []),
    ...(packageManager.version === null ? [`${packageManager.name} is not installed`] : []),
    ...(packageManager.packagesInstalled ? [] : ['the packages are not installed']),
    ...tools,
    ...(isOutdated
      ? [`the runtime is of version ${versions.runtime}${isPossible ? `: ${thisProgram('upgrade')}` : ''}`]
      : []),
    ...missing.map(({ version: fixed, what: advisory }) => `security: version ${fixed} ${advisory}`),
    ...found.clone,
    ...(upgrade.refused === null ? [] : [`no upgrade is possible: ${upgrade.refused}`]),
  ];
}
