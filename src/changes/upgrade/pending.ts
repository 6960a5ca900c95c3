import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSet, ProjectFile } from '../../plan/model.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { ProjectError } from '../../project/errors.ts';
import { isEntry } from '../../project/files.ts';
import { manifestFile } from '../../project/manifest.ts';
import { readRegular } from '../../project/read.ts';
import type { Change } from '../../project/transaction.ts';

/** Ignored by git and Docker: the `.gitignore` and `.dockerignore` of every project list `.local`. */
const root = '.local/upgrade';
const pendingRoot = `${root}/pending`;
const stateFile = `${pendingRoot}/state.json`;
const backupRoot = `${pendingRoot}/before`;

/** An upgrade that has written its files and is not finished. Its author can continue or undo it. */
export interface Pending {
  readonly from: string;
  readonly to: string;
  /** Path → whether the file existed before. Includes files that the package manager writes. */
  readonly files: { readonly [path: string]: boolean };
  /** Files with conflict markers. */
  readonly conflicts: readonly string[];
}

/** The directory for the author to read: the report, and patches of edits that were overruled. */
export function reportDirectory(from: string, to: string): string {
  return `${root}/${from}-to-${to}`;
}

/** Whether a path belongs to the records of an upgrade. */
export function isRecord(path: string): boolean {
  return path.startsWith(`${root}/`);
}

/** The unfinished upgrade of a project. @throws ProjectError `UPGRADE_DAMAGED` if its record cannot be read. */
export function readPending(directory: string): Pending | undefined {
  const path = join(directory, stateFile);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readRegular(path).toString('utf8'));
  } catch (error) {
    const hint = `Restore the project from version control, and remove ${pendingRoot}.`;
    throw new ProjectError('UPGRADE_DAMAGED', `${path}: ${(error as Error).message}`, hint, { cause: error });
  }
}

/** The records that undo an upgrade: copies of all files that it changes, and its description. */
export function pendingFiles(
  directory: string,
  changed: readonly string[],
  pending: Omit<Pending, 'files'>,
): FileSet {
  const locks = Object.values(packageManagerCommands).map(({ lockFile }) => lockFile);
  const paths = [...new Set([...changed, ...locks])].map(
    (path) => [path, isEntry(join(directory, path))] as const,
  );
  const copies = paths
    .filter(([, isThere]) => isThere)
    .map(([path]) => [`${backupRoot}/${path}`, record(readRegular(join(directory, path)))] as const);
  const state: Pending = { ...pending, files: Object.fromEntries(paths) };
  return new Map([...copies, [stateFile, record(Buffer.from(`${JSON.stringify(state, null, 2)}\n`))]]);
}

/** A file of the records. */
export function record(content: Uint8Array): ProjectFile {
  return { content, owner: 'generated' };
}

/** The change that restores every file to its state before the upgrade. */
export function restoringChange(directory: string, { from, to, files }: Pending): Change {
  const entries = Object.entries(files);
  const before = entries
    .filter(([path, wasThere]) => wasThere && path !== manifestFile)
    .map(([path]) => path);
  const added = entries.filter(([path, wasThere]) => !wasThere && isEntry(join(directory, path)));
  const records = [pendingRoot, reportDirectory(from, to)].flatMap((place) => filesBelow(directory, place));
  return {
    files: new Map([...before, manifestFile].map((path) => [path, record(backup(directory, path))])),
    removed: [...added.map(([path]) => path), ...records],
  };
}

/** Deletes the records that undo the upgrade: it is finished. */
export function discardRecords(directory: string): void {
  rmSync(join(directory, stateFile));
  rmSync(join(directory, pendingRoot), { recursive: true });
}

function backup(directory: string, path: string): Buffer {
  return readRegular(join(directory, backupRoot, path));
}

function filesBelow(directory: string, place: string): readonly string[] {
  if (!existsSync(join(directory, place))) return [];
  return readdirSync(join(directory, place), { withFileTypes: true }).flatMap((entry) => {
    const path = `${place}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(directory, path) : [path];
  });
}
