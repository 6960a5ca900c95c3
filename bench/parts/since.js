import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fieldOf } from '../lib/contestants.js';
import { canPin } from '../lib/machine.js';
import { freshPath, repository } from '../lib/places.js';
import { compiler, definitionsOf, plainEnvironment } from '../lib/product.js';
import { compare } from '../lib/race.js';
import { atLeast, figure, withSpread } from '../lib/section.js';
import { pairedRatio, spreadOf } from '../lib/statistics.js';

/** @import { Contestant } from '../lib/contestants.js' */
/** @import { LoadResult } from '../lib/load.js' */
/** @import { Scenario } from '../lib/race.js' */
/** @import { Part } from '../lib/section.js' */

/** The commit whose code was version 0.1.0. */
const commit = '3c73d767';

/** @type {Scenario} */
const calls = { title: 'tools/call, one token', method: 'tools/call', token: 'one' };

/** @type {Part} */
export const since = {
  name: 'since',
  async run({ quick }) {
    const { ours, answer } = await fieldOf(1);
    const before = firstVersion(ours);
    const extent = quick
      ? { rounds: 1, seconds: 1, warmUpSeconds: 1 }
      : { rounds: 15, seconds: 2, warmUpSeconds: 4 };
    const { results, notes } = await compare(calls, [ours, before], answer, extent);
    const of = (/** @type {Contestant} */ { title }, /** @type {keyof LoadResult & string} */ key) =>
      (results.get(title) ?? []).map((result) => Number(result[key]));
    if (!results.has(ours.title) || !results.has(before.title)) throw new Error(notes.join('\n'));
    const byClock = pairedRatio(of(ours, 'perSecond'), of(before, 'perSecond'));
    const byCpu = pairedRatio(of(before, 'serverCpuUs'), of(ours, 'serverCpuUs'));
    return {
      title: 'Calls since version 0.1.0',
      text: [
        'The generated server beside that of 0.1.0, each with the same tool and answer, loaded in turn: autocannon in another',
        'process, 16 connections with a session each, one token. A ratio is that of two neighbouring runs, its figure the',
        `median of ${extent.rounds}.`,
        canPin
          ? 'The server has one core to itself, the load another.'
          : 'Processes cannot be pinned to cores here.',
      ].join(' '),
      tables: [
        {
          head: [calls.title, 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms'],
          rows: [ours, before].map((contestant) => [
            contestant.title,
            withSpread(of(contestant, 'perSecond')),
            withSpread(of(contestant, 'serverCpuUs')),
            figure(spreadOf(of(contestant, 'p50')).median),
            withSpread(of(contestant, 'p99')),
          ]),
        },
        {
          head: ['against 0.1.0', ''],
          rows: [
            ['requests/s', `${withSpread(byClock)} ×`],
            ['by CPU', `${withSpread(byCpu)} ×`],
          ],
        },
      ],
      reaches: [
        atLeast('tools/call against 0.1.0, requests/s', byClock, 0.9),
        atLeast('tools/call against 0.1.0, by CPU', byCpu, 0.9),
      ],
      notes,
    };
  },
};

/**
 * The server that version 0.1.0 generates for the same tool, built from its commit with the dependencies of its lock file.
 *
 * @param {Contestant} ours whose tool it gets
 * @returns {Contestant}
 */
function firstVersion(ours) {
  const checkout = freshPath('first-version');
  mkdirSync(checkout);
  const archive = freshPath('archive');
  execFileSync('git', ['archive', '--output', archive, '--format', 'tar', commit], { cwd: repository });
  execFileSync('tar', ['-xf', archive, '-C', checkout]);
  const run = (/** @type {string} */ command, /** @type {string[]} */ args, cwd = checkout) =>
    execFileSync(command, args, { cwd, env: plainEnvironment, stdio: ['ignore', 'ignore', 'inherit'] });
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']);
  run(process.execPath, ['build.js']);
  const spec = join(checkout, 'bench.json');
  writeFileSync(spec, JSON.stringify(definitionsOf(1)));
  const create = ['bin/create-market-mcp.js', 'server', '--yes', '--no-install', '--no-git', '--spec', spec];
  run(process.execPath, create);
  const directory = join(checkout, 'server');
  // Its node_modules are those of the directory above. The tools differ in their sample answers.
  cpSync(
    resolve(ours.script, '../../../src/tools/get-price-1.ts'),
    join(directory, 'src/tools/get-price-1.ts'),
  );
  run(process.execPath, [compiler(checkout), '-p', directory]);
  return { ...ours, title: 'generated server (0.1.0)', script: join(directory, 'dist/src/main.js') };
}
