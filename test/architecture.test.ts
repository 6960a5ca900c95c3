import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
// The page from here on describes the files of a generated project.
const [page = ''] = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('## A generated project');
const layers = readFileSync(join(root, 'layers.grit'), 'utf8');

describe('docs/architecture.md', () => {
  const named = [...page.matchAll(/`((?:src|test|bench|templates|scripts)\/[^`\s]*)`/g)].map(
    ([, path = '']) => path,
  );

  it('names only what there is', () => {
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  it('lists every folder of src, in the order that lint enforces', () => {
    const listed = [...page.matchAll(/^\| `src\/(\w+)\/` /gm)].map(([, folder]) => folder);
    expect(listed.toSorted()).toEqual(readdirSync(join(root, 'src')).toSorted());
    const [, below = ''] = /src\/contract\/\.\*", \$source <: r"[^"]*\+\(\?:([\w|]+)\)/.exec(layers) ?? [];
    expect(listed).toEqual(['contract', ...below.split('|')]);
  });
});

/** Whether a path exists; `<tool>` in it matches any name. */
function isThere(path: string): boolean {
  if (!path.includes('<')) return existsSync(join(root, path));
  const directory = dirname(join(root, path));
  const pattern = new RegExp(
    `^${path
      .slice(path.lastIndexOf('/') + 1)
      .replaceAll('.', '\\.')
      .replace(/<\w+>/, '.+')}$`,
  );
  return existsSync(directory) && readdirSync(directory).some((name) => pattern.test(name));
}
