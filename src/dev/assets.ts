import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The module that a server in development loads first. `build.js` puts its text in the place of this read. */
export const observerSource = readFileSync(join(import.meta.dirname, 'observe.js'), 'utf8');
