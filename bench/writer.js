import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

// Writes the files in a JSON file (path → content) and does nothing else: the lower limit for any program
// that writes as many.

const [, , snapshot = ''] = process.argv;
/** @type {Record<string, string>} */
const files = JSON.parse(readFileSync(snapshot, 'utf8'));
for (const directory of new Set(Object.keys(files).map(dirname))) mkdirSync(directory, { recursive: true });
for (const [path, content] of Object.entries(files)) writeFileSync(path, content);
