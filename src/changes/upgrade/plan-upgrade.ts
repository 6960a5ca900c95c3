import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';
import { version } from '../../plan/package-versions.ts';
import { toolsIndex } from '../../plan/plan-tools-index.ts';
import type { FileSet, ProjectFile } from '../../plan/planned-file.ts';
import {
  listInFile,
  listingContent,
  listingFile,
  listOfFingerprints,
  withDefinitions,
} from '../../project/manifest/listed.ts';
import {
  type Manifest,
  manifestContent,
  manifestFile,
  readManifest,
  withoutFingerprints,
} from '../../project/manifest/manifest.ts';
import { isAsWritten } from '../../project/read/edited-files.ts';
import { decodeText, sha256 } from '../../project/read/file-text.ts';
import { literalDefinitions } from '../../project/read/open.ts';
import { readIfThere, refuseObstacles, resolveInside } from '../../project/read/resolve-inside.ts';
import { importsIn } from '../../project/read/tools-index.ts';
import { lockDirectory } from '../../project/read/workspace.ts';
import type { Plan } from '../../project/write/change.ts';
import { moduleReferences } from '../../typescript/imports.ts';
import { renamedExports } from './assets.ts';
import { authorFiles, importedPackages } from './author-files.ts';
import { commonFilesOf } from './common-files.ts';
import { type Decision, type DecisionContext, decideFile, type Sides } from './decide.ts';

/** The planned upgrade of a project: nothing is written yet. */
export interface Upgrade extends Plan {
  readonly from: string;
  readonly to: string;
  /** The files that change, and those that were left although this version has another text, by path. */
  readonly files: readonly UpgradedFile[];
  /** Lines of the author that name what the runtime has renamed. */
  readonly renamed: readonly RenamedExport[];
}

/** One file of an upgrade. */
export interface UpgradedFile {
  readonly path: string;
  readonly kind: Exclude<Decision['kind'], 'same'>;
  /** Lines where conflicts begin, 1-based. */
  readonly lines?: readonly number[];
  /** Path of the text that this version proposes, beside a file that stays unchanged. */
  readonly proposal?: string;
  readonly why?: Extract<Decision, { readonly kind: 'kept' }>['why'];
}

/** Name of this version in conflict markers and at the end of proposals' names. */
const label = `create-market-mcp-${version}`;

/**
 * Plans the upgrade of a project to this version. Writes nothing.
 *
 * @throws CommandError `PACKAGE_DAMAGED`, and the errors of `commonFilesOf`, `readManifest` and `mergeTexts`.
 */
export async function planUpgrade(directory: string): Promise<Upgrade> {
  const manifest = readManifest(directory);
  const index = contentAt(directory, toolsIndex);
  const tools = index === null ? recordedTools(manifest) : importsIn(decodeText(index));
  const { base, theirs } = commonFilesOf(manifest, tools, undefined, lockDirectory(directory));
  const recorded = Object.entries(manifest.files).filter(([, { owner }]) => owner === 'generated');
  const knownPaths = [...base.keys(), ...theirs.keys(), ...recorded.map(([path]) => path)];
  const paths = [...new Set(knownPaths)].sort();
  refuseObstacles(directory, paths);
  const authors = authorFiles(directory, (path) => paths.includes(path));
  const context = { label, used: new Set([...authors.values()].flatMap(importedPackages)) };
  const decided: Decided[] = [];
  for (const path of paths) {
    const sides: Sides = {
      path,
      base: base.get(path)?.content ?? null,
      ours: contentAt(directory, path),
      theirs: theirs.get(path) ?? null,
      recorded: Object.hasOwn(manifest.files, path) ? manifest.files[path] : undefined,
    };
    decided.push({ sides, decision: await decideOn(directory, sides, context) });
  }
  const next = nextManifest(manifest, base, decided);
  const listing = listingOf(directory, manifest, tools);
  const renamed = renamedIn(authors, JSON.parse(renamedExports));
  return {
    from: manifest.template,
    to: version,
    renamed,
    ...plannedChange(decided, manifest, next, listing),
  };
}

interface Decided {
  readonly sides: Sides;
  readonly decision: Decision;
}

async function decideOn(directory: string, sides: Sides, context: DecisionContext): Promise<Decision> {
  const { path, base, theirs } = sides;
  if (isLink(directory, path)) {
    if (theirs?.owner === 'generated') return { kind: 'overruled', content: theirs.content };
    const isUnchanged = theirs === null || (base !== null && Buffer.from(base).equals(theirs.content));
    if (isUnchanged) return { kind: 'same' };
    return { kind: 'kept', why: 'own' };
  }
  try {
    return await decideFile(sides, context);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = `${join(directory, path)}: ${error.message}`;
    throw new CommandError('PACKAGE_DAMAGED', message, 'Correct it: it must be valid JSON.', {
      cause: error,
    });
  }
}

