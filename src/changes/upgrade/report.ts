import { compareVersions } from 'market-mcp-contract/report';
import { changelog } from './assets.ts';
import type { Upgrade, UpgradedFile } from './plan-upgrade.ts';

/** An upgrade as text. */
export interface UpgradeReport {
  /** The numbers of new, replaced, merged and removed files. */
  readonly counts: string;
  /** What the author has to do before the upgrade can be finished. */
  readonly open: readonly string[];
  /** What the author should know. */
  readonly notes: readonly string[];
}

/** Describes an upgrade. */
export function upgradeReport({ files, renamed }: Pick<Upgrade, 'files' | 'renamed'>): UpgradeReport {
  const of = (...kinds: readonly UpgradedFile['kind'][]) => files.filter(({ kind }) => kinds.includes(kind));
  const counts = [
    ['new', of('new')],
    ['replaced', of('replaced', 'overruled')],
    ['merged', of('merged')],
    ['removed', of('removed')],
    ['in conflict', of('conflict')],
  ] as const;
  const present = counts.filter(([, list]) => list.length > 0);
  return {
    counts: present.map(([kind, { length }]) => `${length} ${kind}`).join(', '),
    open: [
      ...of('conflict').map(
        ({ path, lines = [] }) =>
          `${path}: you and the new version both changed the same lines: see the markers in line ${lines.join(', ')}`,
      ),
      ...renamed.map(
        ({ path, line, entry, from, to }) => `${path}:${line}: ${from} of ${entry} is now called ${to}`,
      ),
    ],
    notes: files.flatMap((file) => fileNote(file) ?? []),
  };
}

function fileNote({ path, kind, why: reason, proposal }: UpgradedFile): string | undefined {
  if (kind === 'merged') return `${path}: merged with your changes`;
  if (kind === 'overruled') return `${path}: it is generated, so it was written without your edit`;
  if (reason === 'deleted') return `${path}: you deleted it, so it was not added again`;
  if (reason === 'rewritten') return `${path}: kept as you rewrote it. The text of this version: ${proposal}`;
  if (kind !== 'kept') return undefined;
  return `${path}: left unchanged.${proposal ? ` The text of this version: ${proposal}` : ''}`;
}

/** The changelog's entries for versions after `from` up to `to`, newest first. */
export function changelogBetween(from: string, to: string): readonly string[] {
  return changelog
    .split(/^(?=## )/m)
    .filter((section) => {
      const found = /^## (\d+\.\d+\.\d+)/.exec(section)?.[1];
      return found !== undefined && compareVersions(found, from) > 0 && compareVersions(found, to) <= 0;
    })
    .map((section) => section.trim());
}
