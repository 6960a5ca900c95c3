import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The changelog. The bundle inlines its text. */
export const changelog = readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8');
