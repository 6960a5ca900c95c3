import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { calls, extentOf } from '../lib/contest.js';
import { fieldOf } from '../lib/contestants.js';
import { firstVersion } from '../lib/first-version.js';
import { canPin } from '../lib/machine.js';
import { freshPath } from '../lib/places.js';
import { compiler, definitionsOf, plainEnvironment } from '../lib/product.js';
import { compare } from '../lib/race.js';
import { atLeast, figure, withSpread } from '../lib/section.js';
import { pairedRatio, spreadOf } from '../lib/statistics.js';

/** @import { Contestant } from '../lib/contestants.js' */
/** @import { LoadResult } from '../lib/load.js' */
/** @import { Part } from '../lib/section.js' */

/** @type {Part} */
export const since = {
  name: 'since',
  async run({ quick }) {
    const { ours, answer } = await fieldOf(1);
    const before = firstServer(ours);
    const extent = extentOf(quick, 11);
    const { results, notes } = await compare(calls.cached, [ours, before], answer, extent);
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
          head: [calls.cached.title, 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms'],
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
 * The server that version 0.1.0 generates for the same tool.
 *
 * @param {Contestant} ours provides the tool
 * @returns {Contestant}
 */
function firstServer(ours) {
  const checkout = firstVersion();
  const spec = freshPath('spec');
  writeFileSync(spec, JSON.stringify(definitionsOf(1)));
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, args, { cwd: checkout, env: plainEnvironment, stdio: 'ignore' });
  run('bin/create-market-mcp.js', 'server', '--yes', '--no-install', '--no-git', '--spec', spec);
  const directory = join(checkout, 'server');
  // It uses the node_modules of the directory above. The tool has our sample answer, without title and annotations.
  const tool = 'src/tools/get-price-1.ts';
  const source = readFileSync(resolve(ours.script, '../../..', tool), 'utf8');
  writeFileSync(join(directory, tool), source.replaceAll(/^ {2}(title|annotations): .*\n/gm, ''));
  run(compiler(checkout), '-p', directory);
  return { ...ours, title: 'generated server (0.1.0)', script: join(directory, 'dist/src/main.js') };
}
