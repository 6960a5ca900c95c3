import { calls, contest, extentOf } from '../lib/contest.js';
import { fieldOf } from '../lib/contestants.js';
import { grow } from '../lib/race.js';
import { atMost, figure } from '../lib/section.js';
import { spreadOf } from '../lib/statistics.js';

/** @import { Contestant } from '../lib/contestants.js' */
/** @import { Part } from '../lib/section.js' */

/** @type {Part} */
export const modern = {
  name: 'modern',
  async run({ quick }) {
    const field = await fieldOf(1);
    const { sdk2, fastmcp } = field;
    const bare = { ...field.bare, modern: true };
    /** @type {Contestant} */
    const ours = { ...field.ours, title: `${field.ours.title}, 2026-07-28`, modern: true };
    /** @type {Contestant} */
    const legacy = { ...field.ours, title: `${field.ours.title}, with sessions` };
    const all = [ours, legacy, sdk2, fastmcp, bare];
    const races = [];
    for (const scenario of [calls.cached, calls.open]) {
      races.push({ scenario, ...(await contest(scenario, all, { ...field, ours }, extentOf(quick))) });
    }
    const amount = quick ? 500 : 50_000;
    const rows = [];
    const growth = [];
    for (const contestant of [ours, legacy, sdk2]) {
      const { rssMb } = await grow(calls.cached, contestant, field.answer, amount);
      rows.push([contestant.title, figure(rssMb.before), figure(rssMb.after)]);
      if (contestant === ours) growth.push(rssMb.after - rssMb.before);
    }
    return {
      title: 'Both eras of MCP',
      text: [
        'The same calls at 2026-07-28, which has no sessions, and in sessions: the generated server in each era, the handler',
        'of version 2 of the SDK under Hono, and fastmcp. autocannon in another process, 16 connections, the token verified',
        'on each call.',
      ].join(' '),
      tables: [
        ...races.map(({ table }) => table),
        { head: [`resident memory over ${figure(amount)} calls`, 'MB warmed up', 'MB after'], rows },
      ],
      reaches: [
        ...races.map(({ faster }) => faster("SDK v2's handler", sdk2, 3)),
        ...races.map(({ faster, scenario }) =>
          faster('fastmcp', fastmcp, scenario === calls.cached ? 10 : 8),
        ),
        ...races.map(({ cheaper }) => cheaper('bare node:http', bare, 0.5)),
        ...races.map(({ faster }) => faster('the same server in sessions', legacy, 0.9)),
        atMost(`growth over ${figure(amount)} calls`, spreadOf(growth), 10, 'MB'),
      ],
      notes: races.flatMap(({ notes }) => notes),
    };
  },
};
