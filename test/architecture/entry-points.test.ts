import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesOf, reached, root, sources, targetOf } from './reach.ts';

const packages = ['packages/contract/', 'packages/runtime/'];
const { exports } = JSON.parse(readFileSync(join(root, 'packages/contract/package.json'), 'utf8'));
const entries = Object.values<Record<string, string>>(exports).map((entry) =>
  join('packages/contract', entry['market-mcp-source'] ?? ''),
);
const runtime = JSON.parse(readFileSync(join(root, 'packages/runtime/package.json'), 'utf8'));
const entryPoints = [
  ...entries,
  ...Object.keys(runtime.exports).map((name) => `packages/runtime/src/${name.slice(2) || 'index'}.ts`),
];

describe('the entry points of the packages', () => {
  it('are the only imports of the program, the scripts and the benchmarks', () => {
    const outside = ['src', 'scripts', 'bench', 'templates', 'bin'].flatMap(filesIn);
    const past = outside.flatMap((from) =>
      importsOf(from)
        .filter((to) => packages.some((place) => to.startsWith(place)) && !entryPoints.includes(to))
        .map((to) => `${from} > ${to}`),
    );
    expect(past).toEqual([]);
    expect(outside.flatMap(importsOf).filter((to) => entries.includes(to)).length).toBeGreaterThan(300);
  });

  it('belong to packages that import neither the program nor each other', () => {
    const wrong = [...sources].flatMap(([from, { arrows }]) => {
      const own = packages.find((place) => from.startsWith(place));
      return own === undefined
        ? []
        : arrows.filter(({ to }) => !to.startsWith(own)).map(({ to }) => `${from} > ${to}`);
    });
    expect(wrong).toEqual([]);
  });

  it('export no name without an importer', () => {
    const importers = [...sources].filter(([from]) => from.startsWith('src/'));
    const arrows = importers.flatMap(([, source]) => source.arrows);
    const scripts = ['scripts', 'test']
      .flatMap(filesIn)
      .map((path) => readFileSync(join(root, path), 'utf8'));
    const unused = entries.filter(isPrivate).flatMap((entry) => {
      const own = arrows.filter(({ to }) => to === entry);
      if (own.some(({ names }) => names === 'all')) return []; // imported on demand, as a whole
      const used = new Set(own.flatMap(({ names }) => names));
      const names = [...(sources.get(entry)?.exports.keys() ?? [])];
      return names.filter((name) => !used.has(name) && !scripts.some((text) => isImported(name, text)));
    });
    expect(unused).toEqual([]);
  });

  it('export each name once, from the module that declares it', () => {
    const names = entries.flatMap((entry) => [...(sources.get(entry)?.exports ?? [])]);
    const places = new Map<string, Set<string>>();
    for (const [name, file] of names)
      places.set(`${file} ${name}`, (places.get(`${file} ${name}`) ?? new Set()).add(file));
    const twice = names
      .map(([name, file]) => `${file} ${name}`)
      .filter((key, i, all) => all.indexOf(key) !== i);
    expect(twice.filter((key) => !isPublic(key))).toEqual([]);
    expect(names.filter(([, file]) => entries.includes(file))).toEqual([]);
  });
});

/** Maximum lines of code that a command of each group reaches by its imports, as an entry module stands for its group. */
const lineLimits: Readonly<Record<string, readonly [module: string, lines: number]>> = {
  'a command that reads a project': ['src/cli/commands/doctor.ts', 11_000],
  'the list of the tools': ['src/cli/commands/list.ts', 10_000],
  'a command of the local platform': ['src/cli/commands/token.ts', 10_000],
  'a check of a URL': ['packages/contract/src/program/check.ts', 22_300],
  'a command that prints rules': ['packages/contract/src/program/explain.ts', 20_000],
};

it.each(Object.entries(lineLimits))('%s reaches at most its limit of lines', (_group, [module, limit]) => {
  const modules = reached([module]);
  expect(modules.size).toBeGreaterThan(10);
  expect(linesOf(modules)).toBeLessThanOrEqual(limit);
});

function isPrivate(entry: string): boolean {
  return !/src\/(platforms\/)?index\.ts$/.test(entry);
}

function isImported(name: string, text: string): boolean {
  return new RegExp(`\\b${name}\\b[^;]*from 'market-mcp-contract/`).test(text);
}

/** The published entry point exports types of the other entry points, too. */
function isPublic(key: string): boolean {
  return sources.get('packages/contract/src/index.ts')?.exports.has(key.split(' ')[1] ?? '') === true;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(tsx?|m?js)$/.test(path) && !path.includes('node_modules'))
    .map((path) => join(folder, path));
}

function importsOf(from: string): readonly string[] {
  const text = readFileSync(join(root, from), 'utf8');
  const specifiers = [...text.matchAll(/(?:\bfrom\s*|\bimport\(?\s*)'([^']+)'/g)];
  return specifiers.flatMap(([, specifier = '']) => targetOf(from, specifier) ?? []);
}
