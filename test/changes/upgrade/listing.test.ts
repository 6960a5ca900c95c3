import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { planUpgrade } from '../../../src/changes/upgrade/plan-upgrade.ts';
import { version } from '../../../src/plan/package-versions.ts';
import { fingerprint } from '../../../src/project/manifest/listed.ts';
import { manifestContent, manifestFile, readManifest } from '../../../src/project/manifest/manifest.ts';
import { openProject } from '../../../src/project/read/open.ts';
import { created } from '../../project/created.ts';

/** A project whose manifest has fingerprints, as 0.4.0 recorded them, and the definition of its tool. */
async function projectWithFingerprints() {
  const root = await created({});
  const { tools } = await openProject(root);
  const definition = tools[0]?.source.definition ?? expect.fail('the project has no tool');
  const listed = { [definition.name]: fingerprint({ ...definition }), get_fee: 'f'.repeat(64), get_tip: '' };
  writeFileSync(join(root, manifestFile), manifestContent({ ...readManifest(root), listed }).content);
  return { root, definition };
}

it('an upgrade moves the fingerprints of the manifest to listing.json', async () => {
  const { root, definition } = await projectWithFingerprints();
  const { files, change } = await planUpgrade(root);
  expect(files).toContainEqual({ path: 'listing.json', kind: 'new' });
  const contentOf = (path: string) =>
    JSON.parse(Buffer.from(change?.files.get(path)?.content ?? '').toString());
  expect(contentOf('listing.json')).toEqual({
    tools: [
      definition,
      { name: 'get_fee', fingerprint: 'f'.repeat(64) },
      { name: 'get_tip', fingerprint: '' },
    ],
  });
  expect(contentOf(manifestFile)).not.toHaveProperty('listed');
});

it('an upgrade keeps the listing.json that the author has', async () => {
  const { root } = await projectWithFingerprints();
  writeFileSync(join(root, 'listing.json'), '[]');
  const { files, change } = await planUpgrade(root);
  expect(files.map(({ path }) => path)).not.toContain('listing.json');
  expect(change?.files.has('listing.json')).toBe(false);
  expect(readFileSync(join(root, 'listing.json'), 'utf8')).toBe('[]');
});

it('an upgrade of a project without fingerprints does not need the place of listing.json', async () => {
  const root = await created({});
  mkdirSync(join(root, 'listing.json'));
  await expect(planUpgrade(root)).resolves.toMatchObject({ to: version });
});

it('an upgrade that has to write listing.json rejects a directory in its place', async () => {
  const { root } = await projectWithFingerprints();
  mkdirSync(join(root, 'listing.json'));
  await expect(planUpgrade(root)).rejects.toThrow('listing.json');
});
