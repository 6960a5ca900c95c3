import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { measure } from '../lib/measure.js';
import { binOf, specOf, titleOf } from '../lib/peers.js';
import { freshPath } from '../lib/places.js';
import { pack, plainEnvironment, product, sizeOf } from '../lib/product.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { interleaved, pairedRatio } from '../lib/statistics.js';

/** @import { Part } from '../lib/section.js' */

const ours = 'create-market-mcp';
const vite = 'create-vite';

/** @type {Part} */
export const coldNpx = {
  name: 'cold-npx',
  async run({ quick }) {
    const viteDirectory = dirname(binOf(vite));
    const { title, tarball, directory } = product();
    const packages = new Map([
      [title, { program: ours, tarball, directory }],
      [titleOf(vite), { program: vite, tarball: pack(specOf(vite)), directory: viteDirectory }],
    ]);
    const times = await interleaved(
      quick ? 2 : 9,
      new Map([...packages].map(([name, { program, tarball }]) => [name, () => runCold(tarball, program)])),
    );
    const ratio = pairedRatio(times.get(title) ?? [], times.get(titleOf(vite)) ?? []);
    return {
      title: 'Cold npx',
      text: '`npx --package <tarball> <program> --help` with an empty npm cache. Both packages depend on nothing, so no registry is asked.',
      tables: [
        {
          head: ['package', 'ms', 'files', 'kB unpacked', 'kB packed'],
          rows: [...packages].map(([name, { tarball, directory }]) => {
            const { files, bytes } = sizeOf(directory);
            return [
              name,
              withSpread(times.get(name) ?? []),
              figure(files),
              figure(bytes / 1000),
              figure(statSync(tarball).size / 1000),
            ];
          }),
        },
      ],
      reaches: [atMost('cold npx against create-vite', ratio, 1.5)],
      notes: [],
    };
  },
};

/**
 * @param {string} tarball
 * @param {string} program of the package
 */
function runCold(tarball, program) {
  const cwd = freshPath('npx');
  mkdirSync(cwd);
  const env = {
    ...plainEnvironment,
    npm_config_cache: join(cwd, 'cache'),
    npm_config_update_notifier: 'false',
  };
  return measure('npx', ['--yes', '--package', tarball, program, '--help'], { cwd, env }).ms;
}
