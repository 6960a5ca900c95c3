import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { measure } from '../lib/measure.js';
import { freshPath, repository } from '../lib/places.js';
import { plainEnvironment } from '../lib/product.js';
import { withSpread } from '../lib/section.js';

/** @import { Part } from '../lib/section.js' */

/** @type {Part} */
export const readme = {
  name: 'readme',
  run({ quick }) {
    const [, line = ''] = /^```sh\n(.*)\n/m.exec(readFileSync(join(repository, 'README.md'), 'utf8')) ?? [];
    runIn(line); // warms npm's cache
    const times = Array.from({ length: quick ? 1 : 5 }, () => runIn(line) / 1000);
    return {
      title: 'The first line of the README',
      text: `\`${line}\` in a clone of what is committed here, with a warm cache of npm.`,
      tables: [{ head: ['', 's'], rows: [['the first line of the README', withSpread(times)]] }],
      reaches: [],
      notes: [],
    };
  },
};

/** Milliseconds of a command line in a new clone. @param {string} line */
function runIn(line) {
  const cwd = freshPath('clone');
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${repository}`, cwd]);
  try {
    return measure('bash', ['-c', line], { cwd, env: plainEnvironment }).ms;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}
