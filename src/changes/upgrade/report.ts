import { compareVersions } from 'market-mcp-contract/report';
import { changelog } from './assets.ts';
import type { Upgrade, UpgradedFile } from './model.ts';

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
export function reportOf({ files, todos }: Pick<Upgrade, 'files' | 'todos'>): UpgradeReport {
  const of = (...kinds: readonly UpgradedFile['kind'][]) => files.filter(({ kind }) => kinds.includes(kind));
  const counts = [
    ['new', of('new')],
    ['replaced', of('replaced', 'overruled')],
    ['merged', of('merged', 'imports')],
    ['removed', of('removed')],
    ['in conflict', of('conflict')],
  ] as const;
  const present = counts.filter(([, list]) => list.length > 0);
  return {
    counts: present.map(([what, { length }]) => `${length} ${what}`).join(', '),
    open: [
      ...of('conflict').map(
        ({ path, lines = [] }) =>
          `${path}: you and the new version both changed the text after line ${lines.join(', ')}`,
      ),
      ...files
        .filter(isElsewhere)
        .map(
          ({ path, patch }) =>
            `${path}: it is in another git repository, so it was not changed. Change it there${patch === undefined ? '' : `: ${patch}`}`,
        ),
      ...todos.map(({ path, line, text }) => `${path}:${line}: ${text}`),
    ],
    notes: files.flatMap((file) => noteOf(file) ?? []),
  };
}

/** Whether a file has to be changed in a submodule. */
function isElsewhere({ why }: UpgradedFile): boolean {
  return why === 'other repository';
}

function noteOf(file: UpgradedFile): string | undefined {
  const { path, kind, why, patch } = file;
  if (kind === 'merged') return `${path}: merged with your changes`;
  if (kind === 'imports') return `${path}: its imports now refer to the package of the runtime`;
  if (kind === 'overruled') return `${path}: replaced. Your edit is kept in ${patch}`;
  if (why === 'deleted') return `${path}: you deleted it, so it was not added again`;
  if (kind === 'kept' && !isElsewhere(file))
    return `${path}: left unchanged. ${patch ? `The text of this version: ${patch}` : ''}`.trim();
  return undefined;
}

/** The report as a Markdown page, written beside the patches. */
export function reportPage(upgrade: Pick<Upgrade, 'from' | 'to' | 'files' | 'todos'>): string {
  const { counts, open, notes } = reportOf(upgrade);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `\n## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
  const { from, to } = upgrade;
  return [
    `# Upgrade from ${from} to ${to}\n\nFiles: ${counts}.\n`,
    section('To do', open),
    section('To know', notes),
    section(
      'All files',
      upgrade.files.map(({ path, kind }) => `${kind}: ${path}`),
    ),
    ...changesBetween(from, to).map((text) => `\n${text}\n`),
  ].join('');
}

/** The changelog's entries for versions after `from` up to `to`, newest first. */
export function changesBetween(from: string, to: string): readonly string[] {
  return changelog
    .split(/^(?=## )/m)
    .filter((section) => {
      const found = /^## (\d+\.\d+\.\d+)/.exec(section)?.[1];
      return found !== undefined && compareVersions(found, from) > 0 && compareVersions(found, to) <= 0;
    })
    .map((section) => section.trim());
}
