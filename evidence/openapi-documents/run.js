import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../../scripts/load.js';

// Writes the table of docs/evidence/openapi.md. The bundle is kept, because each document is read in a process that runs it again.
const file = join(import.meta.dirname, '../../node_modules/.cache/openapi-documents.mjs');
await bundle('evidence/openapi-documents/main.ts', file);
await import(pathToFileURL(file).href);
