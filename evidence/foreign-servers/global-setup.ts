import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installOnce } from '../../test/e2e/install-once.ts';
import { installation } from './servers.ts';

/** Installs the packages that `package.json` names, without running their install scripts. */
export default async function setup(): Promise<void> {
  await installOnce(installation, readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'));
}
