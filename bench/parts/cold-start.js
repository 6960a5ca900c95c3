import { meanCpuMs, measure } from '../lib/measure.js';
import { binOf, titleOf } from '../lib/peers.js';
import { plainEnvironment, product } from '../lib/product.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { interleaved, pairedRatio } from '../lib/statistics.js';

/** @import { Part } from '../lib/section.js' */

const bare = 'node -e 0';
const bound = 2;

/**
 * The cheapest command of each peer: `--version`, or `--help` if it has no version.
 *
 * @type {readonly (readonly [string, string])[]}
 */
const peers = [
  ['create-vite', '--help'],
  ['create-hono', '--version'],
  ['sv', '--version'],
  ['create-t3-app', '--version'],
  ['mcp-framework', '--version'],
  ['@modelcontextprotocol/create-server', '--help'],
  ['create-xmcp-app', '--version'],
];

/** @type {Part} */
export const coldStart = {
  name: 'cold-start',
  async run({ quick }) {
    const { create, market } = product();
    const ours = new Map([
      ['create-market-mcp --version', [create, '--version']],
      ['create-market-mcp --help', [create, '--help']],
      ['market-mcp --help', [market, '--help']],
    ]);
    /** @type {Map<string, readonly string[]>} */
    const commands = new Map([[bare, ['-e', '0']], ...ours]);
    for (const [name, flag] of peers) commands.set(`${titleOf(name)} ${flag}`, [binOf(name), flag]);
    const costs = await interleaved(
      quick ? 2 : 15,
      new Map(
        [...commands].map(([name, args]) => [
          name,
          () => measure(process.execPath, args, { env: plainEnvironment }),
        ]),
      ),
    );
    const times = new Map([...costs].map(([name, runs]) => [name, runs.map(({ ms }) => ms)]));
    const limit = times.get(bare) ?? [];
    return {
      title: 'Cold start',
      text: 'Each program asked for as little as it can do, run by `node` itself and not through a shell.',
      tables: [
        {
          head: ['command', 'ms', '× bare node', 'CPU ms', '× by CPU'],
          rows: [...costs].map(([name, runs]) => [
            `\`${name}\``,
            withSpread(runs.map(({ ms }) => ms)),
            withSpread(pairedRatio(times.get(name) ?? [], limit)),
            figure(meanCpuMs(runs)),
            figure(meanCpuMs(runs) / meanCpuMs(costs.get(bare) ?? [])),
          ]),
        },
      ],
      reaches: [...ours.keys()].map((name) =>
        atMost(`\`${name}\` against bare node`, pairedRatio(times.get(name) ?? [], limit), bound),
      ),
      notes: [],
    };
  },
};
