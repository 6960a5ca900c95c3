import { compare } from './race.js';
import { atLeast, atMost, figure, withSpread } from './section.js';
import { pairedRatio, spreadOf } from './statistics.js';

/** @import { Contestant, Field } from './contestants.js' */
/** @import { LoadResult } from './load.js' */
/** @import { Scenario } from './race.js' */
/** @import { Table } from './section.js' */
/** @import { Spread } from './statistics.js' */

/**
 * The extent of a contest.
 *
 * @param {boolean} quick
 * @param {number} [rounds]
 */
export function extentOf(quick, rounds = 5) {
  return quick ? { rounds: 1, seconds: 1, warmUpSeconds: 1 } : { rounds, seconds: 2, warmUpSeconds: 3 };
}

/** @type {Record<'cached' | 'open', Scenario>} */
export const calls = {
  cached: { title: 'tools/call, one token', method: 'tools/call', token: 'one' },
  open: { title: 'tools/call, no auth', method: 'tools/call', token: 'none' },
};

/**
 * One scenario as a table, and the bars that can be checked with it.
 *
 * @param {Scenario | undefined} scenario
 * @param {readonly Contestant[]} contestants
 * @param {Field} field
 * @param {Parameters<typeof compare>[3]} extent
 * @param {string} [title]
 */
export async function contest(scenario, contestants, field, extent, title = scenario?.title ?? '') {
  if (!scenario) throw new Error('no such scenario');
  const { results, notes } = await compare(scenario, contestants, field.answer, extent);
  if (!results.has(field.ours.title)) throw new Error(notes.join('\n'));
  const of = (/** @type {Contestant} */ { title }, /** @type {keyof LoadResult & string} */ key) =>
    (results.get(title) ?? []).map((result) => Number(result[key]));
  const ratio = (/** @type {Contestant} */ other, /** @type {keyof LoadResult & string} */ key) =>
    pairedRatio(of(field.ours, key), of(other, key));
  return {
    notes,
    /** @type {Table} */
    table: {
      head: [title, 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms', 'core used', 'ours against it', 'by CPU'],
      rows: contestants
        .filter((contestant) => results.has(contestant.title))
        .map((contestant) => [
          contestant.title,
          withSpread(of(contestant, 'perSecond')),
          withSpread(of(contestant, 'serverCpuUs')),
          figure(spreadOf(of(contestant, 'p50')).median),
          withSpread(of(contestant, 'p99')),
          `${figure(spreadOf(of(contestant, 'serverBusy')).median * 100)} %`,
          `${withSpread(ratio(contestant, 'perSecond'))} ×`,
          `${withSpread(inverse(ratio(contestant, 'serverCpuUs')))} ×`,
        ]),
    },
    /** @param {string} name @param {Contestant} other @param {number} bound */
    faster: (name, other, bound) =>
      atLeast(`${title}: requests/s against ${name}`, ratio(other, 'perSecond'), bound),
    /** @param {string} name @param {Contestant} other @param {number} bound */
    cheaper: (name, other, bound) =>
      atLeast(`${title}: by CPU against ${name}`, inverse(ratio(other, 'serverCpuUs')), bound),
    /** @param {string} name @param {Contestant} other */
    slowest: (name, other) => atMost(`${title}: p99 against ${name}`, ratio(other, 'p99'), 1),
  };
}

/** The inverse of a cost: how many times as much is done with the same CPU time. @param {Spread} cost ours against theirs */
function inverse({ median, min, max }) {
  return { median: 1 / median, min: 1 / max, max: 1 / min };
}
