import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { directoryAbove, loadEnvironment, readServerInfo } from '../../packages/runtime/src/process.ts';
import { directory } from '../project/directory.ts';

const own = JSON.stringify({ dependencies: { 'market-mcp-runtime': '1.0.0' } });

/** A directory with these files; returns its path. */
function tree(files: Record<string, string>): string {
  const root = directory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

describe('the directory of the project', () => {
  const files = {
    'package.json': '{"workspaces":["app"]}',
    'app/package.json': own,
    'app/dist/package.json': '{"type":"module"}',
    'app/dist/src/main.js': '',
    'app/node_modules/runner/package.json': '{}',
    'app/node_modules/runner/run.js': '',
    'global/node_modules/shop/package.json': own,
    'global/node_modules/shop/dist/main.js': '',
  };

  it.each([
    ['the program of the project', 'app/dist/src/main.js', '.', 'app'],
    ['a link to that program', 'start.js', '.', 'app'],
    ['a test runner in the project', 'app/node_modules/runner/run.js', 'app/dist', 'app'],
    ['no file, but code on the command line', undefined, 'app/dist', 'app'],
    ['a file that does not exist', 'app/none.js', '.', 'app'],
    [
      'an installed server, elsewhere',
      'global/node_modules/shop/dist/main.js',
      '.',
      'global/node_modules/shop',
    ],
    ['a test runner in the project, started elsewhere', 'app/node_modules/runner/run.js', '.', 'app'],
  ])('is found from %s', (_, started, workingDirectory, expected) => {
    const root = tree(files);
    symlinkSync(join(root, 'app/dist/src/main.js'), join(root, 'start.js'));
    expect(directoryAbove(started && join(root, started), join(root, workingDirectory))).toBe(
      join(root, expected),
    );
  });

  it('is the nearest with a package.json if none names the runtime', () => {
    const other = tree({ 'package.json': '{}', 'dist/main.js': '' });
    expect(directoryAbove(join(other, 'dist/main.js'), '/')).toBe(other);
    expect(directoryAbove(undefined, join(other, 'dist'))).toBe(other);
  });

  it('may have a package.json with a byte order mark', () => {
    const root = tree({ 'package.json': '\ufeff{"name": "gas", "version": "1.2.3"}' });
    expect(readServerInfo(root)).toEqual({ name: 'gas', version: '1.2.3' });
  });

  it('may be missing: nothing is loaded, and the identity of the server is asked for', () => {
    expect(directoryAbove(undefined, '/')).toBeNull();
    loadEnvironment(null);
    expect(() => readServerInfo(null)).toThrow(/^No package\.json in .* or above/);
  });
});
