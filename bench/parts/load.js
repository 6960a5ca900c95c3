import { calls, contest, extentOf } from '../lib/contest.js';
import { fieldOf, start } from '../lib/contestants.js';
import { canPin } from '../lib/machine.js';
import { grow } from '../lib/race.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { interleaved, spreadOf } from '../lib/statistics.js';

/** @import { Contestant, Field } from '../lib/contestants.js' */
/** @import { Scenario } from '../lib/race.js' */
/** @import { Part, Reach, Table } from '../lib/section.js' */

/** @type {Record<string, Scenario>} */
const scenarios = {
  ...calls,
  fresh: { title: 'tools/call, a fresh token each', method: 'tools/call', token: 'fresh' },
  list: { title: 'tools/list', method: 'tools/list', token: 'none' },
  initialize: { title: 'initialize', method: 'initialize', token: 'none' },
};

/** @type {Part} */
export const load = {
  name: 'load',
  async run({ quick }) {
    // Three rounds where no bar is set.
    const [extent, short] = [extentOf(quick), extentOf(quick, 3)];
    const field = await fieldOf(1);
    const { ours, reference, fastmcp, framework, bare } = field;
    const all = [ours, reference, fastmcp, framework];

    const cached = await contest(scenarios.cached, [...all, bare], field, extent);
    const open = await contest(scenarios.open, [...all, bare], field, short);
    const fresh = await contest(scenarios.fresh, all, field, short);
    const initialize = await contest(scenarios.initialize, all, field, extent);
    const lists = [];
    for (const tools of quick ? [1] : [1, 1_000]) {
      const wide = await fieldOf(tools);
      const rivals = [wide.ours, wide.reference, wide.fastmcp, wide.framework];
      lists.push(await contest(scenarios.list, rivals, wide, short, `tools/list, ${tools} tools`));
    }
    const memory = await weigh(field, quick ? 500 : 100_000);
    const starts = await timeStarts(all, quick ? 1 : 9);

    const races = [cached, fresh, open, ...lists, initialize];
    return {
      title: 'The generated server under load',
      text: [
        'autocannon in another process, 16 connections with a session each, a new JSON-RPC id every time. Every server',
        'has the same tools and gives the same answer, which is checked first.',
        canPin
          ? 'The server has one core to itself, the load another.'
          : 'Processes cannot be pinned to cores here, so server and load share them.',
        'CPU is what the server spent on one request; the ratio by CPU says most where other programs run, too.',
      ].join(' '),
      tables: [...races.map(({ table }) => table), memory.table, starts],
      reaches: [
        cached.faster('the reference', reference, 4),
        cached.faster('fastmcp', fastmcp, 10),
        open.faster('fastmcp', fastmcp, 8),
        cached.cheaper('bare node:http', bare, 0.5),
        open.cheaper('bare node:http', bare, 0.5),
        initialize.faster('the reference', reference, 8),
        ...memory.reaches,
        cached.slowest('the reference', reference),
      ],
      notes: races.flatMap(({ notes }) => notes),
    };
  },
};

/**
 * @param {Field} field
 * @param {number} amount of requests
 * @returns {Promise<{ table: Table, reaches: readonly Reach[] }>}
 */
async function weigh({ ours, reference, answer }, amount) {
  const rows = [];
  const reaches = [];
  for (const [scenario, bound] of /** @type {const} */ ([
    [scenarios.initialize, 12],
    [scenarios.cached, 10],
  ])) {
    if (!scenario) continue;
    for (const contestant of [ours, reference]) {
      // The reference stores each session, so it gets fewer requests.
      const asked = contestant === reference ? amount / 10 : amount;
      const { rssMb } = await grow(scenario, contestant, answer, asked);
      const growth = rssMb.after - rssMb.before;
      rows.push([
        `${contestant.title}: ${scenario.title}`,
        figure(asked),
        figure(rssMb.before),
        figure(rssMb.after),
        figure(growth),
      ]);
      if (contestant !== ours) continue;
      const what = `growth over ${figure(asked)} × ${scenario.title}`;
      reaches.push(atMost(what, spreadOf([growth]), bound, 'MB'));
    }
  }
  return {
    table: { head: ['resident memory', 'requests', 'MB warmed up', 'MB after', 'MB growth'], rows },
    reaches,
  };
}

/**
 * @param {readonly Contestant[]} contestants
 * @param {number} rounds
 * @returns {Promise<Table>}
 */
async function timeStarts(contestants, rounds) {
  const times = await interleaved(
    rounds,
    new Map(
      contestants.map((contestant) => [
        contestant.title,
        async () => {
          const { startMs, stop } = await start(contestant, true);
          await stop();
          return startMs;
        },
      ]),
    ),
  );
  return {
    head: ['start to first healthy answer', 'ms'],
    rows: [...times].map(([title, runs]) => [title, withSpread(runs)]),
  };
}
