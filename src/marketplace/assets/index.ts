import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that the page loads. `build.js` puts their text in the place of this module. */
export const assets = {
  style: read('style.css'),
  script: read('client.js'),
};

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}
