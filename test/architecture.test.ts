import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (page: string) => readFileSync(join(root, 'docs', page), 'utf8');
// architecture.md describes the files of a generated project from that heading on.
const pages = {
  'architecture.md': read('architecture.md').split('## A generated project')[0] ?? '',
  'internals.md': read('internals.md'),
};

/** internals.md names these files of a generated project. */
const projectPaths = ['src/apis/', 'src/env.ts', 'src/main.ts', 'src/redis.ts', 'test/recordings/'];

it.each(Object.entries(pages))('docs/%s names only paths that exist', (_name, page) => {
  const paths = page.split(/^(?=##)/m).flatMap((section) => {
    // The paths of a table are relative to the folder in its heading.
    const [, folder = ''] = /^#+ .*`([^`]+\/)`$/m.exec(section) ?? [];
    const texts = [...section.matchAll(/`([\w.<>-]+\/[^`\s]*)`/g)].map(([, text = '']) => text);
    const isFromRoot = (text: string) => /^(?:src|test|bench|packages|templates|scripts)\//.test(text);
    return texts
      .filter((text) => isFromRoot(text) || folder !== '')
      .map((text) => (isFromRoot(text) ? text : folder + text));
  });
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !isThere(path) && !projectPaths.includes(path))).toEqual([]);
});

function filesUnder(path: string): readonly string[] {
  const start = join(root, path);
  if (!statSync(start).isDirectory()) return [start];
  const entries = readdirSync(start, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}

/** Whether a path exists; `<tool>` in it matches any name. */
function isThere(path: string): boolean {
  if (!path.includes('<')) return existsSync(join(root, path));
  const [before = ''] = path.split('<');
  const pattern = new RegExp(`/${path.replaceAll('.', '\\.').replace(/<\w+>/, '[^/]+')}`);
  return filesUnder(dirname(`${before}x`)).some((file) => pattern.test(file));
}
