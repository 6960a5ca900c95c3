import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/**
 * Copies declarations and those that they import.
 *
 * @param {string} from directory with all declarations; removed afterwards
 * @param {string} to
 * @param {readonly string[]} entries paths in both
 */
export function copyTypes(from, to, entries) {
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
