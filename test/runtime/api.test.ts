import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { variables } from '../../packages/runtime/src/variables.ts';

const runtime = join(import.meta.dirname, '../../packages/runtime');
const readme = readFileSync(join(runtime, 'README.md'), 'utf8');
const { exports } = JSON.parse(readFileSync(join(runtime, 'package.json'), 'utf8'));
/** Without the module of `serve` on workerd, which has the same declarations. */
const entries = Object.values<string | { readonly default: string }>(exports)
  .map((path) => (typeof path === 'string' ? path : path.default))
  .filter((path) => path.endsWith('.js'));

/** The declarations of an entry point and of all modules that it names, without comments. */
function declarationsFrom(path: string, seen: Map<string, string>): void {
  if (seen.has(path)) return;
  const text = readFileSync(join(runtime, path), 'utf8').replaceAll(
    /^ *\/\*\*[\s\S]*?\*\/\n|^\/\/# sourceMappingURL.*\n?/gm,
    '',
  );
  seen.set(path, text);
  for (const [, module = ''] of text.matchAll(/from '(\.[^']+)\.js'/g)) {
    declarationsFrom(join(path, '..', `${module}.d.ts`), seen);
  }
}

function nameIn(declaration: string): string {
  return (
    /^(?:export )?(?:declare )?(?:\w+ )?(?:interface|type|class|const|function) (\w+)/.exec(
      declaration,
    )?.[1] ?? ''
  );
}

test('the type declarations of the package change only on purpose', async () => {
  expect(existsSync(join(runtime, 'dist')), 'run npm run build').toBe(true);
  const seen = new Map<string, string>();
  for (const entry of entries) declarationsFrom(entry.replace(/\.js$/, '.d.ts'), seen);
  const all = [...seen]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, text]) =>
      text.split(/^(?=export|declare|import|interface|type|class)/m).map((text) => ({ path, text })),
    );
  const isEntry = (path: string) => path.startsWith('./');
  const open = all.filter(({ path, text }) => isEntry(path) && !text.startsWith('import'));
  // What the entries declare or pass on, and what that names.
  const reached = new Set(open);
  for (let one = open.pop(); one; one = open.pop()) {
    const names = new Set(one.text.match(/\b\w+\b(?!\??:)/g));
    for (const other of all) {
      if (!names.has(nameIn(other.text)) || reached.has(other)) continue;
      reached.add(other);
      open.push(other);
    }
  }
  // An entry as it is; of what it names, a digest that changes with it.
  const shown = all
    .filter((one) => reached.has(one))
    .map(({ path, text }) => {
      if (isEntry(path)) return `${path}: ${text.trimEnd()}\n`;
      const digest = createHash('sha256').update(text.trimEnd()).digest('hex').slice(0, 12);
      return `${path}: ${nameIn(text)} ${digest}\n`;
    });
  await expect(shown.join('')).toMatchFileSnapshot('__snapshots__/declarations.snap');
});

/** The packages that a module loads, with the modules that it imports. */
function packagesOf(path: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = readFileSync(join(runtime, path), 'utf8');
  const imported = [
    ...text.matchAll(/(?:^|;)(?:import|export)\b(?:[\w\s{},*$]*from)?\s*"([^"]+)"|\bimport\("([^"]+)"\)/gm),
  ].map(([, name, later = '']) => name ?? later);
  return imported.flatMap((name) =>
    name.startsWith('.') ? packagesOf(join(path, '..', name), seen) : [name.split('/')[0] ?? name],
  );
}

test.each(entries)('%s loads no package that it does not contain, except for requests to an API', (entry) => {
  const packages = new Set(packagesOf(entry).filter((name) => !/^(?:node|cloudflare):/.test(name)));
  expect([...packages].toSorted()).toEqual(
    entry === './dist/source.js' ? ['ky', 'lru-cache', 'p-queue'] : [],
  );
});

test('the README lists every entry point and every option of serve', () => {
  for (const name of Object.keys(exports).filter((name) => !name.endsWith('.json'))) {
    expect(readme).toContain(`| \`market-mcp-runtime${name.slice(1)}\` |`);
  }
  const declared = readFileSync(join(runtime, 'dist/run-server.d.ts'), 'utf8');
  const [, options = ''] =
    /interface ServeOptions extends RouteOptions \{([\s\S]*?)\n\}/.exec(declared) ?? [];
  const routes = readFileSync(join(runtime, 'dist/server/author-routes.d.ts'), 'utf8');
  const [, further = ''] = /interface RouteOptions \{([\s\S]*?)\n\}/.exec(routes) ?? [];
  const names = [...(options + further).matchAll(/^ {4}readonly (\w+)\??:/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['tools', 'routes']));
  for (const name of names) expect(readme).toContain(`| \`${name}\` |`);
});

test('the README lists every variable', async () => {
  const rows = Object.entries(variables).map(
    ([name, { default: initial, text }]) =>
      `| \`${name}\` | ${initial === null ? '' : `\`${initial}\``} | ${text} |`,
  );
  const table = ['| variable | default | |', '| --- | --- | --- |', ...rows].join('\n');
  const [before] = readme.split('| variable |');
  await expect(`${before}${table}\n`).toMatchFileSnapshot(join(runtime, 'README.md'));
});
