import type { ProjectFile } from '../../plan/model.ts';
import { toolsIndex } from '../../plan/tools-index.ts';
import type { ManifestFile } from '../../project/manifest/manifest.ts';
import { isAsWritten } from '../../project/read/files.ts';
import { sha256 } from '../../project/read/hash.ts';
import { inStyle, plain, textOf } from '../../project/read/text.ts';
import { meaningOf } from '../../typescript/tree.ts';
import { type Merged, mergeLines } from './merge-lines.ts';
import { mergePackage } from './merge-package.ts';

/** One file on all three sides; null on a side without it. */
export interface Sides {
  readonly path: string;
  /** As the recorded version wrote it. */
  readonly base: Uint8Array | null;
  /** As it is on disk. */
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
  /** Replaced or removed, although its author had edited it. */
  | { readonly kind: 'overruled'; readonly content: Uint8Array | null }
  /** Kept as the author has it, although this version's text is different. */
  | { readonly kind: 'kept'; readonly why: 'deleted' | 'own' | 'no base' | 'other repository' }
  /** A new file of the runtime needs the path of an author's file. */
  | { readonly kind: 'blocked' };

export interface DecisionContext {
  /** Name of this version in conflict markers. */
  readonly label: string;
  /** Packages that the author's own files import. */
  readonly used: ReadonlySet<string>;
}

/** Decides on one file that belongs to no tool. Pure. @throws SyntaxError if a package.json is not JSON. */
export function decide(sides: Sides, context: DecisionContext): Decision {
  const { ours, theirs, recorded } = sides;
  if (theirs === null) return ours === null ? { kind: 'same' } : withoutSuccessor(ours, sides);
  if (ours === null) {
    const isDeleted = recorded !== undefined && theirs.owner === 'yours';
    return isDeleted ? { kind: 'kept', why: 'deleted' } : { kind: 'new', content: theirs.content };
  }
  if (ours.equals(theirs.content) || plainText(ours) === plainText(theirs.content)) return { kind: 'same' };
  if (sides.path === 'package.json') {
    const base = plainText(sides.base ?? theirs.content);
    return decisionOf(mergePackage(base, plainText(ours), plainText(theirs.content), context), ours);
  }
  if (recorded === undefined) {
    return theirs.owner === 'yours' ? { kind: 'kept', why: 'own' } : { kind: 'blocked' };
  }
  const isRecorded = recorded.sha256 === sha256(theirs.content);
  const isOurs = theirs.owner === 'generated' && sides.path !== toolsIndex;
  const isEdited = !isAsWritten(ours, recorded.sha256) && !isFormatted(sides, ours);
  if (isEdited && (isOurs || recorded.owner === 'sealed')) {
    return { kind: 'overruled', content: theirs.content };
  }
  // A text that describes the tools was rendered for an earlier list of tools.
  if (isRecorded || (theirs.owner === 'yours' && isUnchanged(sides))) return { kind: 'same' };
  if (!isAsWritten(ours, recorded.sha256) && isUnchanged(sides)) return { kind: 'same' };
  if (!isEdited) return { kind: 'replaced', content: inStyle(textOf(ours), textOf(theirs.content)) };
  return mergedText(sides, ours, theirs, context.label);
}

/** This version has no such file. */
function withoutSuccessor(ours: Buffer, sides: Sides): Decision {
  const { recorded } = sides;
  if (recorded === undefined) return { kind: 'same' };
  if (isAsWritten(ours, recorded.sha256) || isFormatted(sides, ours)) return { kind: 'removed' };
  return recorded.owner === 'yours' ? { kind: 'kept', why: 'own' } : { kind: 'overruled', content: null };
}

function mergedText({ base }: Sides, ours: Buffer, theirs: ProjectFile, label: string): Decision {
  if (base === null) return { kind: 'kept', why: 'no base' };
  // UTF-16, or no text at all: its lines cannot be merged.
  if (ours.includes(0)) return { kind: 'kept', why: 'own' };
  return decisionOf(mergeLines(plainText(base), plainText(ours), plainText(theirs.content), label), ours);
}

function decisionOf({ text, conflicts }: Merged, ours: Buffer): Decision {
  const content = inStyle(textOf(ours), text);
  if (conflicts.length > 0) return { kind: 'conflict', content, lines: conflicts };
  return ours.equals(content) ? { kind: 'same' } : { kind: 'merged', content };
}

/** Whether this version writes the same content as the recorded one. */
function isUnchanged({ base, theirs }: Sides): boolean {
  return base !== null && theirs !== null && Buffer.from(base).equals(theirs.content);
}

/** Whether only a formatter has changed a file. */
function isFormatted({ path, base }: Sides, ours: Buffer): boolean {
  if (base === null || !/\.([cm]?[jt]s|json)$/.test(path)) return false;
  const [before, now] = [base, ours].map((content) => meaningOf(textOf(content)));
  return before === now;
}

function plainText(content: Uint8Array): string {
  return plain(textOf(content));
}
