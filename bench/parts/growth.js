import { referenceOf, start } from '../lib/contestants.js';
import { measure } from '../lib/measure.js';
import { logPlot } from '../lib/plot.js';
import {
  buildProject,
  plainEnvironment,
  product,
  scaffold,
  selfCheckArguments,
  specOf,
} from '../lib/product.js';
import { figure, withSpread } from '../lib/section.js';
import { growthExponent, interleaved, spreadOf } from '../lib/statistics.js';
import { signTokens } from '../lib/tokens.js';

/** @import { Part, Reach } from '../lib/section.js' */

const env = plainEnvironment;

/** An exponent of 1 is linear; the rest allows for errors of measurement. */
const linear = 1.1;

/** @type {Part} */
export const growth = {
  name: 'growth',
  async run({ quick }) {
    const sizes = quick ? [1, 10] : [1, 10, 100, 300];
    const rounds = quick ? 1 : 3;
    const checks = await measureChecks(sizes, rounds);
    const additions = await measureAdditions(sizes, rounds);
    const strangers = await measureForeignChecks(quick ? [1, 10] : [1, 10, 100, 1_000, 5_000], quick ? 1 : 2);
    const series = [
      {
        name: 'self-check, ms',
        points: checks.map(({ tools, ms }) => ({ x: tools, y: spreadOf(ms).median })),
      },
      {
        name: 'self-check, MB',
        points: checks.map(({ tools, mb }) => ({ x: tools, y: spreadOf(mb).median })),
      },
      {
        name: 'add-tool, ms',
        points: additions.map(({ tools, ms }) => ({ x: tools, y: spreadOf(ms).median })),
      },
      {
        name: 'check of a URL, ms',
        points: strangers.map(({ tools, ms }) => ({ x: tools, y: spreadOf(ms).median })),
      },
    ].filter(({ points }) => points.length > 0 && points.every(({ y }) => y > 0));
    const plot = logPlot({ title: 'Growth with the number of tools', x: 'tools', y: 'ms, MB', series });
    return {
      title: 'Growth',
      text: `Projects of ${sizes.join(', ')} tools; and \`market-mcp check\` with a token of the reference server, which nobody scaffolded, with ${figure(strangers.at(-1)?.tools ?? 0)} at most. The exponent is the slope of the best line through the logarithms: 1 is linear growth, 2 is quadratic.`,
      tables: [
        {
          head: ['tools', 'self-check ms', 'self-check peak MB', 'add-tool ms'],
          rows: checks.map(({ tools, ms, mb }, index) => [
            figure(tools),
            withSpread(ms),
            withSpread(mb),
            withSpread(additions[index]?.ms ?? []),
          ]),
        },
        {
          head: ['tools of a URL', 'check ms', 'check peak MB'],
          rows: strangers.map(({ tools, ms, mb }) => [figure(tools), withSpread(ms), withSpread(mb)]),
        },
      ],
      reaches: series.map(({ name, points }) => noWorseThanLinear(name, growthExponent(points))),
      notes: [],
      plot: { file: 'growth.svg', svg: plot, alt: 'Self-check time and memory by number of tools' },
    };
  },
};

/**
 * @param {string} name
 * @param {number} exponent
 * @returns {Reach}
 */
function noWorseThanLinear(name, exponent) {
  return {
    what: `growth of ${name} with the number of tools, exponent`,
    bound: 'at most 1 (linear)',
    figure: figure(exponent),
    reached: exponent <= linear,
  };
}

/**
 * @param {readonly number[]} sizes
 * @param {number} rounds
 */
async function measureChecks(sizes, rounds) {
  const projects = new Map(sizes.map((tools) => [String(tools), buildProject(['--spec', specOf(tools)])]));
  const costs = await interleaved(
    rounds,
    new Map(
      [...projects].map(([tools, cwd]) => [
        tools,
        () => measure(process.execPath, selfCheckArguments(), { cwd, env, memory: true }),
      ]),
    ),
  );
  return [...costs].map(([tools, runs]) => ({
    tools: Number(tools),
    ms: runs.map(({ ms }) => ms),
    mb: runs.map(({ peakMb }) => peakMb),
  }));
}

/**
 * @param {readonly number[]} sizes
 * @param {number} rounds
 */
async function measureAdditions(sizes, rounds) {
  const projects = new Map(sizes.map((tools) => [String(tools), scaffold(['--spec', specOf(tools)])]));
  const times = await interleaved(
    rounds,
    new Map(
      [...projects].map(([tools, cwd]) => [
        tools,
        (round) =>
          measure(process.execPath, [product().market, 'add-tool', `added_${round}`, '--yes', '--no-check'], {
            cwd,
            env,
          }).ms,
      ]),
    ),
  );
  return [...times].map(([tools, ms]) => ({ tools: Number(tools), ms }));
}

/**
 * @param {readonly number[]} sizes
 * @param {number} rounds
 */
async function measureForeignChecks(sizes, rounds) {
  const [token = ''] = await signTokens(1);
  const measured = [];
  for (const tools of sizes) {
    const server = await start(await referenceOf(tools), true);
    try {
      const args = [product().market, 'check', server.url, '--token', token, '--json'];
      const options = { env, memory: true, statuses: [0, 1] };
      const runs = Array.from({ length: rounds }, () => measure(process.execPath, args, options));
      measured.push({ tools, ms: runs.map(({ ms }) => ms), mb: runs.map(({ peakMb }) => peakMb) });
    } finally {
      await server.stop();
    }
  }
  return measured;
}
