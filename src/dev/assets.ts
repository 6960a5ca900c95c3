import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The module that a server in development loads first. The bundle inlines its text. */
export const observerSource = readFileSync(join(import.meta.dirname, 'observe.js'), 'utf8');
