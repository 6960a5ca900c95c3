import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
// The page from that heading on describes the files of a generated project.
const [page = ''] = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('## A generated project');

it('docs/architecture.md names only paths that exist', () => {
  const paths = page.split(/^(?=##)/m).flatMap((section) => {
    // The paths of a table are relative to the folder in its heading.
    const [, folder = ''] = /^#+ .*`([^`]+\/)`$/m.exec(section) ?? [];
    const texts = [...section.matchAll(/`([\w.<>-]+\/[^`\s]*)`/g)].map(([, text = '']) => text);
    const isFromRoot = (text: string) => /^(?:src|test|bench|packages|templates|scripts)\//.test(text);
    return texts
      .filter((text) => isFromRoot(text) || folder !== '')
      .map((text) => (isFromRoot(text) ? text : folder + text));
  });
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
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
