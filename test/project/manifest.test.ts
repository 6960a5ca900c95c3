import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProject, type Manifest, manifestFile, readManifest } from '../../src/project/manifest.ts';
import { directory, fileSet } from './directory.ts';

describe('the manifest', () => {
  const set = fileSet({ 'package.json': '{}' });

  it('is the last file and lists all others', () => {
    expect([...set.keys()].at(-1)).toBe(manifestFile);
    const manifest: Manifest = JSON.parse(Buffer.from(set.get(manifestFile)?.content ?? []).toString());
    expect(manifest).toEqual({
      schema: 1,
      template: '0.1.0',
      platform: 'generic',
      answers: { name: 'x', packageManager: 'npm', profile: 'generic', tools: ['a'] },
      files: {
        'package.json': {
          sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
          owner: 'shared',
        },
      },
    });
  });

  it('is nothing where it is absent or cut off', () => {
    const root = directory();
    expect(readManifest(join(root, manifestFile))).toBeUndefined();
    writeFileSync(join(root, manifestFile), '{"schema":');
    expect(readManifest(join(root, manifestFile))).toBeUndefined();
  });
});

describe('the project around a directory', () => {
  it('is found from below', () => {
    const root = directory();
    writeFileSync(join(root, manifestFile), '{}');
    mkdirSync(join(root, 'src/tools'), { recursive: true });
    expect(findProject(join(root, 'src/tools'))).toBe(root);
  });

  it('is missed with a word on what to do', () => {
    expect(() => findProject(directory())).toThrow(`holds ${manifestFile}`);
  });
});
