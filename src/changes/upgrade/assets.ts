import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What has changed in each version. `build.js` puts the text in the place of this read. */
export const changelog = readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8');
