import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { calls, extentOf } from '../lib/contest.js';
import { fieldOf } from '../lib/contestants.js';
import { earlierVersion } from '../lib/earlier-version.js';
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
    const servers = new Map(versions.map((version) => [version, serverOf(version, ours)]));
    const extent = extentOf(quick, 11);
    const { results, notes } = await compare(calls.cached, [ours, ...servers.values()], answer, extent);
    const of = (/** @type {Contestant} */ { title }, /** @type {keyof LoadResult & string} */ key) =>
      (results.get(title) ?? []).map((result) => Number(result[key]));
    const ratios = [...servers].map(([version, before]) => {
      if (!results.has(ours.title) || !results.has(before.title)) throw new Error(notes.join('\n'));
      const byClock = pairedRatio(of(ours, 'perSecond'), of(before, 'perSecond'));
      const byCpu = pairedRatio(of(before, 'serverCpuUs'), of(ours, 'serverCpuUs'));
      return { version, byClock, byCpu };
    });
    return {
      title: 'Calls since earlier versions',
      text: [
        'The generated server beside those of earlier versions, each with the same tool and answer, loaded in turn: autocannon in',
        'another process, 16 connections with a session each, one token. A ratio is that of two runs of one round, its figure the',
        `median of ${extent.rounds}.`,
        canPin
          ? 'The server has one core to itself, the load another.'
          : 'Processes cannot be pinned to cores here.',
      ].join(' '),
      tables: [
        {
          head: [calls.cached.title, 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms'],
          rows: [ours, ...servers.values()].map((contestant) => [
            contestant.title,
            withSpread(of(contestant, 'perSecond')),
            withSpread(of(contestant, 'serverCpuUs')),
            figure(spreadOf(of(contestant, 'p50')).median),
            withSpread(of(contestant, 'p99')),
          ]),
        },
        {
          head: ['against', 'requests/s', 'by CPU'],
          rows: ratios.map(({ version, byClock, byCpu }) => [
            version,
            `${withSpread(byClock)} ×`,
            `${withSpread(byCpu)} ×`,
          ]),
        },
      ],
      reaches: ratios.flatMap(({ version, byClock, byCpu }) => [
        atLeast(`tools/call against ${version}, requests/s`, byClock, bars[version]),
        atLeast(`tools/call against ${version}, by CPU`, byCpu, bars[version]),
      ]),
      notes,
    };
  },
};

/** @type {('0.1.0' | '0.2.0')[]} */
const versions = ['0.1.0', '0.2.0'];
const bars = { '0.1.0': 0.9, '0.2.0': 0.95 };

/**
 * The server that an earlier version generates for the same tool.
 *
 * @param {import('../lib/earlier-version.js').Version} version
 * @param {Contestant} ours provides the tool
 * @returns {Contestant}
 */
function serverOf(version, ours) {
  const checkout = earlierVersion(version);
  const spec = freshPath('spec');
  writeFileSync(spec, JSON.stringify(definitionsOf(1)));
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, args, { cwd: checkout, env: plainEnvironment, stdio: 'ignore' });
  run('bin/create-market-mcp.js', 'server', '--yes', '--no-install', '--no-git', '--spec', spec);
  const directory = join(checkout, 'server');
  // It uses the node_modules of the directory above, and contains its runtime. The tool has our sample answer; 0.1.0 has no title and no annotations.
  const tool = 'src/tools/get-price-1.ts';
  const source = readFileSync(resolve(ours.script, '../../..', tool), 'utf8');
  const hints = version === '0.1.0' ? /^ {2}(title|annotations): .*\n/gm : /$^/g;
  const adapted = source.replace("'market-mcp-runtime'", "'../server/define-tool.ts'").replaceAll(hints, '');
  writeFileSync(join(directory, tool), adapted);
  run(compiler(checkout), '-p', directory);
  return { ...ours, title: `generated server (${version})`, script: join(directory, 'dist/src/main.js') };
}
