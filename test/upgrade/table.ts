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
  const withOpen = outcomes.filter(({ open }) => open > 0);
  const rows = outcomes.map(
    ({ version, project, platform, packageManager, edits, files, merged, overruled, open }) =>
      `| ${version}: ${project.replace('project-', '')} | ${platform}, ${packageManager} | ${edits.join('; ')} | ${files} | ${merged} | ${overruled} | ${open} |`,
  );
  return [
    '',
    `Seed ${seed}: ${outcomes.length} projects, each built, its unit tests and its self-check passed afterwards (but for invented examples, see [upgrade.md](../upgrade.md));`,
    `${withOpen.length} stopped first with named conflicts, which \`--abort\` took back to the byte.`,
    '',
    '| | profile, package manager | edits | files changed | merged | patches of the runtime kept | left to the author |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    '',
  ].join('\n');
}
