import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** What one file imports from another: all of it, or the names that an entry of a package passes on. */
interface Arrow {
  readonly to: string;
  readonly names: readonly string[] | 'all';
}

interface Source {
  readonly lines: number;
  readonly arrows: readonly Arrow[];
  /** Of an entry: the file of each name that it exports. */
  readonly exports: ReadonlyMap<string, string>;
}

/** `import { a, type B as C } from 'x'`, `export { a } from 'x'`, `import('x')`, `from 'x'` of any other form. */
const statement =
  /\b(import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^']+)'|(?:\bfrom\s*|\bimport\(\s*|^import\s+)'([^']+)'/gm;

/** All modules of src and of the packages, by their path in the repository. */
export const sources: ReadonlyMap<string, Source> = new Map(
  ['src', 'packages/contract/src', 'packages/runtime/src']
    .flatMap(modulesIn)
    .map((path) => [path, read(path)]),
);

/**
 * The modules that some modules reach by their imports, types included: a reader follows them, too. An entry of a package is
 * followed by the imported names alone.
 *
 * @param without an arrow to leave out: `from > to`
 */
export function reached(starts: readonly string[], without = ''): ReadonlySet<string> {
  const found = new Set<string>();
  const open: Arrow[] = starts.map((to) => ({ to, names: 'all' }));
  for (let arrow = open.pop(); arrow; arrow = open.pop()) {
    const source = sources.get(arrow.to);
    if (!source) continue;
    if (source.exports.size > 0 && arrow.names !== 'all') {
      for (const name of arrow.names) {
        const to = source.exports.get(name);
        if (to === undefined) throw new Error(`${arrow.to} exports no ${name}`);
        open.push({ to, names: 'all' });
      }
      continue;
    }
    if (found.has(arrow.to)) continue;
    found.add(arrow.to);
    open.push(...source.arrows.filter(({ to }) => `${arrow.to} > ${to}` !== without));
  }
  return found;
}

/** The sum of their lines. */
export function linesOf(modules: Iterable<string>): number {
  return [...modules].reduce((sum, path) => sum + (sources.get(path)?.lines ?? 0), 0);
}

/** The file that an import names; undefined for a package of others. */
export function targetOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(from), specifier));
  const [, name = '', entry = ''] = /^market-mcp-(contract|runtime)(?:\/(.*))?$/.exec(specifier) ?? [];
  if (name === '') return undefined;
  return `packages/${name}/src/${name === 'runtime' ? `${entry || 'index'}.ts` : join(entry, 'index.ts')}`;
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const arrows: Arrow[] = [];
  const exports = new Map<string, string>();
  for (const [, verb, list = '', named, other] of text.matchAll(statement)) {
    const to = targetOf(path, named ?? other ?? '');
    if (to === undefined) continue;
    const outer = verb === 'export' ? / as (\w+)$/ : /^(?!)/;
    const names = list
      .split(',')
      .map((one) => one.trim().replace(/^type /, ''))
      .map((one) => outer.exec(one)?.[1] ?? one.replace(/ as .*/, ''))
      .filter((name) => name !== '');
    arrows.push({ to, names: named === undefined ? 'all' : names });
    if (verb === 'export' && path.endsWith('index.ts')) for (const name of names) exports.set(name, to);
  }
  return { lines: text.split('\n').length - 1, arrows, exports };
}

function modulesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path));
}
