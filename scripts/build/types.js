import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { execa } from 'execa';

/**
 * Writes the declarations of a package, without a check of its types: those of its entries, and those that they import.
 *
 * @param {string} place directory of the package, whose root of sources is `src`
 * @param {string} to directory of the declarations in the package
 * @param {readonly string[]} entries paths below `src`, without extension
 */
export async function writeTypes(place, to, entries) {
  const out = join(place, 'node_modules/.cache/types');
  const options = [
    '--declaration',
    '--emitDeclarationOnly',
    '--noCheck', // npm run typecheck does
    '--singleThreaded',
    '--rootDir',
    join(place, 'src'),
    '--outDir',
    out,
  ];
  await execa(process.execPath, ['node_modules/typescript/bin/tsc', '-p', place, ...options], {
    stdio: 'inherit',
  });
  copyTypes(
    out,
    join(place, to),
    entries.map((entry) => `${entry}.d.ts`),
  );
}

/** Copies declarations and those that they import, and removes the directory `from`, which has all. */
function copyTypes(from, to, entries) {
  const found = new Set(entries);
  for (const path of found) {
    const text = readFileSync(join(from, path), 'utf8');
    for (const [, name = ''] of text.matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.[tj]s['"]/g)) {
      found.add(normalize(join(dirname(path), `${name}.d.ts`)));
    }
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), text.replaceAll(/(['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2'));
  }
  rmSync(from, { recursive: true });
}
