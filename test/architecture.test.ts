import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const whole = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
// The page from here on describes the files of a generated project.
const [page = ''] = whole.split('## A generated project');
const layers = readFileSync(join(root, 'layers.grit'), 'utf8');

describe('docs/architecture.md', () => {
  const named = [...page.matchAll(/`((?:src|test|bench|packages|templates|scripts)\/[^`\s]*)`/g)].map(
    ([, path = '']) => path,
  );

  it('names only paths that exist', () => {
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  it('names only existing modules and functions', () => {
    const sources = [
      'src',
      'packages/contract/src',
      'packages/runtime/src',
      'templates',
      'build.js',
      'biome.json',
    ].flatMap(filesUnder);
    const code = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
    const names = [...whole.matchAll(/`([A-Za-z.-]+)[`(]/g)].map(([, name = '']) => name);
    const modules = names.filter((name) => /^[a-z-]+\.ts$/.test(name) && name !== 'get-gas-price.ts');
    expect(modules.length).toBeGreaterThan(10);
    expect(modules.filter((name) => !sources.some((path) => path.endsWith(`/${name}`)))).toEqual([]);
    const functions = names.filter(
      (name) => /^[a-zA-Z]+[a-z][A-Z][A-Za-z]*$/.test(name) && name !== 'getGasPrice',
    );
    expect(functions.length).toBeGreaterThan(5);
    expect(functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
  });

  it('lists every folder of src in the order that lint enforces', () => {
    const listed = [...page.matchAll(/^\| `src\/(\w+)\/` /gm)].map(([, folder]) => folder);
    expect(listed.toSorted()).toEqual(readdirSync(join(root, 'src')).toSorted());
    const [, below = ''] = /src\/model\/\.\*", \$source <: r"[^"]*\+\(\?:([\w|]+)\)/.exec(layers) ?? [];
    expect(listed).toEqual(['model', ...below.split('|')]);
  });
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
