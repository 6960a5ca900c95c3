import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The bundle inlines the texts of these files.
export const changelog = readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8');
export const renamedExports = readFileSync(
  join(import.meta.dirname, '../../../packages/runtime/renamed.json'),
  'utf8',
);
