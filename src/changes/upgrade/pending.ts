import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nameList, shellLine } from 'market-mcp-contract/command';
import type { FileSet, ProjectFile } from '../../plan/model.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { version } from '../../plan/versions.ts';
import { ProjectError } from '../../project/errors.ts';
import { isSealed, sealOf } from '../../project/manifest/machine-seal.ts';
import { manifestFile } from '../../project/manifest/manifest.ts';
import { ownScript } from '../../project/package/own-package.ts';
import { sha256 } from '../../project/read/hash.ts';
import { placeIn, readIfThere, readIn } from '../../project/read/inside.ts';
import { isEntry, modeOf } from '../../project/read/read.ts';
import { textOf } from '../../project/read/text.ts';
import { outputsOf } from '../../project/write/change.ts';
import type { Change } from '../../project/write/transaction.ts';
import { thisProgram } from '../../system/command-line.ts';
import { uncommitted } from '../../system/git.ts';
import { hasMarkers } from './merge-lines.ts';

/** Ignored by git and Docker: the `.gitignore` and `.dockerignore` of every project list `.local`. */
const root = '.local/upgrade';
const pendingRoot = `${root}/pending`;
/** Version 0.2.0 had `state.json`: it would continue an upgrade of this version, and be replaced while it runs. */
const [stateFile, formerStateFile] = [`${pendingRoot}/upgrade.json`, `${pendingRoot}/state.json`];
const backupRoot = `${pendingRoot}/before`;

/** An upgrade that has written its files and is not finished. Its author can continue or undo it. */
export interface Pending {
  readonly from: string;
  readonly to: string;
  /** Absolute path of the program that began it, for `pendingCommand`. */
  readonly program: string;
  /** Path → the file before, null if there was none. Includes what the package manager and the compiler write. */
  readonly files: { readonly [path: string]: FileBefore | null };
  /** Files with conflict markers. */
  readonly conflicts: readonly string[];
}

interface FileBefore {
  readonly sha256: string;
  /** Permissions. */
  readonly mode: number;
}

/** The directory for the author to read: the report, and patches of edits that were overruled. */
export function reportDirectory(from: string, to: string): string {
  return `${root}/${from}-to-${to}`;
}

/** Whether a path belongs to the records of an upgrade. */
export function isRecord(path: string): boolean {
  return path.startsWith(`${root}/`);
}

/**
 * The unfinished upgrade of a project.
 *
 * @throws ProjectError `UPGRADE_NOT_OURS` if its record has no seal of this machine, and the errors of `placeIn`
 */
export function readPending(directory: string): Pending | undefined {
  const path = [stateFile, formerStateFile].find((file) => isEntry(placeIn(directory, file)));
  if (path === undefined) return undefined;
  const content = readIn(directory, path);
  try {
    const { seal, ...pending } = JSON.parse(content.toString('utf8'));
    if (path === stateFile && isSealed(directory, JSON.stringify(pending), seal)) return pending;
  } catch {
    // It has no seal either.
  }
  const message = `${join(directory, path)} describes an unfinished upgrade, but was not written on this machine or was changed`;
  const hint = `Nothing of it is used. Restore the project from version control, and delete ${pendingRoot}.`;
  throw new ProjectError('UPGRADE_NOT_OURS', message, hint);
}

/**
 * The command that finishes or undoes an upgrade, by the path of the program that began it: npm may replace the installed one
 * while it runs.
 */
export function pendingCommand(flag: '--continue' | '--abort', program = ownScript('market-mcp')): string {
  const line = shellLine(['node', program, 'upgrade', flag]);
  return existsSync(program) ? line : `${line} (the program is no longer there: restore it first)`;
}

/** The records that undo an upgrade: copies of all files that it changes, and its description. */
export function pendingFiles(
  directory: string,
  changed: readonly string[],
  upgrade: Omit<Pending, 'files' | 'program'>,
): FileSet {
  const locks = Object.values(packageManagerCommands).map(({ lockFile }) => lockFile);
  const before = [...new Set([...changed, ...changed.flatMap(outputsOf), ...locks])].map((path) => {
    const content = readIfThere(directory, path);
    return [
      path,
      content && { ...record(content), mode: modeOf(lstatSync(placeIn(directory, path))) },
    ] as const;
  });
  const copies = before.flatMap(([path, file]) => (file ? [[`${backupRoot}/${path}`, file] as const] : []));
  const files = before.map(([path, file]): [string, FileBefore | null] => [
    path,
    file ? { sha256: sha256(file.content), mode: file.mode } : null,
  ]);
  const program = ownScript('market-mcp');
  const pending: Pending = { ...upgrade, program, files: Object.fromEntries(files) };
  const seal = sealOf(directory, JSON.stringify(pending));
  const state = Buffer.from(`${JSON.stringify({ ...pending, seal }, null, 2)}\n`);
  return new Map([...copies, [stateFile, record(state)]]);
}

