import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../e2e/support.ts';
import type { Outcome } from './scenario.ts';

const place = /(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)/s;

/** Writes the results of the upgrades into docs/evidence/upgrades.md. */
export function writeTable(outcomes: readonly Outcome[], seed: number): void {
  const page = join(repository, 'docs/evidence/upgrades.md');
  const text = readFileSync(page, 'utf8');
  if (!place.test(text)) throw new Error('docs/evidence/upgrades.md has no place for figures');
  writeFileSync(
    page,
    text.replace(place, () => table(outcomes, seed)),
  );
}

function table(outcomes: readonly Outcome[], seed: number): string {
  const rows = outcomes.map(
    ({ version, project, platform, packageManager, edits, files, merged }) =>
      `| ${version}: ${project.replace('project-', '')} | ${platform}, ${packageManager} | ${edits.join('; ')} | ${files} | ${merged} |`,
  );
  return [
    '',
    `Seed ${seed}: ${outcomes.length} projects. Each was upgraded without a conflict, undone to the byte by the printed lines, and upgraded again; it was`,
    'built, and its unit tests and its self-check passed.',
    '',
    '| | profile, package manager | edits | files changed | merged |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    '',
  ].join('\n');
}
