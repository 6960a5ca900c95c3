import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll } from 'vitest';
import type { FileSet } from '../../src/plan/planned-file.ts';
import { withManifest } from '../../src/project/manifest/manifest.ts';

const made: string[] = [];
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/** An empty directory, which is removed after the tests of the file. */
export function directory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'market-mcp-unit-')));
  made.push(path);
  return path;
}

/** Relative path → text of every file, dot files too. */
export function tree(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  const entries = files
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => [relative(path, file), readFileSync(file, 'utf8')]);
  return Object.fromEntries(entries);
}

/** A file set of texts with its manifest. */
export function fileSet(texts: Record<string, string>): FileSet {
  const files: FileSet = new Map(
    Object.entries(texts).map(([path, text]) => [path, { content: Buffer.from(text), owner: 'yours' }]),
  );
  return withManifest(files, {
    platform: 'generic',
    answers: { name: 'x', packageManager: 'npm', profile: 'generic', tools: ['a'] },
  });
}