/** A file of the records. */
export function record(content: Uint8Array): ProjectFile {
  return { content, owner: 'generated' };
}

/** The conflicts that are not resolved yet. */
export function openConflicts(
  directory: string,
  { conflicts }: Pending,
): readonly { readonly path: string; readonly text: string }[] {
  return conflicts.flatMap((path) => {
    const text = textOf(readIfThere(directory, path) ?? Buffer.alloc(0));
    if (hasMarkers(text)) return [{ path, text: 'it still contains conflict markers' }];
    return path === 'package.json' ? jsonProblems(path, text) : [];
  });
}

function jsonProblems(path: string, text: string) {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return [];
  } catch (error) {
    return [{ path, text: (error as Error).message }];
  }
}

/**
 * The change that restores every file to its state before the upgrade.
 *
 * @throws ProjectError `UPGRADE_DAMAGED` if a copy is not the recorded one
 */
export function restoringChange(directory: string, { from, to, files }: Pending): Change {
  const paths = Object.keys(files).filter((path) => path !== manifestFile);
  const before = [...paths.filter((path) => files[path] !== null), manifestFile];
  const added = paths.filter((path) => files[path] === null && isEntry(placeIn(directory, path)));
  const records = [pendingRoot, reportDirectory(from, to)].flatMap((place) => filesBelow(directory, place));
  return {
    files: new Map(before.map((path) => [path, backup(directory, path, files[path])])),
    removed: [...added, ...records],
  };
}

/** Deletes the records that undo the upgrade: it is finished. */
export function discardRecords(directory: string): void {
  rmSync(placeIn(directory, stateFile));
  rmSync(join(directory, pendingRoot), { recursive: true });
}

function backup(directory: string, path: string, before: FileBefore | null | undefined): ProjectFile {
  const content = readIfThere(directory, `${backupRoot}/${path}`);
  if (content && sha256(content) === before?.sha256) return { ...record(content), mode: before.mode };
  const message = `${join(directory, backupRoot, path)} is not the copy that the upgrade made`;
  const hint = `Nothing was changed. Restore the project from version control, and delete ${pendingRoot}.`;
  throw new ProjectError('UPGRADE_DAMAGED', message, hint);
}

/** Does not follow links. */
function filesBelow(directory: string, place: string): readonly string[] {
  const stats = lstatSync(placeIn(directory, place), { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats ? [place] : [];
  return readdirSync(join(directory, place)).flatMap((name) => filesBelow(directory, `${place}/${name}`));
}

/** @throws ProjectError `NOT_COMMITTED`: the upgrade's changes would be mixed with the author's own. */
export async function requireCommitted(directory: string): Promise<void> {
  const paths = (await uncommitted(directory))?.filter((path) => !isRecord(path)) ?? [];
  if (paths.length === 0) return;
  throw new ProjectError(
    'NOT_COMMITTED',
    `there are uncommitted changes: ${nameList(paths)}`,
    'Nothing was changed. Commit or stash them first, or add --force to upgrade anyway.',
  );
}

/** @throws ProjectError `NO_UPGRADE`; `OTHER_VERSION` if another version of the program began the upgrade */
export function requirePending(directory: string, flag: '--continue' | '--abort'): Pending {
  const pending = readPending(directory);
  if (pending?.to === version) return pending;
  if (pending) {
    const message = `version ${pending.to} of the program began this upgrade, and this is version ${version}`;
    const hint = `Nothing was changed. Run: ${pendingCommand(flag, pending.program)}`;
    throw new ProjectError('OTHER_VERSION', message, hint);
  }
  throw new ProjectError(
    'NO_UPGRADE',
    `${directory}: there is no unfinished upgrade`,
    `To start one: ${thisProgram('upgrade')}`,
  );
}
