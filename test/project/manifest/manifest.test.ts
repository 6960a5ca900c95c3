import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { version } from '../../../src/plan/package-versions.ts';
import type { FileSet } from '../../../src/plan/planned-file.ts';
import {
  findProject,
  type Manifest,
  manifestFile,
  readManifest,
  withNextManifest,
} from '../../../src/project/manifest/manifest.ts';
import { directory, fileSet } from '../directory.ts';

describe('the manifest', () => {
  const set = fileSet({ 'package.json': '{}' });

  it('is the last file and lists all others', () => {
    expect([...set.keys()].at(-1)).toBe(manifestFile);
    const manifest: Manifest = JSON.parse(Buffer.from(set.get(manifestFile)?.content ?? []).toString());
    expect(manifest).toEqual({
      schema: 3,
      template: version,
      platform: 'generic',
      answers: { name: 'x', packageManager: 'npm', profile: 'generic', tools: ['a'] },
      files: {
        'package.json': {
          sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
          owner: 'yours',
        },
      },
    });
  });

  it('is read again after an editor changed its line ends', () => {
    const root = directory();
    const text = Buffer.from(set.get(manifestFile)?.content ?? []).toString();
    writeFileSync(join(root, manifestFile), `\ufeff${text.replaceAll('\n', '\r\n')}`);
    expect(readManifest(root)).toEqual(JSON.parse(text));
  });

  it.each([
    ['{"schema":', 'JSON'],
    ['{}', 'market-mcp.json.schema: expected a value'],
    [
      '{"schema":4,"template":"9","platform":"x","answers":{"name":"x","packageManager":"npm","profile":"x","tools":[]},"listed":{},"files":{}}',
      'schema: expected 3, found 4',
    ],
    ['[]', 'expected type object'],
  ])('%s is refused', (text, message) => {
    const root = directory();
    writeFileSync(join(root, manifestFile), text);
    expect(() => readManifest(root)).toThrow(message);
  });

  it('keeps the entries of files that a change does not concern', () => {
    const root = directory();
    for (const [path, { content }] of set) writeFileSync(join(root, path), content);
    const before = readManifest(root);
    const added: FileSet = new Map([['a.ts', { content: Buffer.from('a'), owner: 'yours' }]]);
    const next = withNextManifest(added, ['package.json'], { tools: ['a', 'b'] }, before);
    expect([...next.keys()]).toEqual(['a.ts', manifestFile]);
    const manifest: Manifest = JSON.parse(Buffer.from(next.get(manifestFile)?.content ?? []).toString());
    expect(Object.keys(manifest.files)).toEqual(['a.ts']);
    expect(manifest.answers).toEqual({ ...before.answers, tools: ['a', 'b'] });
  });
});

describe('findProject', () => {
  it('finds the project above a directory', () => {
    const root = directory();
    writeFileSync(join(root, manifestFile), '{}');
    mkdirSync(join(root, 'src/tools'), { recursive: true });
    expect(findProject(join(root, 'src/tools'))).toBe(root);
  });

  it('refuses a directory without a project, with the next step', () => {
    expect(() => findProject(directory())).toThrow(`there is no ${manifestFile} in`);
    expect(() => findProject('/nowhere/at/all')).toThrow('/nowhere/at/all does not exist');
  });

  it('ignores a project of another generator', () => {
    const root = directory();
    mkdirSync(join(root, 'src/tools'), { recursive: true });
    writeFileSync(join(root, 'package.json'), '{}');
    expect(() => findProject(join(root, 'src/tools'))).toThrow(
      `the project in ${root} was not created by this program`,
    );
  });
});
