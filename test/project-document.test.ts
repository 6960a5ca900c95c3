import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../packages/contract/src/command/command-error.ts';
import { planCreation } from '../src/changes/creation.ts';
import { startImport } from '../src/changes/import-run.ts';
import type { FileSet } from '../src/plan/planned-file.ts';
import { manifestFile } from '../src/project/manifest/manifest.ts';
import { completeAnswers } from '../src/questions/create-answers.ts';

const document = join(import.meta.dirname, '../docs/project.md');
const page = readFileSync(document, 'utf8');
const heading = '## Their contents\n';

describe('docs/project.md', async () => {
  const { files } = unwrap(await planCreation(completeAnswers({ directory: '/x/my-tool' }), startImport()));

  it('names every file of a default project with its owner', () => {
    const owners = new Map([...files].map(([path, { owner }]) => [named(path), owner]));
    // Nobody is recorded as the owner of these: npm writes the one, and the other is the record itself.
    owners.set('package-lock.json', 'yours').set(manifestFile, 'generated');
    expect(Object.fromEntries(filesIn(page))).toEqual(Object.fromEntries(owners));
  });

  it('contains every file of a default project', async () => {
    const [before = ''] = page.split(heading);
    await expect(`${before.trimEnd()}\n\n${heading}${contentsOf(files)}`).toMatchFileSnapshot(document);
  });
});

/** The path of a file without the version in its name. */
function named(path: string): string {
  return path.replace(/-\d[^/]*\.tgz$/, '-*.tgz');
}

/** Each text file under its path, the author's own first. */
function contentsOf(files: FileSet): string {
  const rank = (path: string) => (/^(src|test)\//.test(path) ? 0 : 1);
  return [...files]
    .filter(([path]) => !path.endsWith('.tgz') && path !== manifestFile)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([path, { content }]) => {
      const text = new TextDecoder().decode(content).replaceAll(/-\d[\w.-]*\.tgz/g, '-*.tgz');
      const language = /\.(ts|json|md|yml)$/.exec(path)?.[1] ?? '';
      return `\n### \`${path}\`\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n`;
    })
    .join('');
}

/** The files of the listing, each with the heading that it stands under. */
function filesIn(text: string): ReadonlyMap<string, string> {
  const [, listing = ''] = /```\n(yours\n[\s\S]*?)```/.exec(text) ?? [];
  const found = new Map<string, string>();
  let owner = '';
  for (const line of listing.split('\n')) {
    const [, heading, path] = /^(\w+)|^ {2}(\S+)/.exec(line) ?? [];
    owner = heading ?? owner;
    if (path !== undefined) found.set(path, owner);
  }
  return found;
}
