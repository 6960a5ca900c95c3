import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// `build.js` puts the texts of the files in the place of these reads.
export const style = readFileSync(join(import.meta.dirname, 'assets/style.css'), 'utf8');
export const script = readFileSync(join(import.meta.dirname, 'assets/client.js'), 'utf8');
