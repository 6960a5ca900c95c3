import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './load.js';

// Makes the table of docs/openapi.md. The bundle is a file that stays: each document is read in a process that runs this again.
const file = join(import.meta.dirname, '../node_modules/.cache/openapi-table.mjs');
await bundle('test/openapi-table/main.ts', file);
await import(pathToFileURL(file).href);
