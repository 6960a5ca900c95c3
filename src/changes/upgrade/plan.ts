import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';
import { platforms } from 'market-mcp-contract/platforms';
import type { ProjectFile } from '../../plan/model.ts';
import { toolsIndex } from '../../plan/tools-index.ts';
import { version } from '../../plan/versions.ts';
import { ProjectError } from '../../project/errors.ts';
import { type Manifest, manifestContent, manifestFile, readJson } from '../../project/manifest/manifest.ts';
import { readAnyManifest } from '../../project/manifest/vendored-manifest.ts';
import { isAsWritten } from '../../project/read/files.ts';
import { sha256 } from '../../project/read/hash.ts';
import { isInOtherRepository, placeIn, readIfThere, refuseObstacles } from '../../project/read/inside.ts';
import { bytesOf, inStyle, textOf } from '../../project/read/text.ts';
import { importsIn, sameMeaning } from '../../project/read/tools-index.ts';
import { patchOf } from '../../project/write/patch.ts';
import { authorFiles, importedPackages } from './author-files.ts';
import { type CommonFiles, commonFilesOf } from './common-files.ts';
import { type Decision, decide, type Sides } from './decide.ts';
import type { Upgrade, UpgradedFile } from './model.ts';
import { pendingCommand, pendingFiles, readPending, record, reportDirectory } from './pending.ts';
import { reportPage } from './report.ts';
import { editTodo } from './vendored/exports.ts';
import { type MovedFiles, movedFiles } from './vendored/imports.ts';
import { editedProfile } from './vendored/profile.ts';

/**
 * Plans the upgrade of a project to this version. Writes nothing.
 *
 * @throws ProjectError `UPGRADE_PENDING`, `PLACE_TAKEN`, `PACKAGE_DAMAGED`, and the errors of `commonFilesOf` and `readAnyManifest`.
 */
export function planUpgrade(directory: string): Upgrade {
  const begun = readPending(directory);
  if (begun) {
    const command = (flag: '--continue' | '--abort') => pendingCommand(flag, begun.program);
    const hint = `To finish it: ${command('--continue')}. To undo it: ${command('--abort')}`;
    throw new ProjectError('UPGRADE_PENDING', `${directory}: an upgrade is not finished`, hint);
  }
  const manifest = readAnyManifest(directory);
  const index = contentAt(directory, toolsIndex);
  const tools = index === null ? recordedTools(manifest) : importsIn(textOf(index));
  const frames = commonFilesOf(manifest, tools, editedProfile(directory, manifest));
  const recorded = Object.entries(manifest.files).filter(([, { owner }]) => owner !== 'yours');
  const paths = [
    ...new Set([...frames.base.keys(), ...frames.theirs.keys(), ...recorded.map(([path]) => path)]),
  ].sort();
  refuseObstacles(directory, paths);

  const authors = authorFiles(directory, (path) => paths.includes(path));
  const usedPackages = new Set([...authors.values()].flatMap(importedPackages));
  const decided = paths.map((path) => {
    const sides = sidesOf(directory, path, frames, manifest);
    const decision = decideOn(directory, sides, usedPackages);
    const isWritten = !['same', 'kept', 'blocked'].includes(decision.kind);
    const isForbidden = isWritten && isInOtherRepository(directory, path);
    return { path, sides, decision: isForbidden ? leftAlone : decision };
  });
  requireRoom(decided);
  const moved = movedFiles(directory, authors, frames);
  const next = nextManifest(manifest, frames, moved, decided);
  return upgradeOf(directory, manifest, next, decided, moved);
}

interface Decided {
  readonly path: string;
  readonly sides: Sides;
  readonly decision: Decision;
}

const leftAlone: Decision = { kind: 'kept', why: 'other repository' };

function sidesOf(directory: string, path: string, { base, theirs }: CommonFiles, { files }: Manifest): Sides {
  return {
    path,
    base: base.get(path)?.content ?? null,
    ours: contentAt(directory, path),
    theirs: theirs.get(path) ?? null,
    recorded: Object.hasOwn(files, path) ? files[path] : undefined,
  };
}

function decideOn(directory: string, sides: Sides, used: ReadonlySet<string>): Decision {
  const { path, base, ours, theirs } = sides;
  if (isLink(directory, path)) {
    return theirs === null || theirs.owner === 'yours' ? { kind: 'kept', why: 'own' } : { kind: 'blocked' };
  }
  // A list of tools that only a formatter has changed still counts as generated.
  if (path === toolsIndex && ours && base && theirs && sameMeaning(textOf(ours), textOf(base))) {
    if (Buffer.from(base).equals(theirs.content)) return { kind: 'same' };
    const content = inStyle(textOf(ours), textOf(theirs.content));
    return ours.equals(content) ? { kind: 'same' } : { kind: 'replaced', content };
  }
  try {
    return decide(sides, { label: `create-market-mcp ${version}`, used });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = `${join(directory, path)}: ${error.message}`;
    throw new ProjectError('PACKAGE_DAMAGED', message, 'Correct it: it must be valid JSON.', {
      cause: error,
    });
  }
}

function requireRoom(decided: readonly Decided[]): void {
  const blocked = decided.filter(({ decision }) => decision.kind === 'blocked').map(({ path }) => path);
  if (blocked.length === 0) return;
  throw new CommandError(
    'PLACE_TAKEN',
    `version ${version} adds ${blocked.length === 1 ? `${blocked[0]}, but you have a file with this path` : 'files, but you have files with the same paths'}`,
    'Nothing was changed. Rename your files, and run the command again.',
    blocked.length === 1 ? [] : blocked,
  );
}

