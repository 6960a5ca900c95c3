import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareVersions } from '../../../packages/contract/src/versions.ts';
import { version } from '../../../src/plan/package-versions.ts';
import { archivedVersions, readRelease } from '../../../src/project/package/releases.ts';

const changelog = readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8');
const headings = [...changelog.matchAll(/^## (\S+)$/gm)].map(([, heading = '']) => heading);

it('every version of the changelog from 0.3.0 to the one before this has an archive, and no other version has one', () => {
  expect(headings[0]).toBe(version);
  const earlier = headings.filter(
    (heading) => compareVersions(heading, version) < 0 && compareVersions(heading, '0.3.0') >= 0,
  );
  expect(earlier.toSorted(compareVersions)).toEqual(archivedVersions());
});

it.each(archivedVersions())('the archive of %s was made of that version', (archived) => {
  const { facts, templates } = readRelease(archived) ?? {};
  expect(facts?.version).toBe(archived);
  expect(templates?.has('project/package.json.hbs.js')).toBe(true);
});
