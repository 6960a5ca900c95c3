import { table, writePlace } from '../page.ts';
import type { Outcome } from './scenario.ts';

/** Writes the results of the upgrades into docs/evidence/upgrades.md. */
export function writeTable(outcomes: readonly Outcome[], seed: number): void {
  const rows = outcomes.map(({ version, project, platform, packageManager, edits, files, merged }) => [
    `${version}: ${project.replace('project-', '')}`,
    `${platform}, ${packageManager}`,
    edits.join('; '),
    files,
    merged,
  ]);
  const lines = [
    `Seed ${seed}: ${outcomes.length} projects. Each was upgraded without a conflict, undone to the byte by the printed lines, and upgraded again; it was`,
    'built, and its unit tests and its self-check passed.',
    '',
    ...table([['', 'profile, package manager', 'edits', 'files changed', 'merged'], ...rows]),
  ];
  writePlace('upgrades.md', 'figures', lines.join('\n'));
}
