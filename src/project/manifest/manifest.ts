import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CommandError, shellLine } from 'market-mcp-contract/command';
import { lazyValidator, mismatchesIn } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import type { ApiVariable } from '../../import/imported-tool.ts';
import { version } from '../../plan/package-versions.ts';
import type { Start } from '../../plan/plan-project.ts';
import type { FileSet, Ownership, ProjectFile } from '../../plan/planned-file.ts';
import type { PackageManager } from '../../questions/package-managers.ts';
import type { DeployTarget } from '../../questions/targets.ts';
import { ownCommand } from '../package/own-package.ts';
import { parsedJson, sha256 } from '../read/file-text.ts';
import { parentsOf } from '../read/read-files.ts';
import { isInside, readIn } from '../read/resolve-inside.ts';
import { type Fingerprints, listInFile, listOfFingerprints, type RecordedList } from './listed.ts';
import { manifestSchema } from './manifest-schema.ts';

/** Name of the manifest. A directory that contains it is a project. */
export const manifestFile = 'market-mcp.json';

/** The contents of `market-mcp.json`: enough to render the project again and to detect changed files. */
export interface Manifest {
  /** Version of this format. */
  readonly schema: 3;
  /** Version of the program, and thereby of the templates, that wrote the files. */
  readonly template: string;
  readonly platform: string;
  readonly answers: ManifestAnswers;
  /** Fingerprints of the recorded tool list, in projects of 0.4.0 and before: the next write of `listing.json` removes them. */
  readonly listed?: Fingerprints | null;
  readonly files: { readonly [path: string]: ManifestFile };
}

/** The answers behind the project. None is a secret. */
export interface ManifestAnswers {
  readonly name: string;
  readonly packageManager: PackageManager;
  /** See `CommonFileAnswers`. */
  readonly packageManagerVersion?: string;
  /** The name of a built-in profile, or the profile itself. */
  readonly profile: string | PlatformProfile;
  readonly tools: readonly string[];
  /** Absent: `blank`. */
  readonly start?: Exclude<Start, 'blank'>;
  /** See `CommonFileAnswers`; absent: none. */
  readonly variables?: readonly ApiVariable[];
  /** The chosen fields of the answers, by tool; a tool that is absent has all. */
  readonly fields?: { readonly [tool: string]: readonly string[] };
  /** Where it can be deployed, besides the standard targets; absent: nowhere else. */
  readonly targets?: readonly DeployTarget[];
}

export interface ManifestFile {
  /** SHA-256 of the content as written, in hex. */
  readonly sha256: string;
  readonly owner: Ownership;
}

/** The file set with its manifest as the last file. */
export function withManifest(
  files: FileSet,
  { platform, answers }: Pick<Manifest, 'platform' | 'answers'>,
): FileSet {
  const manifest: Manifest = {
    schema: 3,
    template: version,
    platform,
    answers,
    files: sortByPath(Object.entries(recordOf(files))),
  };
  return new Map([...files, [manifestFile, manifestContent(manifest)]]);
}

/**
 * The files of a change to a project, with its next manifest as the last one. Other entries of the manifest are kept.
 *
 * @param records replaces the records of files that their author has edited, so that they are still known as edited;
 *   undefined: the file is not recorded
 */
export function withNextManifest(
  files: FileSet,
  removed: readonly string[],
  answers: Partial<Pick<ManifestAnswers, 'tools' | 'variables' | 'fields' | 'targets'>>,
  before: Manifest,
  records: { readonly [path: string]: ManifestFile | undefined } = {},
): FileSet {
  const keptFiles = Object.entries(before.files).filter(([path]) => !removed.includes(path));
  const allFiles = Object.entries({
    ...Object.fromEntries(keptFiles),
    ...recordOf(files),
    ...records,
  }).flatMap(([path, record]) => (record ? [[path, record] as const] : []));
  const next: Manifest = {
    ...before,
    answers: withFieldsOf({ ...before.answers, ...answers }),
    files: sortByPath(allFiles),
  };
  return new Map([...files, [manifestFile, manifestContent(next)]]);
}

