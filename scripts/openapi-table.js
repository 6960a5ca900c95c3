import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './load.js';

// Writes the table of docs/evidence/openapi.md. The bundle is kept, because each document is read in a process that runs it again.
const file = join(import.meta.dirname, '../node_modules/.cache/openapi-table.mjs');
await bundle('test/openapi-table/main.ts', file);
await import(pathToFileURL(file).href);