/**
 * The new manifest. It records the text that this version writes, even if the author's file differs. A file that stays as it
 * was written keeps its hash: the tools in package.json are an earlier list of them.
 */
function nextManifest(manifest: Manifest, base: FileSet, decided: readonly Decided[]): Manifest {
  const managed = new Set([...base.keys(), ...decided.map(({ sides }) => sides.path)]);
  const carried = Object.entries(manifest.files).filter(([path]) => !managed.has(path));
  const writtenFiles = decided.flatMap(({ sides: { path, ours, recorded, theirs }, decision }) => {
    if (theirs === null || (decision.kind === 'kept' && recorded === undefined)) return [];
    const isKnown = decision.kind === 'same' && ours && recorded && isAsWritten(ours, recorded.sha256);
    const hash = isKnown ? recorded.sha256 : sha256(theirs.content);
    return [[path, { sha256: hash, owner: theirs.owner }] as const];
  });
  const files = [...carried, ...writtenFiles].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...withoutFingerprints(manifest), template: version, files: Object.fromEntries(files) };
}

/**
 * `listing.json` with the tool list whose fingerprints the manifest of an older project has; null if it has none, or if there is such
 * a file already.
 *
 * @param imported the files that the list of tools imports
 */
function listingOf(directory: string, manifest: Manifest, imported: readonly string[]): ProjectFile | null {
  const list = listOfFingerprints(manifestFile, manifest.listed);
  if (list === null || listInFile(directory) !== null) return null;
  refuseObstacles(directory, [listingFile]);
  const definitions = literalDefinitions(directory, imported);
  return listingContent(
    withDefinitions(
      list.tools,
      definitions.map((definition) => ({ ...definition })),
    ),
  );
}

function plannedChange(
  decided: readonly Decided[],
  manifest: Manifest,
  next: Manifest,
  listing: ProjectFile | null,
): Pick<Upgrade, 'files' | 'change'> {
  const writtenFiles = new Map<string, ProjectFile>();
  const files: UpgradedFile[] = [];
  for (const { sides, decision } of decided) {
    const { path, theirs } = sides;
    if (decision.kind === 'same') continue;
    if ('content' in decision)
      writtenFiles.set(path, { content: decision.content, owner: theirs?.owner ?? 'yours' });
    const { content: _, ...details } = { content: null, ...decision };
    const isKeptByAuthor = decision.kind === 'kept' && decision.why !== 'deleted';
    if (theirs && isKeptByAuthor) {
      const proposal = `${path}.${label}`;
      writtenFiles.set(proposal, theirs);
      files.push({ path, ...details, proposal });
    } else files.push({ path, ...details });
  }
  if (listing) {
    writtenFiles.set(listingFile, listing);
    files.push({ path: listingFile, kind: 'new' });
  }
  const removed = files.filter(({ kind }) => kind === 'removed').map(({ path }) => path);
  if (writtenFiles.size + removed.length === 0 && isDeepStrictEqual(manifest, next))
    return { files: [], change: null };
  return {
    files,
    change: { files: new Map([...writtenFiles, [manifestFile, manifestContent(next)]]), removed },
  };
}

/** Null if there is no such file, or a link. */
function contentAt(directory: string, path: string): Buffer | null {
  if (isLink(directory, path)) return null;
  return readIfThere(directory, path) ?? null;
}

function isLink(directory: string, path: string): boolean {
  return lstatSync(resolveInside(directory, path), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function recordedTools({ files }: Manifest): readonly string[] {
  return Object.keys(files).flatMap((path) => /^src\/tools\/(?!index\.ts$)(.+)\.ts$/.exec(path)?.[1] ?? []);
}

/** An import of a name that an entry point of the runtime exports under another one. */
interface RenamedExport {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly entry: string;
  readonly from: string;
  readonly to: string;
}

/** Entry point of the runtime → former name → name: `packages/runtime/renamed.json`. */
type RenamedExports = { readonly [entry: string]: { readonly [former: string]: string } };

/**
 * The lines of source files that import a name that the runtime has renamed.
 *
 * @param files path → text
 */
export function renamedIn(
  files: ReadonlyMap<string, string>,
  renamed: RenamedExports,
): readonly RenamedExport[] {
  return [...files].flatMap(([path, text]) =>
    moduleReferences(text).flatMap(({ specifier: entry, names }) => {
      const table = Object.hasOwn(renamed, entry) ? renamed[entry] : undefined;
      return names.flatMap(({ name: from, start }) => {
        if (table === undefined || !Object.hasOwn(table, from)) return [];
        const line = text.slice(0, start).split('\n').length;
        return [{ path, line, entry, from, to: table[from] ?? '' }];
      });
    }),
  );
}
