import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commonFilesOf } from '../../../src/changes/upgrade/common-files.ts';
import { planUpgrade } from '../../../src/changes/upgrade/plan-upgrade.ts';
import { toolFile } from '../../../src/model/names.ts';
import { manifestContent, manifestFile, readManifest } from '../../../src/project/manifest/manifest.ts';
import { readRelease } from '../../../src/project/package/releases.ts';
import { sha256 } from '../../../src/project/read/file-text.ts';
import { targetNames } from '../../../src/questions/targets.ts';
import { created } from '../../project/created.ts';

/** A project with every deployment target, as version 0.4.0 wrote it. */
async function projectOf040(): Promise<string> {
  const root = await created({ deploy: targetNames });
  const manifest = readManifest(root);
  const release = readRelease('0.4.0') ?? expect.fail('there is no archive of 0.4.0');
  const { base } = commonFilesOf(manifest, manifest.answers.tools.map(toolFile), release);
  for (const [path, { content }] of base) writeFileSync(join(root, path), content);
  const hashes = [...base].map(([path, { content, owner }]) => [path, { owner, sha256: sha256(content) }]);
  const files = { ...manifest.files, ...Object.fromEntries(hashes) };
  writeFileSync(join(root, manifestFile), manifestContent({ ...manifest, template: '0.4.0', files }).content);
  return root;
}

const replaced = ['Caddyfile', 'compose.yaml', 'fly.toml', 'railway.json', 'render.yaml'];

it('replaces the files of 0.4.0 that became templates, with the longer times', async () => {
  const root = await projectOf040();
  expect(readFileSync(join(root, 'compose.yaml'), 'utf8')).toContain('stop_grace_period: 15s');
  const { files, change } = await planUpgrade(root);
  for (const path of replaced) expect(files).toContainEqual({ path, kind: 'replaced' });
  const textOf = (path: string) => Buffer.from(change?.files.get(path)?.content ?? '').toString();
  expect(textOf('compose.yaml')).toContain('SHUTDOWN_GRACE_MS: 63000\n');
  expect(textOf('compose.yaml')).toContain('stop_grace_period: 68s\n');
  expect(textOf('Caddyfile')).toContain('lb_try_duration 68s\n');
  expect(textOf('fly.toml')).toContain('kill_timeout = 68\n');
  expect(textOf('railway.json')).toContain('"drainingSeconds": 68,\n');
});

it('merges them with the edits of their author', async () => {
  const root = await projectOf040();
  const edits = [
    ['compose.yaml', '    build: .\n', '    build: ./server\n'],
    ['fly.toml', 'soft_limit = 500', 'soft_limit = 50'],
    ['railway.json', '"dockerfilePath": "Dockerfile"', '"dockerfilePath": "server/Dockerfile"'],
  ] as const;
  for (const [path, before, after] of edits) {
    const text = readFileSync(join(root, path), 'utf8');
    expect(text).toContain(before);
    writeFileSync(join(root, path), text.replace(before, after));
  }
  const { files, change } = await planUpgrade(root);
  for (const [path, , after] of edits) {
    expect(files).toContainEqual({ path, kind: 'merged' });
    const text = Buffer.from(change?.files.get(path)?.content ?? '').toString();
    expect(text).toContain(after);
    expect(text).toMatch(/\b68s?\b/);
  }
});