/** The answers with only the chosen fields of their tools. */
function withFieldsOf({ fields = {}, ...answers }: ManifestAnswers): ManifestAnswers {
  const ownFields = Object.entries(fields).filter(([tool]) => answers.tools.includes(tool));
  if (ownFields.length === 0) return answers;
  return { ...answers, fields: Object.fromEntries(ownFields) };
}

/** The manifest as a file. */
export function manifestContent(manifest: Manifest): ProjectFile {
  const content = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
  return { content, owner: 'generated' };
}

/** The manifest without the fingerprints of projects of 0.4.0 and before. */
export function withoutFingerprints({ listed: _, ...manifest }: Manifest): Manifest {
  return manifest;
}

/**
 * The tool list that the marketplace last read, as the project has recorded it: `listing.json`, else the fingerprints in the
 * manifest of an older project; null if there is neither.
 *
 * @throws CommandError `INVALID_INPUT` if `listing.json` contains no tool list
 */
export function recordedList(directory: string, { listed }: Manifest): RecordedList | null {
  return listInFile(directory) ?? listOfFingerprints(manifestFile, listed);
}

/** Sorted by path, so that the same files give the same text. */
function sortByPath(entries: readonly (readonly [string, ManifestFile])[]): Manifest['files'] {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function recordOf(files: FileSet): Manifest['files'] {
  const entries = [...files].map(([path, { content, owner }]) => [path, { sha256: sha256(content), owner }]);
  return Object.fromEntries(entries);
}

/**
 * The project directory that contains `from`.
 *
 * @throws CommandError `NOT_A_PROJECT` if no parent directory contains a manifest.
 */
export function findProject(from: string): string {
  const start = resolve(from);
  const upwards = parentsOf(start);
  const found = upwards.find((directory) => existsSync(join(directory, manifestFile)));
  if (found !== undefined) return found;
  const parentPackage = upwards.find((directory) => existsSync(join(directory, 'package.json')));
  const make = `Change into the directory of a project, or create one: ${shellLine(ownCommand('create-market-mcp'))}`;
  if (!existsSync(start)) throw new CommandError('NOT_A_PROJECT', `${start} does not exist`, make);
  const missing = `there is no ${manifestFile} in ${start} or any directory above it`;
  if (parentPackage === undefined) throw new CommandError('NOT_A_PROJECT', missing, make);
  const message = `${missing}, so the project in ${parentPackage} was not created by this program`;
  const hint = `${make}. To check any other server: ${shellLine([...ownCommand('market-mcp'), 'check'])} <url>`;
  throw new CommandError('NOT_A_PROJECT', message, hint);
}

/** The project directory that contains `from`; undefined if no directory above it has a manifest. */
export function projectAbove(from: string): string | undefined {
  try {
    return findProject(from);
  } catch (error) {
    if (error instanceof CommandError && error.code === 'NOT_A_PROJECT') return undefined;
    throw error;
  }
}

const validator = lazyValidator(manifestSchema);

/** The manifest of a project. @throws CommandError `MANIFEST_DAMAGED` if its format is invalid */
export function readManifest(directory: string): Manifest {
  const value = readManifestJson(directory);
  const validate = validator();
  const [problem] = validate(value) ? [] : mismatchesIn(validate, value, manifestFile);
  if (problem)
    throw damagedManifest(`${problem.path}: expected ${problem.expected}, found ${problem.actual}`);
  const manifest = value as Manifest;
  const outsidePath = Object.keys(manifest.files).find((path) => !isInside(path));
  if (outsidePath === undefined) return manifest;
  throw damagedManifest(
    `${manifestFile}.files: expected paths in the project, found ${JSON.stringify(outsidePath)}`,
  );
}

function readManifestJson(directory: string): unknown {
  try {
    return parsedJson(readIn(directory, manifestFile));
  } catch (error) {
    throw damagedManifest(`${join(directory, manifestFile)}: ${(error as Error).message}`, error);
  }
}

function damagedManifest(reason: string, cause?: unknown): CommandError {
  return new CommandError('MANIFEST_DAMAGED', reason, 'Restore it from version control.', { cause });
}