/**
 * The new manifest. It records the text that this version writes, even if the author's file differs. A file that stays as it
 * was written keeps its hash: what package.json says of the tools is that of an earlier list of them.
 */
function nextManifest(
  manifest: Manifest,
  { base, theirs, profile }: CommonFiles,
  { texts }: MovedFiles,
  decided: readonly Decided[],
): Manifest {
  const managed = new Set([...base.keys(), ...decided.map(({ path }) => path)]);
  const carried = Object.entries(manifest.files)
    .filter(([path]) => !managed.has(path))
    .map(([path, file]) => {
      const text = texts.get(path);
      const wasOurs = text && isAsWritten(bytesOf(text.before), file.sha256);
      return [path, wasOurs ? { ...file, sha256: sha256(bytesOf(text.after)) } : file] as const;
    });
  const own = new Set(decided.filter(({ decision }) => isAuthorsOwn(decision)).map(({ path }) => path));
  const untouched = new Map(
    decided.flatMap(({ path, sides: { ours, recorded }, decision }) =>
      decision.kind === 'same' && ours && recorded && isAsWritten(ours, recorded.sha256)
        ? [[path, recorded.sha256]]
        : [],
    ),
  );
  const written = [...theirs]
    .filter(([path]) => !own.has(path))
    .map(([path, { content, owner }]) => {
      return [path, { sha256: untouched.get(path) ?? sha256(content), owner }] as const;
    });
  const files = [...carried, ...written].sort(([a], [b]) => (a < b ? -1 : 1));
  const isNamed = platforms.some((one) => isDeepStrictEqual(one, profile));
  return {
    ...manifest,
    schema: 3,
    template: version,
    answers: { ...manifest.answers, profile: isNamed ? profile.name : profile },
    files: Object.fromEntries(files),
  };
}

/** Whether the author created a file at the path of a new file of ours. */
function isAuthorsOwn(decision: Decision): boolean {
  return decision.kind === 'kept' && decision.why === 'own';
}

function upgradeOf(
  directory: string,
  manifest: Manifest,
  next: Manifest,
  decided: readonly Decided[],
  { texts, elsewhere, todos: imports }: MovedFiles,
): Upgrade {
  const todos = [...imports];
  const [from, to] = [manifest.template, next.template];
  const place = reportDirectory(from, to);
  const written = new Map<string, ProjectFile>();
  const patches = new Map<string, ProjectFile>();
  const removed: string[] = [];
  const files: UpgradedFile[] = [];
  for (const { path, sides, decision } of decided) {
    if (decision.kind === 'same' || decision.kind === 'blocked') continue;
    const owner = sides.theirs?.owner ?? 'yours';
    if ('content' in decision && decision.content !== null)
      written.set(path, { content: decision.content, owner });
    if (decision.kind === 'removed' || (decision.kind === 'overruled' && decision.content === null))
      removed.push(path);
    const diff = diffOf(sides, decision);
    const patch = `${place}/${diff?.folder}/${path}.patch`;
    if (diff) patches.set(patch, record(bytesOf(diff.text)));
    files.push({
      path,
      kind: decision.kind,
      ...('lines' in decision && { lines: decision.lines }),
      ...('why' in decision && { why: decision.why }),
      ...(diff && { patch }),
    });
    if (decision.kind === 'overruled' && sides.recorded?.owner === 'sealed')
      todos.push(editTodo(path, patch));
  }
  for (const [path, { after }] of texts) {
    written.set(path, { content: bytesOf(after), owner: 'yours' });
    files.push({ path, kind: 'imports' });
  }
  for (const [path, { before, after }] of elsewhere) {
    const patch = `${place}/proposals/${path}.patch`;
    patches.set(patch, record(bytesOf(patchOf(path, before, after))));
    files.push({ path, kind: 'kept', why: 'other repository', patch });
  }
  const before = readJson(directory);
  const isSame = written.size + removed.length === 0 && isDeepStrictEqual(before, next);
  if (isSame) return { from, to, files: [], todos: [], change: null };
  const conflicts = files.filter(({ kind }) => kind === 'conflict').map(({ path }) => path);
  const changed = [...written.keys(), ...removed, manifestFile];
  const records = pendingFiles(directory, changed, { from, to, conflicts });
  const page = record(Buffer.from(reportPage({ from, to, files, todos })));
  const all = new Map([
    ...records,
    ...patches,
    [`${place}/report.md`, page],
    ...written,
    [manifestFile, manifestContent(next)],
  ]);
  return { from, to, files, todos, change: { files: all, removed } };
}

/** A patch of what the author loses or does not get. */
function diffOf({ path, base, ours, theirs }: Sides, decision: Decision) {
  const own = textOf(ours ?? Buffer.alloc(0));
  if (decision.kind === 'overruled')
    return { folder: 'edits', text: patchOf(path, base ? textOf(base) : undefined, own) };
  return decision.kind === 'kept' && decision.why !== 'deleted' && theirs
    ? { folder: 'proposals', text: patchOf(path, own, textOf(theirs.content)) }
    : undefined;
}

/** Null if there is no such file, or a link. */
function contentAt(directory: string, path: string): Buffer | null {
  return isLink(directory, path) ? null : (readIfThere(directory, path) ?? null);
}

function isLink(directory: string, path: string): boolean {
  return lstatSync(placeIn(directory, path), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function recordedTools({ files }: Manifest): readonly string[] {
  return Object.keys(files).flatMap((path) => /^src\/tools\/(?!index\.ts$)(.+)\.ts$/.exec(path)?.[1] ?? []);
}
