import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The bundle inlines the texts of these files.
export const style = readFileSync(join(import.meta.dirname, 'assets/style.css'), 'utf8');
export const script = readFileSync(join(import.meta.dirname, 'assets/client.js'), 'utf8');
