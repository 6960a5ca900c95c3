import { toolsIndex } from '../../plan/plan-tools-index.ts';
import type { ProjectFile } from '../../plan/planned-file.ts';
import type { ManifestFile } from '../../project/manifest/manifest.ts';
import { isAsWritten } from '../../project/read/edited-files.ts';
import { decodeText, inStyle, sha256, withLineFeeds } from '../../project/read/file-text.ts';
import { mergeTexts } from '../../system/git.ts';
import { meaningOf } from '../../typescript/tree.ts';
import { mergePackage } from './merge-package.ts';

/** One file on all three sides; null on a side without it. */
export interface Sides {
  readonly path: string;
  /** As the recorded version wrote it. */
  readonly base: Uint8Array | null;
  /** The text on disk. */
  readonly ours: Buffer | null;
  /** As this version writes it. */
  readonly theirs: ProjectFile | null;
  readonly recorded: ManifestFile | undefined;
}

/** What the upgrade does with a file. */
export type Decision =
  | { readonly kind: 'same' }
  | { readonly kind: 'new' | 'replaced' | 'merged'; readonly content: Uint8Array }
  | { readonly kind: 'conflict'; readonly content: Uint8Array; readonly lines: readonly number[] }
  | { readonly kind: 'removed' }
  /** A generated file that its author had edited is written again. */
  | { readonly kind: 'overruled'; readonly content: Uint8Array }
  /** Kept as the author has it, although this version's text is different. */
  | { readonly kind: 'kept'; readonly why: 'deleted' | 'own' | 'rewritten' };

export interface DecisionContext {
  /** Name of this version in conflict markers. */
  readonly label: string;
  /** Packages that the author's own files import. */
  readonly used: ReadonlySet<string>;
}

/**
 * Decides on one file that belongs to no tool. Writes nothing.
 *
 * @throws SyntaxError if a package.json is not JSON; the errors of `mergeTexts`
 */
export async function decideFile(
  sides: Sides,
  { label, used: usedPackages }: DecisionContext,
): Promise<Decision> {
  const { path, base, ours, theirs, recorded } = sides;
  if (theirs === null) return withoutSuccessor(sides);
  if (ours === null) {
    const isDeleted = recorded !== undefined && theirs.owner === 'yours';
    if (isDeleted) return { kind: 'kept', why: 'deleted' };
    return { kind: 'new', content: theirs.content };
  }
  if (normalizedText(ours) === normalizedText(theirs.content)) return { kind: 'same' };
  if (theirs.owner === 'generated') return decideGenerated(sides, ours, theirs.content);
  const next = normalizedText(theirs.content);
  if (path === 'package.json') {
    const merged = mergePackage(base ? normalizedText(base) : next, normalizedText(ours), next, usedPackages);
    // Without a base, git marks only the lines that differ.
    return merge('', merged.ours, merged.theirs, label, ours);
  }
  if (recorded === undefined) return { kind: 'kept', why: 'own' };
  // A text that describes the tools was rendered for an earlier list of tools.
  if (recorded.sha256 === sha256(theirs.content) || isUnchanged(sides)) return { kind: 'same' };
  if (!isEdited(sides, ours)) return { kind: 'replaced', content: inStyle(decodeText(ours), next) };
  return decideEdited(sides, ours, next, label);
}

/** A file that its author has edited. */
async function decideEdited(
  { path, base }: Sides,
  ours: Buffer,
  next: string,
  label: string,
): Promise<Decision> {
  const diskText = normalizedText(ours);
  const authorsText = withCurrentCommand(path, diskText);
  // With NUL bytes, such as UTF-16, its lines cannot be merged.
  if (base !== null && !ours.includes(0) && isRelated(diskText, normalizedText(base)))
    return merge(withCurrentCommand(path, normalizedText(base)), authorsText, next, label, ours);
  if (authorsText === diskText) return { kind: 'kept', why: 'rewritten' };
  return { kind: 'merged', content: inStyle(decodeText(ours), authorsText) };
}

/** Replaces `market-mcp watch`, the command of version 0.4.0, in the workflow that runs it. */
function withCurrentCommand(path: string, text: string): string {
  if (path !== '.github/workflows/watch.yml') return text;
  return text.replace(/\bmarket-mcp watch(?=\s)/g, 'market-mcp check --availability');
}

async function merge(
  base: string,
  ours: string,
  theirs: string,
  label: string,
  authors: Buffer,
): Promise<Decision> {
  const { text, conflicts } =
    ours === theirs ? { text: ours, conflicts: [] } : await mergeTexts(base, ours, theirs, label);
  const content = inStyle(decodeText(authors), text);
  if (conflicts.length > 0) return { kind: 'conflict', content, lines: conflicts };
  if (authors.equals(content)) return { kind: 'same' };
  return { kind: 'merged', content };
}

/** This version has no such file. */
function withoutSuccessor(sides: Sides): Decision {
  const { ours, recorded } = sides;
  if (ours === null || recorded === undefined) return { kind: 'same' };
  const isAuthors = recorded.owner === 'yours' && isEdited(sides, ours);
  if (isAuthors) return { kind: 'kept', why: 'own' };
  return { kind: 'removed' };
}

/** A file that only the program writes. */
function decideGenerated(sides: Sides, ours: Buffer, theirs: Uint8Array): Decision {
  // The same list of tools in another form.
  if (sides.path === toolsIndex && isUnchanged(sides)) return { kind: 'same' };
  const isPacked = ours.includes(0) || theirs.includes(0);
  const content = isPacked ? theirs : inStyle(decodeText(ours), decodeText(theirs));
  if (isEdited(sides, ours)) return { kind: 'overruled', content };
  if (isUnchanged(sides)) return { kind: 'same' };
  return { kind: 'replaced', content };
}

/** Whether the author changed a file, otherwise than by a formatter. */
function isEdited({ path, base, recorded }: Sides, ours: Buffer): boolean {
  if (isAsWritten(ours, recorded?.sha256)) return false;
  if (base === null || !/\.([cm]?[jt]s|json)$/.test(path)) return true;
  const [before, currentMeaning] = [base, ours].map((content) => meaningOf(decodeText(content)));
  return before !== currentMeaning;
}

/** Whether this version and the recorded one write the same. */
function isUnchanged({ base, theirs }: Sides): boolean {
  return base !== null && theirs !== null && Buffer.from(base).equals(theirs.content);
}

/** Whether a third of a text's lines are those of another one, so that a merge makes sense. */
function isRelated(text: string, base: string): boolean {
  const linesOf = (content: string) => content.split('\n').filter((line) => line.trim() !== '');
  const lines = linesOf(text);
  const baseLines = new Set(linesOf(base));
  return lines.filter((line) => baseLines.has(line)).length * 3 >= lines.length;
}

function normalizedText(content: Uint8Array): string {
  return withLineFeeds(decodeText(content));
}
