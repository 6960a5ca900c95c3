import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commonFilesOf } from '../../../src/changes/upgrade/common-files.ts';
import { type Manifest, manifestFile } from '../../../src/project/manifest/manifest.ts';
import { sha256 } from '../../../src/project/read/hash.ts';
import { directory } from '../../project/directory.ts';

const fixtures = join(import.meta.dirname, '../../fixtures/tool-0.1.0');
const tools = {
  'src/tools/get-price.ts': readFileSync(join(fixtures, 'get-price.ts.txt'), 'utf8'),
  'test/tools/get-price.test.ts': readFileSync(join(fixtures, 'get-price.test.ts.txt'), 'utf8'),
};

/**
 * A project of version 0.1.0 with the tool `get_price`, from its archive and the files of the tool. `test/upgrade/` verifies
 * that the archive matches the program of that version.
 */
export function oldProject(profile: 'generic' | 'context' = 'generic'): string {
  const root = directory();
  const answers = { name: 'gas', packageManager: 'npm', profile, tools: ['get_price'] } as const;
  const asked: Manifest = { schema: 3, template: '0.1.0', platform: profile, answers, listed: {}, files: {} };
  const { base } = commonFilesOf(asked, ['get-price']);
  const texts = new Map([
    ...[...base].map(([path, { content }]) => [path, Buffer.from(content).toString()] as const),
    ...Object.entries(tools),
  ]);
  const files = [...texts].map(([path, text]) => [
    path,
    { sha256: sha256(text), owner: path === 'src/platform.ts' ? 'generated' : 'shared' },
  ]);
  const manifest = { ...asked, schema: 1, files: Object.fromEntries(files) };
  texts.set(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [path, text] of texts) put(root, path, text);
  return root;
}

export function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
