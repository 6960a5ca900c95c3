import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodesIn, treeOf } from '../src/typescript/tree.ts';

const root = join(import.meta.dirname, '..');
// The page from that heading on describes the files of a generated project.
const [page = ''] = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('## A generated project');

describe('docs/architecture.md', () => {
  const named = [...page.matchAll(/`((?:src|test|bench|packages|templates|scripts)\/[^`\s]*)`/g)].map(
    ([, path = '']) => path,
  );

  it('names only paths that exist', () => {
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });
});

describe('functions', () => {
  const longest = 100;
  it(`have at most ${longest} lines`, () => {
    const files = ['src', 'packages'].filter((path) => existsSync(join(root, path)));
    const sources = files.flatMap(filesUnder).filter(isSource);
    expect(sources.length).toBeGreaterThan(300);
    const long = sources.flatMap((path) => {
      const found = functionsIn(readFileSync(path, 'utf8')).filter(({ lines }) => lines > longest);
      return found.map(({ name }) => `${relative(root, path).replaceAll('\\', '/')}: ${name}`);
    });
    expect(long.toSorted()).toEqual([]);
  });

  it('are counted in each form', () => {
    const text =
      'function a() {\n}\nconst b = () => {\n};\nclass C { d() {\n} #e() {\n} }\nx({ f() {\n} });\ny(function g() {\n});';
    expect(functionsIn(text)).toEqual(['a', 'b', 'd', 'e', 'f', 'g'].map((name) => ({ name, lines: 2 })));
    expect(functionsIn('const h = () => <p>\n</p>;')).toEqual([{ name: 'h', lines: 2 }]);
  });
});

function isSource(path: string): boolean {
  return /\.tsx?$/.test(path) && !/\.d\.ts$|[\\/](node_modules|dist)[\\/]/.test(path);
}

/** The functions of a source, in its order, with the number of their lines. */
function functionsIn(text: string): readonly { readonly name: string; readonly lines: number }[] {
  const tree = treeOf(text);
  if (!tree) throw new Error(`not TypeScript: ${text.slice(0, 200)}`);
  const names = new Map<unknown, string>();
  return [...nodesIn(tree.program)].flatMap((node) => {
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier')
      names.set(node.init, node.id.name);
    if (!/Function|Method$/.test(node.type) || !('body' in node)) return [];
    const own = ('id' in node && node.id) || ('key' in node ? node.key : undefined);
    const named = own?.type === 'PrivateName' ? own.id : own;
    const name = named?.type === 'Identifier' ? named.name : (names.get(node) ?? '');
    return [{ name, lines: text.slice(node.start, node.end).split('\n').length }];
  });
}

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
