import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planCreation } from '../src/changes/creation.ts';
import { unwrap } from '../src/model/command-error.ts';
import { manifestFile } from '../src/project/manifest.ts';
import { completeAnswers } from '../src/questions/create-answers.ts';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

describe('README.md', () => {
  it('names every file of a default project with its owner', async () => {
    const { files } = unwrap(await planCreation(completeAnswers({ directory: '/x/my-tool' })));
    const owners = new Map(
      [...files].map(([path, { owner }]) => [path.replace(/-\d[^/]*\.tgz$/, '-*.tgz'), owner]),
    );
    // Nobody is recorded as the owner of these: npm writes the one, and the other is the record itself.
    owners.set('package-lock.json', 'yours').set(manifestFile, 'generated');
    expect(Object.fromEntries(filesIn(readme))).toEqual(Object.fromEntries(owners));
  });
});

/** The files of the listing in the README, each with the heading that it stands under. */
function filesIn(page: string): ReadonlyMap<string, string> {
  const [, listing = ''] = /```\n(yours\n[\s\S]*?)```/.exec(page) ?? [];
  const found = new Map<string, string>();
  let owner = '';
  for (const line of listing.split('\n')) {
    const [, heading, path] = /^(\w+)|^ {2}(\S+)/.exec(line) ?? [];
    owner = heading ?? owner;
    if (path !== undefined) found.set(path, owner);
  }
  return found;
}
